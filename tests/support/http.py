"""The HTTP client of the tests and benchmarks: it talks to services on loopback, whatever proxy the machine has set."""

from __future__ import annotations

import httpx

TIMEOUT_SECONDS = 30.0


def client(url: str | httpx.URL = "", *, timeout_seconds: float = TIMEOUT_SECONDS) -> httpx.Client:
    """A client that reads nothing from the environment; paths are below `url`."""
    return httpx.Client(base_url=url, timeout=timeout_seconds, trust_env=False)
