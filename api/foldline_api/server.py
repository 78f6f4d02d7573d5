"""The server of the application: uvicorn, set up for small answers and for event streams."""

from __future__ import annotations

import socket
from importlib.util import find_spec
from typing import Final

import uvicorn
from fastapi import FastAPI

from foldline_api.service import AppState

HTTP: Final = "foldline_api.http.protocol:BoundedProtocol" if find_spec("httptools") else "h11"


class Server(uvicorn.Server):
    """A uvicorn server for an app of `create_app`; to finish what is under way, it takes at most so many seconds."""

    def __init__(self, app: FastAPI, stop_seconds: float) -> None:
        stop_seconds = max(1, int(stop_seconds))
        super().__init__(
            uvicorn.Config(app, http=HTTP, log_config=None, access_log=False, timeout_graceful_shutdown=stop_seconds)
        )
        self._service: AppState = app.state.service

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        # asyncio does this for its own sockets only. Without it, each answer waits 40 ms for an acknowledgement.
        for listener in sockets or ():
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await super().startup(sockets)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # Event streams end with their job, and uvicorn stops the application only after all connections are closed.
        self._service.watch.stop()
        await super().shutdown(sockets)
