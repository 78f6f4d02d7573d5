"""Asks the broker whether it is there, within a bounded time."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from redis import Redis
from redis.exceptions import RedisError

TIMEOUT_SECONDS: Final = 1.0


def broker_problem(url: str) -> str | None:
    """What is wrong with the broker; None if it answers, or lives inside this process."""
    if urlsplit(url).scheme == "memory":
        return None
    try:
        with Redis.from_url(url, socket_timeout=TIMEOUT_SECONDS, socket_connect_timeout=TIMEOUT_SECONDS) as client:
            client.ping()
    except (RedisError, ValueError):
        return "does not answer"
    return None
