"""How many summaries a process writes at the same time."""

from __future__ import annotations

from collections import Counter
from threading import Lock

from sessions.requests import BACKGROUND, INTERACTIVE


class Slots:
    """`number` slots; the last one is kept for what someone asked for, so that it need not wait for automatic jobs."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._limits = {INTERACTIVE: number, BACKGROUND: max(number - 1, 1)}
        self._taken: Counter[str] = Counter()
        self._lock = Lock()

    def take(self, queue: str) -> bool:
        """Whether a job of this queue may start; whoever gets True gives the slot back."""
        with self._lock:
            has_one = self._taken.total() < self._number and self._taken[queue] < self._limits[queue]
            self._taken[queue] += has_one
            return has_one

    def give_back(self, queue: str) -> None:
        """Ends what `take` began."""
        with self._lock:
            self._taken[queue] -= 1
