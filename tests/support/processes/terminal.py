"""The `foldline` command with a terminal as its stdout."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import termios
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Final

from tests.support.processes.program import Process, end, read, start

ROWS_AND_COLUMNS: Final = (50, 200)


def foldline_in_terminal(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """`foldline` with these arguments and a pseudo-terminal as its stdout, run to its end."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, ROWS_AND_COLUMNS)
    shown = b""
    with TemporaryFile() as errors:
        with os.fdopen(theirs, "wb") as terminal:
            process = start(list(map(str, arguments)), terminal, errors, variables={"NO_COLOR": "1", "TERM": "dumb"})
        try:
            # Linux reports the end of a terminal as an error.
            with suppress(OSError):
                while chunk := os.read(ours, 1 << 16):
                    shown += chunk
            code = process.wait()
        finally:
            end(process)
            os.close(ours)
        return subprocess.CompletedProcess(arguments, code, shown.decode().replace("\r\n", "\n"), read(errors))


@dataclass(slots=True)
class LiveScreen:
    """A command that runs in a terminal; `shown` is what it has written there, control sequences included."""

    process: Process
    descriptor: int
    shown: str = ""

    def until(self, text: str) -> None:
        """Read on until this text comes."""
        part = ""
        while text not in part:
            part += os.read(self.descriptor, 1 << 16).decode(errors="replace")
        self.shown += part

    def interrupt(self) -> int:
        """The exit code after Ctrl-C."""
        self.process.send_signal(signal.SIGINT)
        with suppress(OSError):
            while chunk := os.read(self.descriptor, 1 << 16):
                self.shown += chunk.decode(errors="replace")
        return self.process.wait(30)


@contextmanager
def live_screen(*arguments: str | Path) -> Iterator[LiveScreen]:
    """`foldline` with these arguments in a terminal that can redraw; killed at the end if it still runs."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, ROWS_AND_COLUMNS)
    with os.fdopen(theirs, "wb") as terminal:
        process = start(list(map(str, arguments)), terminal, None, variables={"NO_COLOR": "1", "TERM": "xterm"})
    try:
        yield LiveScreen(process, ours)
    finally:
        end(process)
        os.close(ours)
