"""How many requests and tokens a minute a summarizer is sent, by all processes that share a broker."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from time import time
from typing import Final, TypeAlias

from limits import RateLimitItem, RateLimitItemPerMinute
from limits.errors import StorageError
from limits.storage import MemoryStorage, RedisStorage, Storage
from limits.strategies import SlidingWindowCounterRateLimiter

from foldline_worker.broker.transport import SOCKET_SECONDS, verified
from foldline_worker.cancellation import Cancellation

Costs: TypeAlias = Sequence[tuple[RateLimitItem, int]]

logger = logging.getLogger(__name__)

# Between two looks whether the rate allows the call: a minute's share comes free bit by bit.
LEAST_WAIT_SECONDS: Final = 0.05
MOST_WAIT_SECONDS: Final = 2.0


class Rates:
    """The rates of one summarizer, whose `name` keeps them apart; None means that there is no limit.

    They are counted where `broker_url` is if that is Redis, else, or while it does not answer, in this process.
    `are_of_tokens`: there is a limit of tokens.
    """

    def __init__(self, name: str, requests: int | None, tokens: int | None, broker_url: str = "") -> None:
        self._name = name
        # Their own namespaces: limits of the same number would be one.
        self._requests = RateLimitItemPerMinute(requests, namespace="requests") if requests else None
        self._tokens = RateLimitItemPerMinute(tokens, namespace="tokens") if tokens else None
        self.are_of_tokens = self._tokens is not None
        self._lock = Lock()
        storages = storages_at(broker_url) if requests or tokens else ()
        self._limiters = [SlidingWindowCounterRateLimiter(storage) for storage in storages]

    def wait(self, tokens: int, cancellation: Cancellation) -> None:
        """Wait until a call of so many tokens is within the rates. One larger than a minute's tokens takes a minute's.

        Raises:
            Cancelled: the work was cancelled meanwhile.
        """
        costs = [(item, cost) for item, cost in ((self._requests, 1), (self._tokens, tokens)) if item is not None]
        if costs:
            with self._turn(cancellation):
                while seconds := self._seconds(costs):
                    cancellation.wait(seconds)

    @contextmanager
    def _turn(self, cancellation: Cancellation) -> Iterator[None]:
        """A block for one call at a time: smaller calls do not overtake a large one that waits."""
        while not self._lock.acquire(timeout=LEAST_WAIT_SECONDS):
            cancellation.check()
        try:
            yield
        finally:
            self._lock.release()

    def _seconds(self, costs: Costs) -> float:
        """0 if the call may begin, and is counted; else how long to wait before the next look."""
        for limiter in self._limiters:
            try:
                return self._seconds_by(limiter, costs)
            except StorageError as error:
                logger.warning("rates of summarizer %s are counted in this process: %s", self._name, error)
        return 0

    def _seconds_by(self, limiter: SlidingWindowCounterRateLimiter, costs: Costs) -> float:
        bounded = [(item, min(cost, item.amount)) for item, cost in costs]
        missing = [item for item, cost in bounded if not limiter.test(item, self._name, cost=cost)]
        if not missing and all(limiter.hit(item, self._name, cost=cost) for item, cost in bounded):
            return 0
        resets = [limiter.get_window_stats(item, self._name).reset_time - time() for item in missing]
        return min(MOST_WAIT_SECONDS, max(LEAST_WAIT_SECONDS, *resets, 0))


def storages_at(broker_url: str, answer_seconds: float = SOCKET_SECONDS) -> Iterator[Storage]:
    """Where calls are counted: the broker if it can, and answers within this time, then this process."""
    if broker_url.startswith(("redis:", "rediss:")):
        yield RedisStorage(
            verified(broker_url),
            key_prefix="foldline",
            wrap_exceptions=True,
            socket_timeout=answer_seconds,
            socket_connect_timeout=answer_seconds,
        )
    yield MemoryStorage()


NO_RATES: Final = Rates("", None, None)
