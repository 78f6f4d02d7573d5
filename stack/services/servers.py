"""A real PostgreSQL and a real Valkey or Redis, as processes of our own or as addresses in the environment.

`with postgres() as database:` gives a service that answers. It ends after the block, even if our process is killed.
DATABASE_URL and REDIS_URL name services that run already; those are left as they are.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from sqlalchemy import make_url

from stack.processes.guarded import DidNotStart, Guarded
from stack.processes.waiting import comes_true
from stack.services import postgresql, valkeys

READY_SECONDS: Final = 60.0


class NotOurs(Exception):
    """The service was named in the environment and not started here, so only its address can be used."""


class BackingService:
    """A server that answers at `url`, and its process, which can be stopped, killed and frozen."""

    def __init__(self, url: str, answers: Callable[[str], bool], process: Guarded | None = None) -> None:
        self.url = url
        self.answers = answers
        self._process = process

    @property
    def is_ours(self) -> bool:
        """Whether it was started here."""
        return self._process is not None

    @property
    def process(self) -> Guarded:
        """The server's process.

        Raises:
            NotOurs: it was not started here.
        """
        if self._process is None:
            raise NotOurs(f"the service at {make_url(self.url).render_as_string()} was not started here")
        return self._process

    @property
    def pid(self) -> int:
        """Its process id, or 0 while it does not run."""
        return self.process.pid

    def is_ready(self) -> bool:
        """Whether it answers now."""
        return self.answers(self.url)

    def start(self) -> None:
        """Start it, on the port and with the data it had, and wait until it answers.

        Raises:
            DidNotStart: it ended or did not answer.
        """
        self.process.start()
        comes_true(lambda: self.is_ready() or not self.process.is_running, READY_SECONDS)
        if not self.is_ready():
            state = "does not answer" if self.process.is_running else f"ended with {self.process.exit_code}"
            raise DidNotStart(f"the server {state}; it logged:\n{self.process.last_lines()}")

    def stop(self) -> None:
        """End it in good order; its data stays."""
        self.process.stop()

    def restart(self) -> None:
        """Stop and start it."""
        self.stop()
        self.start()

    def kill(self) -> None:
        """Kill all its processes."""
        self.process.kill()

    def freeze(self) -> None:
        """Freeze all its processes: it accepts connections and never answers."""
        self.process.freeze()

    def thaw(self) -> None:
        """Let it continue after `freeze`."""
        self.process.thaw()


@contextmanager
def postgres(*, is_durable: bool = False, is_own: bool = False, log: Path | None = None) -> Iterator[BackingService]:
    """A PostgreSQL, with an address for SQLAlchemy; its user may create databases.

    Unless durable, it is fast: it keeps its data when killed, but a crash of the machine may lose them. `is_own` starts
    one even if DATABASE_URL names another.

    Raises:
        NoBinaries: there is none on this machine.
        DidNotStart: it ended or did not answer; the message ends with its log.
    """
    outside = None if is_own else os.environ.get("DATABASE_URL")
    if outside:
        yield BackingService(postgresql.address(outside), postgresql.answers)
        return
    with _folder("postgres") as folder:
        program, url = postgresql.new_server(folder, log or folder / "log", is_durable=is_durable)
        with _running(BackingService(url, postgresql.answers, Guarded(program))) as service:
            yield service


@contextmanager
def valkey(*, is_durable: bool = False, is_own: bool = False, log: Path | None = None) -> Iterator[BackingService]:
    """A Valkey or Redis. Unless durable, a restart loses its data. `is_own` starts one even if REDIS_URL names another.

    Raises:
        NoBinaries: there is none on this machine.
        DidNotStart: it ended or did not answer; the message ends with its log.
    """
    outside = None if is_own else os.environ.get("REDIS_URL")
    if outside:
        yield BackingService(outside, valkeys.answers)
        return
    with _folder("valkey") as folder:
        program, url = valkeys.new_server(folder, log or folder / "log", is_durable=is_durable)
        with _running(BackingService(url, valkeys.answers, Guarded(program))) as service:
            yield service


@contextmanager
def _folder(name: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix=f"foldline-{name}-") as folder:
        yield Path(folder)


@contextmanager
def _running(service: BackingService) -> Iterator[BackingService]:
    try:
        service.start()
        yield service
    finally:
        service.stop()
