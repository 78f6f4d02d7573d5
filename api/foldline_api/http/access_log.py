"""Middleware around every request: counts it, follows its trace, and logs what a line may say of it."""

from __future__ import annotations

import logging
from http import HTTPStatus
from time import perf_counter

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from foldline.telemetry.metrics import Signals
from foldline.telemetry.tracing import TRACEPARENT, Span

logger = logging.getLogger(__name__)

NO_ROUTE = "none"
# No status of HTTP; servers have long logged it for this.
CLIENT_GONE = 499


class AccessLog:
    """The outermost middleware."""

    def __init__(self, app: ASGIApp, signals: Signals) -> None:
        self._app = app
        self._metrics = signals.metrics
        self._tracing = signals.tracing

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        parent = Headers(scope=scope).get(TRACEPARENT)
        with self._tracing.span(scope["method"], place="server", parent=parent) as span:
            await self._counted(scope, receive, send, span)

    async def _counted(self, scope: Scope, receive: Receive, send: Send, span: Span) -> None:
        started = perf_counter()
        status = int(HTTPStatus.INTERNAL_SERVER_ERROR)

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noting)
        except ClientDisconnect:
            # In the middle of its request: there is nobody to answer, and nothing is wrong here.
            status = CLIENT_GONE
        finally:
            self._tell(scope, status, perf_counter() - started, span)

    def _tell(self, scope: Scope, status: int, seconds: float, span: Span) -> None:
        method, route = scope["method"], getattr(scope.get("route"), "path", NO_ROUTE)
        session_id = {key: str(value) for key, value in scope.get("path_params", {}).items() if key == "session_id"}
        self._metrics.answered(method, route, status, seconds)
        span.name(f"{method} {route}")
        span.note({"http.request.method": method, "http.route": route, "http.response.status_code": status})
        span.note({f"foldline.{key}": value for key, value in session_id.items()})
        level = logging.ERROR if status >= HTTPStatus.INTERNAL_SERVER_ERROR else logging.DEBUG
        told = {"method": method, "route": route, "status": status, "milliseconds": round(seconds * 1000, 1)}
        logger.log(level, "request", extra={**told, **session_id})
