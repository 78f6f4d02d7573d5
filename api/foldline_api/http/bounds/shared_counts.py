"""Counts for all processes that share a broker, if that is Redis; in this process alone while it does not answer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from importlib import import_module
from math import ceil
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from foldline.log.storage.store import Stopwatch

if TYPE_CHECKING:
    from foldline_api.http.bounds.counters import LimitCounter

logger = logging.getLogger(__name__)
T = TypeVar("T")

# A broker that accepts connections and never answers holds up a request for no longer.
ANSWER_SECONDS: Final = 0.05
# After a failure the process counts alone for so long, then one request tries again.
ALONE_SECONDS: Final = 5.0
CONNECTIONS: Final = 16
# Each process lets such a part of a limit pass by a count of its own: who asks for little costs no round trip.
UNSHARED_PART: Final = 64


class Limit(NamedTuple):
    """At most so many, or so much, in so many seconds."""

    name: str
    most: int
    seconds: int


class SharedCounts:
    """The counts of one application. A `name` is counted for each limit apart; the caller closes it.

    The broker is waited for `answer_seconds`.
    """

    def __init__(self, broker_url: str, stopwatch: Stopwatch, answer_seconds: float = ANSWER_SECONDS) -> None:
        self._broker_url = broker_url
        self._stopwatch = stopwatch
        self._answer_seconds = answer_seconds
        self._counters: tuple[LimitCounter, LimitCounter | None] | None = None
        self._has_failed = False
        self._again_at = 0.0
        self._spent_until: dict[tuple[str, str], float] = {}

    def load(self) -> tuple[LimitCounter, LimitCounter | None]:
        """The counters of this process and of the broker, if that can count; loaded at the first call."""
        if self._counters is None:
            # A service without keys needs none of what this loads.
            counters = import_module("foldline_api.http.bounds.counters")
            is_redis = self._broker_url.startswith(("redis:", "rediss:"))
            shared = counters.at_redis(self._broker_url, self._answer_seconds) if is_redis else None
            self._counters = (counters.in_process(), shared)
        return self._counters

    async def take(self, rate: Limit, name: str) -> bool:
        """Count one of this rate, unless that is over it; whether it was counted."""
        if await self._is_unshared(rate, name, 1):
            return True
        return await self._counted(lambda counter: counter.take(rate, name))

    async def spend(self, budget: Limit, name: str, amount: int) -> None:
        """Count an amount of a budget, which began with its first one."""
        if await self._is_unshared(budget, name, amount):
            return
        seconds = await self._counted(lambda counter: counter.spend(budget, name, amount))
        if seconds:
            self._spent_until[budget.name, name] = self._stopwatch() + seconds

    def spent_seconds(self, budget: Limit, name: str) -> int:
        """0, or, if this process found the budget spent, the seconds until it begins anew.

        Counts nothing and asks nobody: a process that has not heard of it finds out by what it spends next.
        """
        key = (budget.name, name)
        seconds = ceil(self._spent_until.get(key, 0.0) - self._stopwatch())
        if seconds > 0:
            return seconds
        self._spent_until.pop(key, None)
        return 0

    async def _is_unshared(self, limit: Limit, name: str, amount: int) -> bool:
        """Whether this is within the part of a limit that the process does not share, and is counted there."""
        own, shared = self.load()
        part = limit.most // UNSHARED_PART
        if shared is None or not 0 < amount <= part:
            return False
        return await own.take(Limit(f"{limit.name}/unshared", part, limit.seconds), name, amount)

    async def _counted(self, count: Callable[[LimitCounter], Awaitable[T]]) -> T:
        (own, shared), now = self.load(), self._stopwatch()
        if shared is None or now < self._again_at:
            return await count(own)
        if self._has_failed:
            # The others do not wait for what becomes of this one.
            self._again_at = now + ALONE_SECONDS
        try:
            async with asyncio.timeout(self._answer_seconds):
                found = await count(shared)
        except (ConnectionError, TimeoutError) as error:
            self._note_failure(str(error) or "it is silent")
            return await count(own)
        self._has_failed, self._again_at = False, 0.0
        return found

    def _note_failure(self, reason: str) -> None:
        if not self._has_failed:
            # Once for all that wait at the same time.
            logger.warning("the broker does not count requests, so each process does: %s", reason)
        self._has_failed, self._again_at = True, self._stopwatch() + ALONE_SECONDS

    async def close(self) -> None:
        """Close the connections."""
        for counter in filter(None, self._counters or ()):
            await counter.close()
