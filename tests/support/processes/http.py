"""The HTTP client of the tests and benchmarks, for services on loopback; it ignores the machine's proxy settings."""

from __future__ import annotations

import ssl
from typing import Any, Final

import httpx

TIMEOUT_SECONDS = 30.0
# It trusts nobody, and nothing here speaks TLS. Reading the usual authorities would take each client 30 ms.
_NO_TLS: Final = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def client(url: str | httpx.URL = "", *, timeout_seconds: float = TIMEOUT_SECONDS) -> httpx.Client:
    """A client that reads nothing from the environment; paths are below `url`."""
    return httpx.Client(base_url=url, timeout=timeout_seconds, verify=_NO_TLS, trust_env=False)


def get(url: str, **request: Any) -> httpx.Response:
    """The answer to one request on a connection of its own."""
    return _answer("GET", url, **request)


def post(url: str, **request: Any) -> httpx.Response:
    """The answer to one request on a connection of its own."""
    return _answer("POST", url, **request)


def _answer(method: str, url: str, *, timeout: float = TIMEOUT_SECONDS, **request: Any) -> httpx.Response:
    with client(timeout_seconds=timeout) as connected:
        return connected.request(method, url, **request)


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
