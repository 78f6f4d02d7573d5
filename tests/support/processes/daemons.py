"""The commands that run until they are stopped, started as their user would, with what they print."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from tests.support.eventually import eventually
from tests.support.processes.program import REPOSITORY

START_SECONDS = 60.0


@dataclass(slots=True)
class Daemon:
    """A running command. `ready` is what it printed when it was ready."""

    process: subprocess.Popen[bytes]
    output: Path
    ready: str = ""

    @property
    def printed(self) -> str:
        return self.output.read_text()

    @property
    def is_alive(self) -> bool:
        return self.process.poll() is None

    def stop(self, number: signal.Signals = signal.SIGTERM) -> float:
        """Seconds that it took to end, with exit code 0."""
        begun = monotonic()
        self.process.send_signal(number)
        assert self.process.wait(30) == 0, self.printed
        return monotonic() - begun


@contextmanager
def daemon(folder: Path, *arguments: str, until: str, **variables: str) -> Iterator[Daemon]:
    """`foldline` with these arguments, once it has printed what `until` matches; killed at the end if it still runs.

    Warnings end it, as they fail a test.
    """
    output = folder / f"{len(list(folder.iterdir()))}-{arguments[0]}.log"
    with output.open("wb") as stream:
        process = subprocess.Popen(
            [sys.executable, "-W", "error", "-m", "foldline.cli.main", *arguments],
            cwd=REPOSITORY,
            env=os.environ | variables,
            stdout=stream,
            stderr=stream,
            start_new_session=True,
        )
    running = Daemon(process, output)
    try:
        eventually(lambda: re.search(until, running.printed) or not running.is_alive, START_SECONDS)
        found = re.search(until, running.printed)
        assert found, running.printed
        running.ready = found[0]
        yield running
    finally:
        process.kill()
        process.wait()
