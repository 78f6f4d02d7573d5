"""A program that ends with us, however we end: it runs under a guard, which notices when we are gone."""

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
# On top of the time the program gets: for the guard to notice, and to kill.
GUARD_SECONDS: Final = 15.0
LOG_LINES_SHOWN: Final = 15
# More than so many lines; logs of a long run are too long to be read for their end.
LOG_END_BYTES: Final = 16_384


class DidNotStart(Exception):
    """A program ended, or was silent, before it was ready; the message ends with what it logged last."""


@dataclass(frozen=True, slots=True)
class Program:
    """What to run, and how it wants to be ended. Without a folder it runs in the repository."""

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
        # Also what has not been started may be asked for its last lines.
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
        """How it ended last, as shells have it; None while it runs or has not run yet."""
        return None if self._guard is None else self._guard.poll()

    def start(self) -> None:
        """Start it, if it does not run.

        Raises:
            DidNotStart: the program is not there or cannot be run.
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
                # Ctrl-C in the terminal reaches us alone, so that we end everything in good order.
                start_new_session=True,
            )
        self._pid = self._announced_pid(self._guard)

    def stop(self) -> None:
        """Ask it to end, frozen or not, and end it if it does not within `stop_seconds`."""
        if self._guard is not None and self._guard.stdin and self.exit_code is None:
            with suppress(BrokenPipeError):
                self._guard.stdin.write(b".")
        self._forget(self.program.stop_seconds + GUARD_SECONDS)

    def wait(self, seconds: float) -> int | None:
        """Wait for it to end by itself; the exit code, or None if it still runs then."""
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
        """End it and all it started without a chance to tidy up; they are gone when this returns."""
        if self._guard is not None and self.is_running:
            trees.kill(self._pid)
            self._guard.wait(GUARD_SECONDS)

    def freeze(self) -> None:
        """Stop it and all it started where they are: connections stay open and nobody answers."""
        if self.is_running:
            trees.freeze(self._pid)

    def thaw(self) -> None:
        """Let what is frozen go on."""
        if self.is_running:
            trees.thaw(self._pid)

    def logged(self) -> str:
        """What it logged since it was started."""
        return self._log_from(self._log_start)

    def last_lines(self, number: int = LOG_LINES_SHOWN) -> str:
        """The end of what it logged since it was started; nothing once the log is gone."""
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
        """Wait for a guard that is about to end, and close our ends of its pipes."""
        if self._guard is not None:
            self._guard.wait(seconds)
            for pipe in (self._guard.stdin, self._guard.stdout):
                if pipe:
                    pipe.close()
