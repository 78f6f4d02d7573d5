"""What Prometheus can read: requests by route and status, how long they took, and jobs under way."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter
from typing import Final

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.process_collector import ProcessCollector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
METHODS: Final = frozenset({"DELETE", "GET", "PATCH", "POST"})


class Metrics:
    """The figures of one app."""

    media_type: Final = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._requests = Counter(
            "foldline_requests", "Requests answered.", ("method", "route", "status"), registry=self._registry
        )
        self._seconds = Histogram(
            "foldline_request_seconds",
            "Time until the last byte of the answer.",
            ("method", "route"),
            buckets=SECONDS,
            registry=self._registry,
        )
        self._jobs = Gauge("foldline_jobs", "Jobs under way.", ("state",), registry=self._registry)

    def count(self, scope: Scope, status: int, seconds: float) -> None:
        """Count a request."""
        route = getattr(scope.get("route"), "path", "none")
        # Clients may make up methods; figures are kept for those that routes have.
        method = scope["method"] if scope["method"] in METHODS else "other"
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(method, route).observe(seconds)

    def text(self, active_jobs: Mapping[str, int]) -> bytes:
        """All figures, in Prometheus's text format."""
        for state, number in active_jobs.items():
            self._jobs.labels(state).set(number)
        return generate_latest(self._registry)


class Counting:
    """Middleware that counts every request."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = perf_counter()
        status = 500

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noting)
        finally:
            self._metrics.count(scope, status, perf_counter() - started)
