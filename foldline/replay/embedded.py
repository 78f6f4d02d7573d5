"""Runs a temporary service for a command: a child process on a free port, with a temporary database."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import IO, Final, TypeAlias

import httpx

from foldline.terminal import CommandFailed, ExitCode

Process: TypeAlias = subprocess.Popen[bytes]
STOP_SECONDS: Final = 20.0
LONGEST_RUN_SECONDS: Final = 120.0


def start(command: Sequence[str], environment: Mapping[str, str], output: IO[bytes]) -> Process:
    """Start a program with its output in a file.

    The program gets a process group of its own, so that Ctrl-C reaches this process alone, which then stops it.
    """
    # What it stores is for its user alone.
    return subprocess.Popen(
        command, stdout=output, stderr=output, env=dict(environment), start_new_session=True, umask=0o077
    )


def stop(process: Process) -> None:
    """Terminate a program, and kill it if it does not end in time."""
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        pass
    finally:
        # Also where the wait was interrupted: its folder is about to go.
        if process.poll() is None:
            process.kill()
            process.wait()


def output_of(command: Sequence[str], folder: Path) -> tuple[int, str]:
    """The exit code and output of a program that is run to its end in `folder`."""
    done = subprocess.run(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=LONGEST_RUN_SECONDS,
        check=False,
    )
    return done.returncode, done.stdout.decode("utf-8", "replace")


LISTENING: Final = re.compile(r"listening on (http://\S+)")
METRICS: Final = re.compile(r"metrics and probes on (http://\S+)")
# Settings of the user's own service must not reach the temporary one.
NOT_INHERITED: Final = frozenset(
    f"FOLDLINE_{name}" for name in ("API_KEYS", "HOST", "PORT", "DATABASE_URL", "BROKER_URL")
)
START_SECONDS: Final = 60.0
POLL_SECONDS: Final = 0.02
LOG_LINES_SHOWN: Final = 15


@contextmanager
def embedded_service(options: Sequence[str] = ()) -> Iterator[str]:
    """The URL of a ready service that ends with the block; `options` are added to `foldline serve`.

    Raises:
        CommandFailed: it did not become ready; the message ends with what it printed.
    """
    with TemporaryDirectory(prefix="foldline-") as folder, _serving(folder, _database_in(folder), options, {}) as found:
        yield found.url


@contextmanager
def kept_service(database_url: str, settings: Mapping[str, str], port: int = 0) -> Iterator[PrivateService]:
    """A ready service on a database that is kept, with these variables and an operator's port; port 0 is any free one.

    Raises:
        CommandFailed: it did not become ready; the message ends with what it printed.
    """
    own = {**settings, "FOLDLINE_METRICS_HOST": "127.0.0.1", "FOLDLINE_METRICS_PORT": "0"}
    options = ("--port", str(port))
    with TemporaryDirectory(prefix="foldline-") as folder, _serving(folder, database_url, options, own) as found:
        yield found


@dataclass(frozen=True, slots=True)
class PrivateService:
    """A service in a process of its own; what it prints is in `log`."""

    url: str
    log: Path

    def metrics(self) -> str:
        """The metrics on its operator's port, in Prometheus's text; "" if they cannot be read."""
        port = METRICS.search(_printed(self.log))
        try:
            return httpx.get(f"{port[1]}/metrics", trust_env=False).text if port else ""
        except httpx.HTTPError:
            return ""


def _database_in(folder: str) -> str:
    return f"sqlite:///{folder}/foldline.db"


@contextmanager
def _serving(
    folder: str, database_url: str, options: Sequence[str], settings: Mapping[str, str]
) -> Iterator[PrivateService]:
    log = Path(folder) / "service.log"
    given = ("--port", "0", "--database-url", database_url, *options)
    command = [sys.executable, "-m", "foldline.cli.main", "serve", *given]
    with log.open("wb") as output:
        process = start(command, {**_environment(os.environ), **settings}, output)
    try:
        yield PrivateService(_ready_url(process, log), log)
    finally:
        stop(process)


def _environment(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name not in NOT_INHERITED} | {"PYTHONUNBUFFERED": "1"}


def _ready_url(process: Process, log: Path) -> str:
    deadline = monotonic() + START_SECONDS
    while monotonic() < deadline and process.poll() is None:
        found = LISTENING.search(_printed(log))
        if found and _is_ready(found[1]):
            return found[1]
        sleep(POLL_SECONDS)
    state = "is not ready" if process.poll() is None else f"ended with exit code {process.returncode}"
    last_lines = "\n".join(_printed(log).splitlines()[-LOG_LINES_SHOWN:])
    raise CommandFailed(f"the embedded service {state}; it printed:\n{last_lines}", ExitCode.SERVICE_FAILED)


def _printed(log: Path) -> str:
    return log.read_text(encoding="utf-8", errors="replace")


def _is_ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/readyz", trust_env=False).is_success
    except httpx.HTTPError:
        return False
