"""The views that were sent last, as JSON: while its version stands, a view is not made again."""

from __future__ import annotations

from threading import Lock
from typing import NamedTuple

from cachetools import LRUCache

from foldline.log.use_cases.views import ViewVersion


class SentView(NamedTuple):
    """Which view it is: a session's at a version, in a format."""

    version: ViewVersion
    format_name: str


class SentViews:
    """Bodies of views, of at most so many bytes together; what was not asked for longest goes first."""

    def __init__(self, most_bytes: int) -> None:
        self._bodies: LRUCache[SentView, bytes] = LRUCache(most_bytes, getsizeof=len)
        self._lock = Lock()

    def get(self, view: SentView) -> bytes | None:
        """The body of this view, None if it is not kept."""
        with self._lock:
            return self._bodies.get(view)

    def keep(self, view: SentView, body: bytes) -> None:
        """Keep a body, unless it has more bytes than there is room for."""
        with self._lock:
            if len(body) <= self._bodies.maxsize:
                self._bodies[view] = body
