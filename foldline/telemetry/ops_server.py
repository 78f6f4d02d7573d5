"""The operator's port of a process: figures and probes, for those who can reach it, without a key."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from http import HTTPStatus
from threading import Thread
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from foldline.telemetry.health import Health, Subject
from foldline.telemetry.metrics import Metrics

STOP_SECONDS = 2.0


def create_port(subject: Subject) -> Starlette:
    """The application behind the port."""
    port = _Port(subject)
    routes = [Route("/metrics", port.figures), Route("/healthz", port.live), Route("/readyz", port.ready)]
    if subject.backlog is not None:
        routes += [Route("/queues", port.queues), Route("/queues/{name}", port.queue)]
    return Starlette(routes=routes)


class _Port:
    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._vitals = Health(subject)

    async def figures(self, _request: Request) -> Response:
        return Response(await self._vitals.figures(), media_type=Metrics.media_type)

    async def live(self, _request: Request) -> Response:
        if self._subject.is_alive():
            return JSONResponse({"status": "ok"})
        return JSONResponse({"status": "stuck"}, HTTPStatus.SERVICE_UNAVAILABLE)

    async def ready(self, _request: Request) -> Response:
        found = await self._vitals.readiness()
        return JSONResponse(found.shown, found.code)

    async def queues(self, _request: Request) -> Response:
        return JSONResponse(await self._shown_queues())

    async def queue(self, request: Request) -> Response:
        """One queue by itself, for those who cannot look for a name with a dot in it."""
        found = await self._shown_queues()
        if request.path_params["name"] not in found:
            raise HTTPException(HTTPStatus.NOT_FOUND)
        return JSONResponse(found[request.path_params["name"]])

    async def _shown_queues(self) -> dict[str, Any]:
        found = await self._vitals.backlog()
        if found is None:
            # Whoever scales by this must not take silence for an empty queue.
            raise HTTPException(HTTPStatus.SERVICE_UNAVAILABLE, "the database does not answer")
        return {name: asdict(queue) for name, queue in found.queues.items()}


@contextmanager
def answering(subject: Subject, listener: socket.socket | None) -> Iterator[None]:
    """A block in which the port answers on a thread of its own; None is no port."""
    if listener is None:
        yield
        return
    server = uvicorn.Server(
        uvicorn.Config(create_port(subject), log_config=None, access_log=False, timeout_graceful_shutdown=1)
    )
    thread = Thread(target=server.run, kwargs={"sockets": [listener]}, name="foldline-port", daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join(STOP_SECONDS)
