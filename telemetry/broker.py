"""Asks the broker whether it is there, within a bounded time."""

from __future__ import annotations

from typing import Final

from redis import Redis
from redis.exceptions import RedisError

from sessions.settings import Settings

TIMEOUT_SECONDS: Final = 0.5


def broker_answers(settings: Settings) -> bool:
    """Whether the broker answers; one that lives inside this process does."""
    if settings.has_memory_broker:
        return True
    timeouts = {"socket_timeout": TIMEOUT_SECONDS, "socket_connect_timeout": TIMEOUT_SECONDS}
    try:
        with Redis.from_url(settings.broker_url, **timeouts) as client:
            client.ping()
    except (RedisError, ValueError):
        return False
    return True
