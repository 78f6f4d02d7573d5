"""`foldline serve`: the API and its worker in one process, until stopped."""

from __future__ import annotations

import logging
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Literal

import typer
import uvicorn
from fastapi import FastAPI

import migrations
from api.app import create_app
from api.server import Server
from cli.consoles import answers
from cli.database import open_store, place_of, settings_of
from cli.failures import CommandFailed, ExitCode
from sessions.settings import Settings
from sessions.store import Store
from worker.embedded import BrokerOutside, EmbeddedWorker, WorkerDidNotStart
from worker.summarizers import create_summarizer

OUR_LOGGERS = ("api", "sessions", "uvicorn", "worker")
BACKLOG = 1024


def serve(
    *,
    host: Annotated[str | None, typer.Option(help="Address to listen on; beyond loopback only with keys.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0 picks a free one.")] = None,
    database_url: Annotated[str | None, typer.Option(help="SQLAlchemy address of the database.")] = None,
    summarizer: Annotated[Literal["extractive", "openai"] | None, typer.Option(help="Who writes summaries.")] = None,
    summarizer_base_url: Annotated[str | None, typer.Option(help="Its endpoint, with /v1.")] = None,
    summarizer_model: Annotated[str | None, typer.Option(help="Its model.")] = None,
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"] | None, typer.Option(help="Least severe log line shown.")
    ] = None,
) -> None:
    """Serve the API and its worker in one process, until stopped with Ctrl-C or SIGTERM.

    Whatever is not given here is read from the environment: FOLDLINE_PORT and so on. Keys are set there only, in
    FOLDLINE_API_KEYS as tenant:key,tenant:key; without keys only this machine can connect.
    """
    settings = settings_of(
        {
            "host": host,
            "port": port,
            "database_url": database_url,
            "summarizer": summarizer,
            "summarizer_base_url": summarizer_base_url,
            "summarizer_model": summarizer_model,
            "log_level": log_level,
        }
    )
    _check_host(settings)
    _set_up_logging(settings)
    with open_store(settings) as store, listener_for(settings) as listener:
        migrations.upgrade(store.engine)
        app = create_app(settings, store)
        with _worker(settings, store):
            _announce(listener, settings, store)
            _run(app, listener, settings)


def _check_host(settings: Settings) -> None:
    if settings.bind_host != settings.host:
        raise CommandFailed(
            f"{settings.host} can be reached from outside, and there are no API keys. Set FOLDLINE_API_KEYS to "
            f"tenant:key, or leave out --host to serve this machine only"
        )


def _set_up_logging(settings: Settings) -> None:
    """Our own lines from the level asked for; of the libraries only what is wrong."""
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s", level=logging.WARNING)
    for name in OUR_LOGGERS:
        logging.getLogger(name).setLevel(settings.log_level.upper())


@contextmanager
def listener_for(settings: Settings) -> Iterator[socket.socket]:
    """A listening socket at the settings' address.

    Raises:
        CommandFailed: the address or port cannot be had.
    """
    host = settings.bind_host.strip("[]")
    # Connections inherit the protocol, and asyncio sends without delay only where it reads "TCP" there: without it each
    # answer waits 40 ms for the client's kernel.
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    with listener:
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((host, settings.port))
            listener.listen(BACKLOG)
        except OSError as error:
            raise CommandFailed(
                f"cannot listen on {host} port {settings.port}: {error.strerror}. "
                "Choose another with --port or FOLDLINE_PORT",
                ExitCode.SERVICE_FAILED,
            ) from error
        yield listener


@contextmanager
def _worker(settings: Settings, store: Store) -> Iterator[None]:
    worker = EmbeddedWorker(settings, store, create_summarizer(settings))
    try:
        worker.start()
    except BrokerOutside as error:
        raise CommandFailed(str(error)) from error
    except WorkerDidNotStart as error:
        raise CommandFailed("the worker did not start; its log lines say why", ExitCode.SERVICE_FAILED) from error
    try:
        yield
    finally:
        worker.stop()


def _announce(listener: socket.socket, settings: Settings, store: Store) -> None:
    host, port = listener.getsockname()[:2]
    model = f", model {settings.summarizer_model}" if settings.summarizer == "openai" else ""
    answers().print(f"data in {place_of(store)}, summaries: {settings.summarizer}{model}", soft_wrap=True, markup=False)
    answers().print(f"listening on http://{f'[{host}]' if ':' in host else host}:{port}", soft_wrap=True)
    if not settings.tenants_by_key:
        answers().print("no API keys are set: only this machine can connect", soft_wrap=True)


def _run(app: FastAPI, listener: socket.socket, settings: Settings) -> None:
    """Serve until a signal says to stop, and finish what is under way."""
    # uvicorn raises the signal that stopped it once more at its end; by default that would kill us before the worker
    # has handed its jobs back.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    stop_seconds = max(1, int(settings.stop_seconds))
    config = uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=stop_seconds)
    Server(app, config).run(sockets=[listener])
