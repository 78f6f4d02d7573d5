"""PostgreSQL: makes its data, starts it, and tests whether it answers."""

from __future__ import annotations

import secrets
import signal
from pathlib import Path
from typing import Final

import psycopg
from sqlalchemy import make_url

from stack.processes.guarded import DidNotStart, Guarded, Program
from stack.services.binaries import postgres_folder
from stack.services.ports import HOST, free_port
from stack.services.users import give, server_user

DRIVER: Final = "postgresql+psycopg"
USER: Final = "foldline"
DATABASE: Final = "postgres"
INITDB_SECONDS: Final = 120.0
# The shortest timeout of libpq. A frozen server accepts connections and never answers.
ANSWER_SECONDS: Final = 2

SETTINGS: Final = {
    "listen_addresses": HOST,
    "unix_socket_directories": "",
    "max_connections": "200",
    # In a file below the data, which goes with it; the default stays in /dev/shm when the server is killed.
    "dynamic_shared_memory_type": "mmap",
}
# Without these, a crash of the machine loses data, but a killed server does not. Commits stay synchronous: otherwise a
# killed server would lose the last of them.
FAST_SETTINGS: Final = {"fsync": "off", "full_page_writes": "off"}


def new_server(folder: Path, log: Path, *, is_durable: bool) -> tuple[Program, str]:
    """A server with empty data below `folder`, ready to be started, and its address for SQLAlchemy.

    Raises:
        NoBinaries: this machine has none.
        DidNotStart: the data could not be made.
    """
    user, port, password = server_user(), free_port(), secrets.token_hex(16)
    give(folder, user)
    binaries = postgres_folder(user, folder)
    _make_data(binaries / "initdb", folder, log, user, password)
    settings = {**SETTINGS, "port": str(port), **({} if is_durable else FAST_SETTINGS)}
    options = [option for name, value in settings.items() for option in ("-c", f"{name}={value}")]
    program = Program(
        [str(binaries / "postgres"), "-D", "data", *options],
        log=log,
        folder=folder,
        user=user,
        # SIGINT disconnects all clients; SIGTERM would wait until they leave.
        stop_signal=signal.SIGINT,
    )
    return program, f"{DRIVER}://{USER}:{password}@{HOST}:{port}/{DATABASE}"


def address(url: str) -> str:
    """An address of a server elsewhere, for our driver."""
    return make_url(url).set(drivername=DRIVER).render_as_string(hide_password=False)


def plain(url: str) -> str:
    """An address without a driver, as psql and Foldline take it."""
    return make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)


def answers(url: str) -> bool:
    """Whether a server accepts our login."""
    try:
        psycopg.connect(plain(url), connect_timeout=ANSWER_SECONDS).close()
    except psycopg.OperationalError:
        return False
    return True


def _make_data(initdb: Path, folder: Path, log: Path, user: str | None, password: str) -> None:
    secret = folder / "password"
    secret.touch(mode=0o600)
    secret.write_text(password)
    give(secret, user)
    options = ["-D", "data", "--username", USER, "--pwfile", secret.name, "--auth", "scram-sha-256"]
    # A locale that every machine has, and no waiting for the disk: there is no data to lose before the first start.
    options += ["--encoding", "UTF8", "--locale", "C", "--no-sync"]
    process = Guarded(Program([str(initdb), *options], log=log, folder=folder, user=user))
    try:
        process.start()
        process.wait(INITDB_SECONDS)
    finally:
        process.stop()
        secret.unlink()
    if process.exit_code != 0:
        raise DidNotStart(f"initdb ended with exit code {process.exit_code}; it logged:\n{process.last_lines()}")
