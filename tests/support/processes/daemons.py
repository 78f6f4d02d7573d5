"""The commands that run until they are stopped, started as their user would, with what they print."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from tests.support.eventually import eventually
from tests.support.processes.program import Process, end, start

START_SECONDS = 60.0


@dataclass(slots=True)
class Daemon:
    """A running command. `ready` is what it printed when it was ready."""

    process: Process
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
def daemon(
    folder: Path, *arguments: str, until: str, variables: Mapping[str, str], is_anew: bool = False
) -> Iterator[Daemon]:
    """`foldline` with these arguments, once it has printed what `until` matches; killed at the end if it still runs.

    Warnings end it, as they fail a test.
    """
    output = folder / f"{len(list(folder.iterdir()))}-{arguments[0]}.log"
    with output.open("wb") as stream:
        process = start(arguments, stream, stream, variables=variables, is_anew=is_anew, warnings_end_it=True)
    running = Daemon(process, output)
    try:
        eventually(lambda: re.search(until, running.printed) or not running.is_alive, START_SECONDS)
        found = re.search(until, running.printed)
        assert found, running.printed
        running.ready = found[0]
        yield running
    finally:
        end(process)
