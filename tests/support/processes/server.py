"""A service on loopback, in this process, for tests that talk HTTP to it."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

from fastapi import FastAPI
from foldline_api.app import create_app
from foldline_api.server import Server
from foldline_worker.embedded import EmbeddedWorker
from foldline_worker.summarizers.registry import create_summarizer

from foldline.log.storage.store import Limits, Store
from foldline.settings import Settings
from tests.support.eventually import eventually


@contextmanager
def opened_store(url: str, limits: Limits | None = None) -> Iterator[Store]:
    """A store on a database that has its tables."""
    store = Store(url, limits=limits or Limits())
    try:
        yield store
    finally:
        store.close()


@contextmanager
def served(app: FastAPI) -> Iterator[str]:
    """The address of a running server; it ends with the block."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = Server(app, stop_seconds=10)
    thread = Thread(target=server.run, kwargs={"sockets": [listener]}, name="test-server")
    thread.start()
    try:
        eventually(lambda: server.started or not thread.is_alive())
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


@contextmanager
def served_with_worker(url: str) -> Iterator[str]:
    """The address of a service with its worker on this database, as `foldline serve` runs them."""
    settings = Settings()
    with (
        opened_store(url) as store,
        EmbeddedWorker(settings, store, create_summarizer(settings)),
        served(create_app(settings, store)) as address,
    ):
        yield address
