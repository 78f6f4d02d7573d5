"""The state that the routes of one application share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock

from foldline.log.errors import IdempotencyInFlight
from foldline.log.storage.idempotency import Key
from foldline.log.storage.store import Store
from foldline.settings import Settings
from foldline_api.http.bounds.places import Places
from foldline_api.http.cursors import Cursors
from foldline_api.job_watch import Watch
from foldline_api.sent_views import SentViews


@dataclass(slots=True)
class KeysInFlight:
    """The idempotency keys of the requests that this process works on now."""

    _keys: set[tuple[str, str, str]] = field(default_factory=set)
    _lock: Lock = field(default_factory=Lock)

    @property
    def held(self) -> int:
        """The number of keys that are held now."""
        return len(self._keys)

    @contextmanager
    def holding(self, key: Key) -> Iterator[None]:
        """Hold the key during the block.

        Raises:
            IdempotencyInFlight: another request holds it.
        """
        name = (key.tenant, key.route, key.key)
        with self._lock:
            if name in self._keys:
                raise IdempotencyInFlight
            self._keys.add(name)
        try:
            yield
        finally:
            with self._lock:
                self._keys.discard(name)


@dataclass(frozen=True, slots=True)
class AppState:
    """The settings, the store, the watch over jobs, the views sent last, cursors, and the requests in flight."""

    settings: Settings
    store: Store
    watch: Watch
    views: SentViews
    cursors: Cursors
    places: Places
    keys: KeysInFlight = field(default_factory=KeysInFlight)
