"""Runs the API on its socket, for the commands that serve it."""

from __future__ import annotations

import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final

from fastapi import FastAPI
from foldline_api.app import create_app, service_on
from foldline_api.http.bounds.large_processes import LargeProcess
from foldline_api.server import Server
from foldline_api.service import AppState
from foldline_worker.app import create_celery
from foldline_worker.broker.notifier import Notifier, notifying

from foldline.cli.database import open_store
from foldline.cli.models_file import use_models_file
from foldline.cli.process_setup import installed_hooks
from foldline.log.storage.engines.database_file import KnownFile
from foldline.log.storage.store import Store
from foldline.service_process import collect_rarely
from foldline.settings import Settings
from foldline.telemetry.logs import set_up_logging
from foldline.telemetry.metrics import Signals
from foldline.telemetry.tracing import Silent

# How long a thread with much to do keeps the interpreter from those that answer. An append needs it twenty times, as
# each statement gives it away, and Python's own 5 ms would make 100 ms of that.
SWITCH_SECONDS: Final = 0.001


@contextmanager
def api_beside_workers(settings: Settings, store: Store, signals: Signals) -> Iterator[FastAPI]:
    """The API of a process whose jobs are done by workers elsewhere; during the block it notifies them.

    Raises:
        CommandFailed: a hook that is installed cannot be used.
    """
    app = create_app(settings, store, signals, open_service=partial(open_service, settings))
    with (
        create_celery(settings) as celery,
        notifying(Notifier(celery), store, settings.stop_seconds),
        installed_hooks(settings, store),
    ):
        yield app


@contextmanager
def open_service(settings: Settings, process: LargeProcess, file: KnownFile | None) -> Iterator[AppState]:
    """What a process for large requests needs, on the database that the service has open.

    Raises:
        CommandFailed: the database does not open.
    """
    set_up_logging(settings, Silent())
    use_models_file(settings.models_file)
    with open_store(settings, process, file, process.outer_turn) as store:
        yield service_on(settings, store)


def run_api(
    app: FastAPI,
    listener: socket.socket,
    settings: Settings,
    on_started: Callable[[], None] | None = None,
) -> None:
    """Serve until a signal says to stop, and finish what is under way.

    `on_started` is called once requests are taken.
    """
    # uvicorn raises the signal that stopped it once more at its end; by default that would kill us before the worker
    # has handed its jobs back, and the notifier has sent its last message.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    sys.setswitchinterval(SWITCH_SECONDS)
    collect_rarely()
    Server(app, settings.stop_seconds, on_started).run(sockets=[listener])
