"""Cancellation of running work across threads: work checks for it, or is woken from a wait."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock


class Cancelled(Exception):
    """The work was cancelled, so its result is not wanted any more."""


class Cancellation:
    """A cancellation token. Any thread may cancel it, once; the work checks it, or is woken by it.

    `share` is how much of the work is done, 0 to 1, as far as the work reports it.
    """

    def __init__(self) -> None:
        self.share = 0.0
        self._cancelled = Event()
        self._lock = Lock()
        self._ends: list[Callable[[], None]] = []

    @property
    def is_cancelled(self) -> bool:
        """Whether the work was cancelled."""
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Cancel the work, and call the functions that end its waits."""
        with self._lock:
            self._cancelled.set()
            ends = list(self._ends)
        for end in ends:
            end()

    def check(self) -> None:
        """Raise if the work was cancelled.

        Raises:
            Cancelled: it was.
        """
        if self.is_cancelled:
            raise Cancelled

    def wait(self, seconds: float) -> None:
        """Wait for `seconds`.

        Raises:
            Cancelled: the work was cancelled before or meanwhile.
        """
        if self._cancelled.wait(seconds):
            raise Cancelled

    @contextmanager
    def ending(self, end: Callable[[], None]) -> Iterator[None]:
        """A block in which cancelling calls `end`, in the thread that cancels; `end` must not block or raise.

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
