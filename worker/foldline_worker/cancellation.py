"""How work that has begun is told that nobody wants it any more, whatever it waits for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock


class Cancelled(Exception):
    """Nobody wants the result any more."""


class Cancellation:
    """Cancelled once and for all, from any thread; the work asks, or is woken."""

    def __init__(self) -> None:
        self._cancelled = Event()
        self._lock = Lock()
        self._ends: list[Callable[[], None]] = []

    @property
    def is_cancelled(self) -> bool:
        """Whether the work may stop."""
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Tells the work, and ends what it waits for."""
        with self._lock:
            self._cancelled.set()
            ends = list(self._ends)
        for end in ends:
            end()

    def check(self) -> None:
        """Goes on if the work is still wanted.

        Raises:
            Cancelled: it is not.
        """
        if self.is_cancelled:
            raise Cancelled

    def wait(self, seconds: float) -> None:
        """Waits for so long.

        Raises:
            Cancelled: the work was cancelled before or meanwhile.
        """
        if self._cancelled.wait(seconds):
            raise Cancelled

    @contextmanager
    def ending(self, end: Callable[[], None]) -> Iterator[None]:
        """A block in which `end` is called on cancelling, from the thread that cancels; it must not block or raise.

        Raises:
            Cancelled: the work was cancelled before.
        """
        with self._lock:
            self.check()
            self._ends.append(end)
        try:
            yield
        finally:
            with self._lock:
                self._ends.remove(end)
