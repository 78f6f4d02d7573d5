"""The row of a start: the CPU time of `foldline serve` until it is ready, against that of a bare FastAPI endpoint."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import httpx
import psutil

from benchmarks.harness import Row

ROUNDS: Final = 7
POLL_SECONDS: Final = 0.01
START_SECONDS: Final = 60
LISTENING: Final = re.compile(r"listening on (http://\S+)")


def rows(folder: Path) -> Iterator[Row]:
    """The row: both start on a new SQLite file each time. The times are of CPU, in user and system mode."""
    yield Row(
        name="CPU until ready",
        ours="foldline serve, until /readyz answers",
        theirs="bare FastAPI endpoint with SQLAlchemy",
        time_ours=lambda: _cpu_seconds(
            folder, ["foldline.cli.main", "serve", "--port", "0", "--database-url"], "readyz"
        ),
        time_theirs=lambda: _cpu_seconds(folder, ["benchmarks.bare_endpoint"], "bytes/1"),
        at_most=2.0,
        ours_at_most=1.0,
        rounds=ROUNDS,
    )


def _cpu_seconds(folder: Path, module: Sequence[str], path: str) -> float:
    """The seconds of CPU that `python -m module URL` takes until it answers at `path`."""
    with tempfile.TemporaryDirectory(dir=folder) as name:
        command = [sys.executable, "-m", *module, f"sqlite:///{name}/new.db"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            try:
                _wait_until_ready(process, path)
                times = psutil.Process(process.pid).cpu_times()
                return float(times.user + times.system)
            finally:
                process.terminate()


def _wait_until_ready(process: subprocess.Popen[str], path: str) -> None:
    lines = process.stdout or ()
    url = next(match[1] for line in lines if (match := LISTENING.search(line)))
    deadline = time.monotonic() + START_SECONDS
    # One client for all tries: making one takes longer than a try.
    with httpx.Client() as client:
        while not _is_ready(client, f"{url}/{path}"):
            if time.monotonic() > deadline:
                raise TimeoutError(url)
            time.sleep(POLL_SECONDS)


def _is_ready(client: httpx.Client, url: str) -> bool:
    try:
        return client.get(url).is_success
    except httpx.TransportError:
        return False
