"""Whether a Redis or Valkey answers. Loaded only where one is the broker, as its client takes long to load."""

from __future__ import annotations

from typing import Final

from redis import Redis
from redis.exceptions import RedisError

TIMEOUT_SECONDS: Final = 0.5


def answers(url: str) -> bool:
    """Whether the server at `url` answers within `TIMEOUT_SECONDS`."""
    try:
        with Redis.from_url(url, socket_timeout=TIMEOUT_SECONDS, socket_connect_timeout=TIMEOUT_SECONDS) as client:
            client.ping()
    except (RedisError, ValueError):
        return False
    return True
