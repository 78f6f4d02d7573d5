"""Starts the program as its user would. Nothing configures it but what a test passes: `conftest` sees to that."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]


def foldline(*arguments: str | Path, timeout_seconds: float = 300) -> subprocess.CompletedProcess[str]:
    """`foldline` with these arguments, run to its end."""
    return python("-m", "foldline.cli.main", *arguments, timeout_seconds=timeout_seconds)


@contextmanager
def started(*arguments: str | Path, **variables: str) -> Iterator[subprocess.Popen[bytes]]:
    """`foldline` with these arguments, running; it is killed at the end of the block if it still runs."""
    process = subprocess.Popen(
        [sys.executable, "-m", "foldline.cli.main", *map(str, arguments)],
        cwd=REPOSITORY,
        env=os.environ | variables,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield process
    finally:
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
