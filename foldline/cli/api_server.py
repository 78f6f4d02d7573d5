"""Runs the API on its socket, for the commands that serve it."""

from __future__ import annotations

import signal
import socket

from fastapi import FastAPI
from foldline_api.server import Server

from foldline.settings import Settings


def run_api(app: FastAPI, listener: socket.socket, settings: Settings) -> None:
    """Serve until a signal says to stop, and finish what is under way."""
    # uvicorn raises the signal that stopped it once more at its end; by default that would kill us before the worker
    # has handed its jobs back, and the notifier has sent its last message.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    Server(app, settings.stop_seconds).run(sockets=[listener])
