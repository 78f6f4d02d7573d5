"""Counts for all processes that share a broker, if that is Redis; in this process alone while it does not answer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from importlib import import_module
from math import ceil
from time import time
from typing import Any, Final, TypeVar

from limits import RateLimitItem
from limits.aio.storage import MemoryStorage, RedisStorage
from limits.aio.strategies import SlidingWindowCounterRateLimiter
from limits.errors import StorageError

from foldline.log.storage.store import Stopwatch

logger = logging.getLogger(__name__)
T = TypeVar("T")

# A broker that accepts connections and never answers holds up a request for no longer.
ANSWER_SECONDS: Final = 0.05
# After a failure the process counts alone for so long, then one request tries again.
ALONE_SECONDS: Final = 5.0
CONNECTIONS: Final = 16
# Each process lets such a part of a limit pass by a count of its own: who asks for little costs no round trip.
UNSHARED_PART: Final = 64


class _Counter:
    """Counts in one storage."""

    def __init__(self, storage: MemoryStorage | RedisStorage) -> None:
        self._storage = storage
        self._rates = SlidingWindowCounterRateLimiter(storage)

    async def take(self, rate: RateLimitItem, name: str, amount: int = 1) -> bool:
        return await self._rates.hit(rate, name, cost=amount)

    async def spend(self, budget: RateLimitItem, name: str, amount: int) -> int:
        key = budget.key_for(name)
        spent = await self._storage.incr(key, budget.get_expiry(), amount)
        if spent - amount < budget.amount:
            return 0
        return max(1, ceil(await self._storage.get_expiry(key) - time()))


class SharedCounts:
    """The counts of one application. A `name` is counted for each limit apart; the caller closes it.

    The broker is waited for `answer_seconds`.
    """

    def __init__(self, broker_url: str, stopwatch: Stopwatch, answer_seconds: float = ANSWER_SECONDS) -> None:
        self._own = _Counter(MemoryStorage())
        self._answer_seconds = answer_seconds
        self._pool = _pool(broker_url, answer_seconds) if broker_url.startswith(("redis:", "rediss:")) else None
        self._shared = self._pool and _Counter(_storage(broker_url, self._pool))
        self._stopwatch = stopwatch
        self._has_failed = False
        self._again_at = 0.0

    async def take(self, rate: RateLimitItem, name: str) -> bool:
        """Count one of this rate, unless that is over it; whether it was counted."""
        if await self._is_unshared(rate, name, 1):
            return True
        return await self._counted(lambda counter: counter.take(rate, name))

    async def spend(self, budget: RateLimitItem, name: str, amount: int) -> int:
        """Count an amount of a budget, which began with its first one.

        0, or, if the budget was spent before, the seconds until it begins anew.
        """
        if await self._is_unshared(budget, name, amount):
            return 0
        return await self._counted(lambda counter: counter.spend(budget, name, amount))

    async def _is_unshared(self, limit: RateLimitItem, name: str, amount: int) -> bool:
        """Whether this is within the part of a limit that the process does not share, and is counted there."""
        part = limit.amount // UNSHARED_PART
        if self._shared is None or not 0 < amount <= part:
            return False
        unshared = type(limit)(part, limit.multiples, f"{limit.namespace}/unshared")
        return await self._own.take(unshared, name, amount)

    async def _counted(self, count: Callable[[_Counter], Awaitable[T]]) -> T:
        now = self._stopwatch()
        if self._shared is None or now < self._again_at:
            return await count(self._own)
        if self._has_failed:
            # The others do not wait for what becomes of this one.
            self._again_at = now + ALONE_SECONDS
        try:
            async with asyncio.timeout(self._answer_seconds):
                found = await count(self._shared)
        except (StorageError, TimeoutError) as error:
            self._has_failed, self._again_at = True, self._stopwatch() + ALONE_SECONDS
            logger.warning("the broker does not count requests, so this process does: %s", str(error) or "it is silent")
            return await count(self._own)
        self._has_failed, self._again_at = False, 0.0
        return found

    async def close(self) -> None:
        """Close the connections."""
        if self._pool is not None:
            await self._pool.disconnect()


def _pool(url: str, seconds: float) -> Any:
    """The connections to a Redis: a caller waits for one as long as for an answer, and nothing is tried twice."""
    # Loaded only where one is the broker, as its client takes long to load.
    client, retry, backoff = map(import_module, ("redis.asyncio", "redis.asyncio.retry", "redis.backoff"))
    return client.BlockingConnectionPool.from_url(
        url, max_connections=CONNECTIONS, timeout=seconds, retry=retry.Retry(backoff.NoBackoff(), 0)
    )


def _storage(url: str, pool: Any) -> RedisStorage:
    options = {"connection_pool": pool, "key_prefix": "foldline"}
    return RedisStorage(url, wrap_exceptions=True, implementation="redispy", **options)
