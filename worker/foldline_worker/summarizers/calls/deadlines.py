"""Deadlines for whole calls: a socket's time-out starts again with every byte, so it does not bound a call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock, Thread
from time import monotonic
from typing import Final

POLL_SECONDS: Final = 0.25


class Deadlines:
    """Ends overdue calls, on one thread for all of them, which starts with the first."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._due_by_end: dict[Callable[[], None], float] = {}
        self._closing = Event()
        self._thread: Thread | None = None

    def close(self) -> None:
        """End the thread."""
        with self._lock:
            self._closing.set()
            thread, self._thread = self._thread, None
        if thread is not None:
            thread.join()

    @contextmanager
    def within(self, seconds: float, end: Callable[[], None]) -> Iterator[None]:
        """A block that calls `end` after `seconds`, or up to `POLL_SECONDS` later; it must not block or raise."""
        with self._lock:
            self._due_by_end[end] = monotonic() + seconds
            if self._thread is None and not self._closing.is_set():
                self._thread = Thread(target=self._run, name="foldline-deadlines", daemon=True)
                self._thread.start()
        try:
            yield
        finally:
            with self._lock:
                del self._due_by_end[end]

    def _run(self) -> None:
        while not self._closing.wait(POLL_SECONDS):
            now = monotonic()
            with self._lock:
                overdue = [end for end, due in self._due_by_end.items() if due <= now]
            for end in overdue:
                end()
