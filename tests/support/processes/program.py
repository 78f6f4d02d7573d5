"""Starts the program as its user would. Nothing configures it but what a test passes: `conftest` sees to that.

A new interpreter imports Foldline's modules for a second or two, so most commands come from a fork server.
`started_anew` is for tests of the start itself.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Final, TypeAlias

from tests.support.processes import fork_server

REPOSITORY = fork_server.REPOSITORY
MAIN: Final = "foldline.cli.main"
# Elsewhere libraries do not outlive a fork.
HAS_FORK_SERVER: Final = sys.platform == "linux"

Process: TypeAlias = "subprocess.Popen[bytes] | fork_server.Forked"


def foldline(*arguments: str | Path, timeout_seconds: float = 300) -> subprocess.CompletedProcess[str]:
    """`foldline` with these arguments, run to its end."""
    with TemporaryFile() as output, TemporaryFile() as errors:
        process = start(list(map(str, arguments)), output, errors)
        try:
            code = process.wait(timeout_seconds)
        finally:
            end(process)
        return subprocess.CompletedProcess(arguments, code, read(output), read(errors))


def read(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()


def started_anew(*arguments: str | Path, timeout_seconds: float = 300) -> subprocess.CompletedProcess[str]:
    """`foldline` with these arguments in a new interpreter, run to its end."""
    return python("-m", MAIN, *arguments, timeout_seconds=timeout_seconds)


@contextmanager
def started(*arguments: str | Path, **variables: str) -> Iterator[Process]:
    """`foldline` with these arguments, running; it is killed at the end of the block if it still runs."""
    process = start(list(map(str, arguments)), None, None, variables=variables)
    try:
        yield process
    finally:
        end(process)


def start(
    arguments: Sequence[str],
    output: IO[bytes] | None,
    errors: IO[bytes] | None,
    *,
    variables: Mapping[str, str] | None = None,
    is_anew: bool = False,
    warnings_end_it: bool = False,
) -> Process:
    """`foldline` with these arguments, running; from the fork server unless only a new interpreter will do."""
    variables = variables or {}
    environment = os.environ | dict(variables)
    if is_anew or not HAS_FORK_SERVER:
        options = ["-W", "error"] if warnings_end_it else []
        return subprocess.Popen(
            [sys.executable, *options, "-m", MAIN, *arguments],
            cwd=REPOSITORY,
            env=environment,
            stdout=output or subprocess.DEVNULL,
            stderr=errors or subprocess.DEVNULL,
            start_new_session=True,
        )
    return fork_server.start(arguments, output, errors, environment, warnings_end_it=warnings_end_it)


def end(process: Process) -> None:
    """It runs no more."""
    process.kill()
    process.wait()


def python(*arguments: str | Path, timeout_seconds: float = 300) -> subprocess.CompletedProcess[str]:
    """The interpreter with these arguments, run to its end."""
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=timeout_seconds,
        check=False,
    )
