"""The sockets that a process listens on, and the lines that say where they are."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Annotated, Final, TypeAlias

import typer

from foldline.cli.process_setup import print_status
from foldline.log.access import api_keys
from foldline.log.storage.store import Store
from foldline.settings import Settings
from foldline.terminal import CommandFailed, ExitCode

BACKLOG: Final = 1024

Host: TypeAlias = Annotated[str | None, typer.Option(help="Address to listen on; beyond loopback only with keys.")]
Port: TypeAlias = Annotated[int | None, typer.Option(help="Port to listen on; 0 picks a free one.")]


def has_keys(settings: Settings, store: Store) -> bool:
    """Whether a caller needs a key: there is one in the environment or the database."""
    if settings.tenants_by_key:
        return True
    with store.read() as tx:
        return api_keys.has_any(tx)


def check_host(settings: Settings, store: Store) -> None:
    """Raise CommandFailed for an address beyond this machine without keys."""
    if not settings.is_local and not has_keys(settings, store):
        raise CommandFailed(
            f"{settings.host} can be reached from outside, and there are no API keys. Create one with `foldline keys "
            "create`, or set FOLDLINE_API_KEYS to tenant:key; or leave out --host to serve this machine only"
        )


def listener_for(settings: Settings) -> AbstractContextManager[socket.socket]:
    """A listening socket at the settings' address, which `check_host` has to be called with before.

    Raises:
        CommandFailed: the address or port cannot be had.
    """
    return _listener(settings.host, settings.port, "--port or FOLDLINE_PORT")


def flower_listener_for(settings: Settings) -> AbstractContextManager[socket.socket]:
    """A listening socket for Flower's page.

    Raises:
        CommandFailed: the address or port cannot be had.
    """
    return _listener(settings.flower_host, settings.flower_port, "--port or FOLDLINE_FLOWER_PORT")


def loopback_listener(port: int) -> AbstractContextManager[socket.socket]:
    """A listening socket that this machine alone reaches.

    Raises:
        CommandFailed: the port cannot be had.
    """
    return _listener("127.0.0.1", port, "--port")


@contextmanager
def metrics_listener_for(settings: Settings) -> Iterator[socket.socket | None]:
    """A listening socket at the settings' operator's port, None if they have none.

    Raises:
        CommandFailed: the address or port cannot be had.
    """
    if settings.metrics_port is None:
        yield None
        return
    with _listener(settings.metrics_host, settings.metrics_port, "FOLDLINE_METRICS_PORT") as listener:
        print_status(settings, f"metrics and probes on {url_of(listener)}")
        yield listener


@contextmanager
def _listener(host: str, port: int, how_to_choose: str) -> Iterator[socket.socket]:
    host = host.strip("[]")
    # Connections inherit the protocol, and asyncio sends without delay only where it reads "TCP" there: without it each
    # answer waits 40 ms for the client's kernel.
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    with listener:
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((host, port))
            listener.listen(BACKLOG)
        except OSError as error:
            raise CommandFailed(
                f"cannot listen on {host} port {port}: {error.strerror}. Choose another with {how_to_choose}",
                ExitCode.SERVICE_FAILED,
            ) from error
        yield listener


def announce(listener: socket.socket, settings: Settings, store: Store) -> None:
    """Say where the API can be reached, and by whom."""
    print_status(settings, f"listening on {url_of(listener)}")
    if not has_keys(settings, store):
        print_status(settings, "no API keys are set: only this machine can connect")


def url_of(listener: socket.socket) -> str:
    """The address that a socket listens at."""
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"
