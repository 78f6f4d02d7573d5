"""The operator's port of a process: metrics, probes and queues over HTTP, without a key."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from http import HTTPStatus
from ipaddress import ip_address
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from foldline.telemetry.health import Health, Subject
from foldline.telemetry.metrics import Metrics

STOP_SECONDS = 2.0


def create_ops_app(subject: Subject) -> Starlette:
    """The ASGI application of the operator's port; `/queues` only for a subject with a backlog."""
    ops = _OpsRoutes(subject)
    routes = [Route("/metrics", ops.metrics), Route("/healthz", ops.live), Route("/readyz", ops.ready)]
    if subject.backlog is not None:
        routes += [Route("/queues", ops.queues), Route("/queues/{name}", ops.queue)]
    return Starlette(routes=routes, middleware=[Middleware(NoForeignNames)])


class NoForeignNames:
    """Middleware that answers 403 to browsers, unless they use an address or localhost.

    A page can have its own name resolve to this port, and then reads what is here. Programs may use any name. All
    browsers say which languages they want, over plain HTTP too, and no page can leave that out.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope) if scope["type"] == "http" else Headers()
        if "accept-language" not in headers or _is_address(headers.get("host", "")):
            await self._app(scope, receive, send)
        else:
            text = "browsers need an address or localhost here, not another name"
            await PlainTextResponse(text, HTTPStatus.FORBIDDEN)(scope, receive, send)


def _is_address(host: str) -> bool:
    try:
        name = urlsplit(f"//{host}").hostname or ""
        return name == "localhost" or bool(ip_address(name))
    except ValueError:
        return False


class _OpsRoutes:
    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._health = Health(subject)

    async def metrics(self, _request: Request) -> Response:
        return Response(await self._health.metrics_text(), media_type=Metrics.media_type)

    async def live(self, _request: Request) -> Response:
        if self._subject.is_alive():
            return JSONResponse({"status": "ok"})
        return JSONResponse({"status": "stuck"}, HTTPStatus.SERVICE_UNAVAILABLE)

    async def ready(self, _request: Request) -> Response:
        found = await self._health.readiness()
        return JSONResponse(found.shown, found.code)

    async def queues(self, _request: Request) -> Response:
        return JSONResponse(await self._shown_queues())

    async def queue(self, request: Request) -> Response:
        """One queue, for clients that cannot select a name with a dot."""
        found = await self._shown_queues()
        if request.path_params["name"] not in found:
            raise HTTPException(HTTPStatus.NOT_FOUND)
        return JSONResponse(found[request.path_params["name"]])

    async def _shown_queues(self) -> dict[str, Any]:
        found = await self._health.backlog()
        if found is None:
            # An autoscaler must not take an unknown backlog for an empty queue.
            raise HTTPException(HTTPStatus.SERVICE_UNAVAILABLE, "the database does not answer")
        return {name: asdict(queue) for name, queue in found.queues.items()}


@contextmanager
def serving_ops(subject: Subject, listener: socket.socket | None) -> Iterator[None]:
    """Serve the operator's port on a thread during the block; nothing if `listener` is None."""
    if listener is None:
        yield
        return
    # For few requests h11 is fast enough, and unlike httptools it has a bound for headers.
    config = uvicorn.Config(
        create_ops_app(subject), http="h11", log_config=None, access_log=False, timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    thread = Thread(target=server.run, kwargs={"sockets": [listener]}, name="foldline-port", daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join(STOP_SECONDS)
