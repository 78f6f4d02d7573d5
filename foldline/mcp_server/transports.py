"""The two ways to reach the server: the pipes of the process that started it, and HTTP on loopback."""

from __future__ import annotations

import signal
import socket
from typing import Any, Final

import anyio
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from foldline.client import Client
from foldline.mcp_server.server import create_server

LOOPBACK: Final = "127.0.0.1"
STOP_SECONDS: Final = 5


def serve_pipes(service: Client, session: str | None) -> None:
    """Serve on stdin and stdout until stdin ends."""
    # A thread that reads stdin cannot be stopped, so that Ctrl-C would wait for the next line.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    anyio.run(_serve_pipes, create_server(service, session))


async def _serve_pipes(server: Server[Any]) -> None:
    async with stdio_server() as (requests, answers):
        await server.run(requests, answers, server.create_initialization_options())


def serve_http(service: Client, session: str | None, listener: socket.socket) -> None:
    """Serve at `/mcp` of a socket on loopback until a signal says to stop.

    The SDK refuses requests whose `Host` or `Origin` is not loopback: a page in a browser that has its own name point
    here could send them.
    """
    app = create_server(service, session).streamable_http_app(host=LOOPBACK, stateless_http=True, json_response=True)
    config = uvicorn.Config(
        app, log_config=None, access_log=False, lifespan="on", timeout_graceful_shutdown=STOP_SECONDS
    )
    # uvicorn raises the signal that stopped it once more at its end, and the exit code would be that of a failure.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    uvicorn.Server(config).run(sockets=[listener])
