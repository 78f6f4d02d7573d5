"""What the routes of one app share: settings, store, the watch over jobs, and the idempotency keys in flight."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock

from foldline.log.errors import IdempotencyInFlight
from foldline.log.storage.idempotency import Key
from foldline.log.storage.store import Store
from foldline.settings import Settings
from foldline_api.job_watch import Watch


@dataclass(slots=True)
class KeysInFlight:
    """The idempotency keys that requests of this process are being worked on for."""

    _keys: set[tuple[str, str, str]] = field(default_factory=set)
    _lock: Lock = field(default_factory=Lock)

    @property
    def held(self) -> int:
        """How many are held now."""
        return len(self._keys)

    @contextmanager
    def holding(self, key: Key) -> Iterator[None]:
        """Hold the key for the length of the block.

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
    """Shared by the routes of one app."""

    settings: Settings
    store: Store
    watch: Watch
    keys: KeysInFlight = field(default_factory=KeysInFlight)
