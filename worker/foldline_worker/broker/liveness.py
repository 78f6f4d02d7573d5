"""Liveness of a process's event loop, and one log line instead of many while the broker is away."""

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

# A broker that does not answer blocks a loop for some time-outs; a longer block has another cause.
LATE_SECONDS: Final = 60.0
TICK_SECONDS: Final = 5.0


class Ticks:
    """Records that an event loop runs. `pause_seconds` is the longest time between two ticks of a healthy loop."""

    def __init__(self, pause_seconds: float = TICK_SECONDS) -> None:
        self._late_seconds = LATE_SECONDS + pause_seconds
        self._last = monotonic()

    def tick(self) -> None:
        """Record that the loop runs; called by the loop."""
        self._last = monotonic()

    @property
    def are_on_time(self) -> bool:
        """Whether the last tick is recent."""
        return monotonic() - self._last < self._late_seconds


logger = logging.getLogger(__name__)

# Exceptions that wrap the one with the cause.
WRAPPERS: Final = (OperationalError, SchedulingError)
AWAY: Final = (OSError, OperationalError)
# Recognized by the module of their classes: where the broker is in this process, no client of Redis is loaded.
REDIS_ERRORS: Final = "redis.exceptions"
# Celery's loggers that log each failure to reach the broker.
BROKER_LOGGERS: Final = ("celery.beat", "celery.worker.consumer.consumer", "kombu.transport.virtual.base")


class Outage:
    """Whether the broker at `url` is away, shared by all threads; its log lines have no password."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._place = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
        self._is_on = False
        self._lock = Lock()

    @property
    def is_on(self) -> bool:
        """Whether the broker is away, as of the last try."""
        return self._is_on

    def begin(self, error: BaseException) -> None:
        """Record that the broker could not be reached; logged once per outage."""
        if self._change(is_on=True):
            logger.warning(
                "the broker at %s does not answer (%s); jobs wait in the database, and it is tried again until it is "
                "back. Check FOLDLINE_BROKER_URL if this goes on",
                self._place,
                type(_origin(error)).__name__,
            )

    def end(self) -> None:
        """Record that the broker was reached; logged at the end of an outage."""
        if self._change(is_on=False):
            logger.info("the broker at %s is back", self._place)

    def _change(self, *, is_on: bool) -> bool:
        with self._lock:
            was_on, self._is_on = self._is_on, is_on
        return was_on != is_on


@contextmanager
def logged_once(outage: Outage) -> Iterator[None]:
    """A block in which Celery's lines about an unreachable broker are replaced by those of `outage`."""
    outage_filter = _OutageFilter(outage)
    for name in BROKER_LOGGERS:
        logging.getLogger(name).addFilter(outage_filter)
    try:
        yield
    finally:
        for name in BROKER_LOGGERS:
            logging.getLogger(name).removeFilter(outage_filter)


class _OutageFilter(logging.Filter):
    """Drops log records about an unreachable broker, and reports them to the outage."""

    def __init__(self, outage: Outage) -> None:
        super().__init__()
        self._outage = outage

    def filter(self, record: logging.LogRecord) -> bool:
        arguments = record.args if isinstance(record.args, tuple) else ()
        for argument in arguments:
            if isinstance(argument, BaseException) and _is_away(_origin(argument)):
                self._outage.begin(argument)
                return False
        # Logged for a message that comes while the worker stops. It was a notification, and goes back to its queue.
        return record.msg != W_NO_CONSUMERS


def _is_away(error: BaseException) -> bool:
    return isinstance(error, AWAY) or any(kind.__module__ == REDIS_ERRORS for kind in type(error).__mro__)


def _origin(error: BaseException) -> BaseException:
    while isinstance(error, WRAPPERS) and (within := error.__cause__ or error.__context__):
        error = within
    return error
