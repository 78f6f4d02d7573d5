"""Counters in this process and in a Redis, by the library `limits`. Loaded only where callers have keys."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from math import ceil
from time import time
from typing import Any

from limits import RateLimitItem, RateLimitItemPerSecond
from limits.aio.storage import MemoryStorage, RedisStorage
from limits.aio.strategies import SlidingWindowCounterRateLimiter
from limits.errors import StorageError

from foldline_api.http.bounds.shared_counts import CONNECTIONS, Limit


class LimitCounter:
    """Counts in one storage. `pool` are the connections to it, which `close` closes.

    Raises:
        ConnectionError: from `take` and `spend`, if the storage cannot count.
    """

    def __init__(self, storage: MemoryStorage | RedisStorage, pool: Any = None) -> None:
        self._storage = storage
        self._rates = SlidingWindowCounterRateLimiter(storage)
        self._pool = pool

    async def take(self, limit: Limit, name: str, amount: int = 1) -> bool:
        """Count an amount, unless it goes above the limit; whether it was counted."""
        async with _translated():
            return await self._rates.hit(_item(limit), name, cost=amount)

    async def spend(self, limit: Limit, name: str, amount: int) -> int:
        """Count an amount; 0, or, if the limit is reached now, the seconds until the count begins anew."""
        item = _item(limit)
        key = item.key_for(name)
        async with _translated():
            if await self._storage.incr(key, item.get_expiry(), amount) < limit.most:
                return 0
            return max(1, ceil(await self._storage.get_expiry(key) - time()))

    async def close(self) -> None:
        """Close the connections, if there are any."""
        if self._pool is not None:
            await self._pool.disconnect()


@asynccontextmanager
async def _translated() -> AsyncIterator[None]:
    try:
        yield
    except StorageError as error:
        raise ConnectionError(str(error)) from error


def _item(limit: Limit) -> RateLimitItem:
    # Their own namespaces: limits of the same number would be one.
    return RateLimitItemPerSecond(limit.most, limit.seconds, limit.name)


def in_process() -> LimitCounter:
    """A counter of this process alone."""
    return LimitCounter(MemoryStorage())


def at_redis(url: str, answer_seconds: float) -> LimitCounter:
    """A counter in a Redis: a caller waits for a connection as long as for an answer, and nothing is tried twice."""
    # Its client takes long to load. The package comes first: another thread may be loading it, and would wait for its
    # modules while they wait for it, until one of the two gets half of it.
    _, client, retry, backoff = map(import_module, ("redis", "redis.asyncio", "redis.asyncio.retry", "redis.backoff"))
    pool = client.BlockingConnectionPool.from_url(
        url, max_connections=CONNECTIONS, timeout=answer_seconds, retry=retry.Retry(backoff.NoBackoff(), 0)
    )
    options = {"connection_pool": pool, "key_prefix": "foldline"}
    return LimitCounter(RedisStorage(url, wrap_exceptions=True, implementation="redispy", **options), pool)
