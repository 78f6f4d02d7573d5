"""The server of the application: uvicorn, set up for small answers and for event streams."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from importlib.util import find_spec
from threading import Thread
from typing import Final

import uvicorn
from fastapi import FastAPI

from foldline.engine.tokens.counter import exact_counter
from foldline_api.service import AppState

WARM_UP_SECONDS: Final = 1.0
HTTP: Final = "foldline_api.http.protocol:BoundedProtocol" if find_spec("httptools") else "h11"


class Server(uvicorn.Server):
    """A uvicorn server for an app of `create_app`; to finish what is under way, it takes at most so many seconds."""

    def __init__(self, app: FastAPI, stop_seconds: float, on_started: Callable[[], None] | None = None) -> None:
        stop_seconds = max(1, int(stop_seconds))
        super().__init__(
            uvicorn.Config(app, http=HTTP, log_config=None, access_log=False, timeout_graceful_shutdown=stop_seconds)
        )
        self._service: AppState = app.state.service
        self._on_started = on_started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        # asyncio does this for its own sockets only. Without it, each answer waits 40 ms for an acknowledgement.
        for listener in sockets or ():
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await super().startup(sockets)
        if self._on_started is not None:
            self._on_started()
        # The vocabulary takes half a second to load, and nothing else runs meanwhile: probes and requests that wait
        # already are answered first. A request that has to count before loads it by itself.
        warm_up = Thread(target=exact_counter, name="foldline-vocabulary", daemon=True)
        asyncio.get_running_loop().call_later(WARM_UP_SECONDS, warm_up.start)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # Event streams end with their job, and uvicorn stops the application only after all connections are closed.
        self._service.watch.stop()
        await super().shutdown(sockets)
