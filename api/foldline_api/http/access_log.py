"""Middleware around every request: counts it, traces it, and logs one line without content or keys."""

from __future__ import annotations

import logging
from http import HTTPStatus
from time import perf_counter
from typing import Final

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from foldline.telemetry.metrics import Signals
from foldline.telemetry.tracing import TRACEPARENT, Span

logger = logging.getLogger(__name__)

NO_ROUTE: Final = "none"
# Not a status of HTTP; servers log it for clients that disconnected.
CLIENT_GONE: Final = 499


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
            await self._call(scope, receive, send, span)

    async def _call(self, scope: Scope, receive: Receive, send: Send, span: Span) -> None:
        started = perf_counter()
        status = int(HTTPStatus.INTERNAL_SERVER_ERROR)

        async def note_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = int(message["status"])
            await send(message)

        try:
            await self._app(scope, receive, note_status)
        except ClientDisconnect:
            # The client left before its request was complete. That is not an error of the service.
            status = CLIENT_GONE
        finally:
            self._report(scope, status, perf_counter() - started, span)

    def _report(self, scope: Scope, status: int, seconds: float, span: Span) -> None:
        method, route = scope["method"], getattr(scope.get("route"), "path", NO_ROUTE)
        session_id = {key: str(value) for key, value in scope.get("path_params", {}).items() if key == "session_id"}
        self._metrics.answered(method, route, status, seconds)
        span.name(f"{method} {route}")
        span.note({"http.request.method": method, "http.route": route, "http.response.status_code": status})
        span.note({f"foldline.{key}": value for key, value in session_id.items()})
        level = logging.ERROR if status >= HTTPStatus.INTERNAL_SERVER_ERROR else logging.DEBUG
        if not logger.isEnabledFor(level):
            return
        fields = {"method": method, "route": route, "status": status, "milliseconds": round(seconds * 1000, 1)}
        logger.log(level, "request", extra={**fields, **session_id})
