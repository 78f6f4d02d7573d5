"""Serves an application of the benchmarks as ours is served, and does nothing else; it loads nothing of Foldline."""

from __future__ import annotations

import socket
import sys

import uvicorn
from starlette.types import ASGIApp


def serve(app: ASGIApp) -> None:
    """Serve on a free port of the loopback interface until stopped."""
    # If the protocol is not named, asyncio leaves Nagle's algorithm on, and every answer waits 40 ms.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    # Whoever connects from here on waits until it serves.
    listening.listen(1024)
    sys.stdout.write(f"listening on http://127.0.0.1:{listening.getsockname()[1]}\n")
    sys.stdout.flush()
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False))
    server.run(sockets=[listening])
