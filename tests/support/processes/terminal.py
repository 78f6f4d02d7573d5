"""The `foldline` command with a terminal as its stdout."""

from __future__ import annotations

import os
import pty
import subprocess
import termios
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import Final

from tests.support.processes.program import end, read, start

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
