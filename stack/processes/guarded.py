"""A program that ends when our process ends, even if that is killed: a guard watches it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from stack.processes import trees

REPOSITORY: Final = Path(__file__).resolve().parents[2]
STOP_SECONDS: Final = 20.0
# Added to the program's own time: the guard needs it to notice the end and to kill the program.
GUARD_SECONDS: Final = 15.0
LOG_LINES_SHOWN: Final = 15
# Only the end of a log is read, as logs of long runs are large. It has more than LOG_LINES_SHOWN lines.
LOG_END_BYTES: Final = 16_384


class DidNotStart(Exception):
    """A program ended before it was ready, or was not ready in time; the message ends with its last log lines."""


@dataclass(frozen=True, slots=True)
class Program:
    """A command to run, and the signal and the seconds to end it. Without a folder it runs in the repository."""

    command: Sequence[str]
    log: Path
    folder: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    user: str | None = None
    stop_signal: signal.Signals = signal.SIGTERM
    stop_seconds: float = STOP_SECONDS


class Guarded:
    """A program that can be started, ended, killed and frozen, again and again."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._guard: subprocess.Popen[bytes] | None = None
        self._pid = 0
        self._log_start = 0
        # The last lines of the log can be read before the first start.
        program.log.touch()

    @property
    def pid(self) -> int:
        """The program's process id, or 0 while it does not run."""
        return self._pid if self.is_running else 0

    @property
    def is_running(self) -> bool:
        return self._pid != 0 and self.exit_code is None

    @property
    def exit_code(self) -> int | None:
        """Its last exit code, as a shell gives it; None while it runs or before its first start."""
        return None if self._guard is None else self._guard.poll()

    def start(self) -> None:
        """Start it, if it does not run.

        Raises:
            DidNotStart: the program is missing or cannot be run.
        """
        if self.is_running:
            return
        self._forget()
        self._pid = 0
        with self.program.log.open("ab") as log:
            self._log_start = log.tell()
            self._guard = subprocess.Popen(
                [sys.executable, "-m", "stack.processes.guard", *self._options(), "--", *self.program.command],
                cwd=REPOSITORY,
                env={**os.environ, **self.program.environment},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                bufsize=0,
                # Ctrl-C in the terminal reaches only our process, which then ends everything in good order.
                start_new_session=True,
            )
        self._pid = self._announced_pid(self._guard)

    def stop(self) -> None:
        """Ask it to end, frozen or not, and kill it if it does not within `stop_seconds`."""
        if self._guard is not None and self._guard.stdin and self.exit_code is None:
            with suppress(BrokenPipeError):
                self._guard.stdin.write(b".")
        self._forget(self.program.stop_seconds + GUARD_SECONDS)

    def wait(self, seconds: float) -> int | None:
        """Wait for it to end by itself. Returns the exit code, or None if it still runs after `seconds`."""
        if self._guard is not None:
            with suppress(subprocess.TimeoutExpired):
                self._guard.wait(seconds)
        return self.exit_code

    def terminate(self) -> None:
        """Ask it to end, without waiting."""
        if self.is_running:
            with suppress(ProcessLookupError):
                os.kill(self._pid, self.program.stop_signal)

    def kill(self) -> None:
        """Kill it and all processes it started; they have ended when this returns."""
        if self._guard is not None and self.is_running:
            trees.kill(self._pid)
            self._guard.wait(GUARD_SECONDS)

    def freeze(self) -> None:
        """Freeze it and all processes it started: connections stay open and nobody answers."""
        if self.is_running:
            trees.freeze(self._pid)

    def thaw(self) -> None:
        """Let it continue after `freeze`."""
        if self.is_running:
            trees.thaw(self._pid)

    def logged(self) -> str:
        """The text it logged since its last start."""
        return self._log_from(self._log_start)

    def last_lines(self, number: int = LOG_LINES_SHOWN) -> str:
        """The last lines it logged since its last start; "" if the log was removed."""
        try:
            return self._log_end(number)
        except FileNotFoundError:
            return ""

    def _log_end(self, number: int) -> str:
        end = self.program.log.stat().st_size
        return "\n".join(self._log_from(max(self._log_start, end - LOG_END_BYTES)).splitlines()[-number:])

    def _log_from(self, start: int) -> str:
        with self.program.log.open("rb") as log:
            log.seek(start)
            return log.read().decode("utf-8", "replace")

    def _options(self) -> list[str]:
        program = self.program
        options = [f"--stop-signal={int(program.stop_signal)}", f"--stop-seconds={program.stop_seconds}"]
        options += [f"--folder={program.folder}"] if program.folder else []
        return options + ([f"--user={program.user}"] if program.user else [])

    def _announced_pid(self, guard: subprocess.Popen[bytes]) -> int:
        line = guard.stdout.readline() if guard.stdout else b""
        if not line:
            self._forget()
            raise DidNotStart(f"{self.program.command[0]} cannot be run:\n{self.last_lines()}")
        return int(line)

    def _forget(self, seconds: float = GUARD_SECONDS) -> None:
        """Wait for a guard that is ending, and close our ends of its pipes."""
        if self._guard is not None:
            self._guard.wait(seconds)
            for pipe in (self._guard.stdin, self._guard.stdout):
                if pipe:
                    pipe.close()
