"""Whether a process's loop turns, and what is logged while the broker is away."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from time import monotonic
from typing import Final
from urllib.parse import urlsplit

from celery.beat import SchedulingError
from kombu.exceptions import OperationalError
from kombu.transport.virtual.base import W_NO_CONSUMERS
from redis.exceptions import RedisError

# A broker that does not answer holds a loop up for some time-outs; longer than this, and something else does.
LATE_SECONDS: Final = 60.0
TICK_SECONDS: Final = 5.0


class Ticks:
    """The ticks of a loop, which may be `pause_seconds` apart."""

    def __init__(self, pause_seconds: float = TICK_SECONDS) -> None:
        self._late_seconds = LATE_SECONDS + pause_seconds
        self._last = monotonic()

    def tick(self) -> None:
        """For the loop."""
        self._last = monotonic()

    @property
    def are_on_time(self) -> bool:
        """Whether there was one lately."""
        return monotonic() - self._last < self._late_seconds


logger = logging.getLogger(__name__)

# What others raise around the error that says it.
WRAPPERS: Final = (OperationalError, SchedulingError)
AWAY: Final = (OSError, RedisError, OperationalError)
# Who else speaks of it.
HEARD: Final = ("celery.beat", "celery.worker.consumer.consumer", "kombu.transport.virtual.base")


class Outage:
    """Whether the broker at `url` is away, for all threads that use it; the lines have no password in them."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._place = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
        self._is_on = False
        self._lock = Lock()

    @property
    def is_on(self) -> bool:
        """Whether it is away, as far as anybody noticed."""
        return self._is_on

    def begin(self, error: BaseException) -> None:
        """For who could not reach the broker."""
        if self._turns(is_on=True):
            logger.warning(
                "the broker at %s does not answer (%s); jobs wait in the database, and it is tried again until it is "
                "back. Check FOLDLINE_BROKER_URL if this goes on",
                self._place,
                type(_origin(error)).__name__,
            )

    def end(self) -> None:
        """For who could reach it; nothing is said unless it was away."""
        if self._turns(is_on=False):
            logger.info("the broker at %s is back", self._place)

    def _turns(self, *, is_on: bool) -> bool:
        with self._lock:
            was_on, self._is_on = self._is_on, is_on
        return was_on != is_on


@contextmanager
def told_once(outage: Outage) -> Iterator[None]:
    """A block in which Celery's lines about a broker that is away become those of `outage`."""
    rewriting = _Rewriting(outage)
    for name in HEARD:
        logging.getLogger(name).addFilter(rewriting)
    try:
        yield
    finally:
        for name in HEARD:
            logging.getLogger(name).removeFilter(rewriting)


class _Rewriting(logging.Filter):
    """Passes what is not about a broker that is away."""

    def __init__(self, outage: Outage) -> None:
        super().__init__()
        self._outage = outage

    def filter(self, record: logging.LogRecord) -> bool:
        arguments = record.args if isinstance(record.args, tuple) else ()
        for argument in arguments:
            if isinstance(argument, BaseException) and isinstance(_origin(argument), AWAY):
                self._outage.begin(argument)
                return False
        # Said of a message that comes while the worker stops. It was a notification at most, and goes back to its
        # queue.
        return record.msg != W_NO_CONSUMERS


def _origin(error: BaseException) -> BaseException:
    while isinstance(error, WRAPPERS) and (within := error.__cause__ or error.__context__):
        error = within
    return error
