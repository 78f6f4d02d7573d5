"""The HTTP client of the tests and benchmarks, for services on loopback; it ignores the machine's proxy settings."""

from __future__ import annotations

from typing import Any

import httpx

TIMEOUT_SECONDS = 30.0


def client(url: str | httpx.URL = "", *, timeout_seconds: float = TIMEOUT_SECONDS) -> httpx.Client:
    """A client that reads nothing from the environment; paths are below `url`."""
    return httpx.Client(base_url=url, timeout=timeout_seconds, trust_env=False)


def items_of(connected: httpx.Client, path: str) -> list[Any]:
    """The items of every page of a list."""
    items: list[Any] = []
    cursor: str | None = ""
    while cursor is not None:
        response = connected.get(path, params={"limit": 100, **({"cursor": cursor} if cursor else {})})
        assert response.is_success, response.text[:500]
        page = response.json()
        items += page["items"]
        cursor = page["next_cursor"]
    return items
