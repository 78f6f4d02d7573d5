"""The server of the application: uvicorn, set up for small answers and for event streams."""

from __future__ import annotations

import socket

import uvicorn
from fastapi import FastAPI

from foldline_api.service import AppState


class Server(uvicorn.Server):
    """A uvicorn server for an app of `create_app`."""

    def __init__(self, app: FastAPI, config: uvicorn.Config) -> None:
        super().__init__(config)
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
