"""Containers with restricted rights: no capabilities, a read-only root, no new privileges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from secrets import token_hex
from time import monotonic
from typing import Final

from docker.engine import Engine, EngineFailed
from stack.processes.waiting import comes_true

READY_SECONDS: Final = 60.0
# More than FOLDLINE_STOP_SECONDS.
GRACE_SECONDS: Final = 20
LOG_LINES_SHOWN: Final = "20"
CAUTION: Final = ("--read-only", "--tmpfs=/tmp", "--cap-drop=ALL", "--security-opt=no-new-privileges")


@dataclass(frozen=True, slots=True)
class Container:
    """A running container."""

    engine: Engine
    name: str

    def execute(self, *command: str) -> str:
        """The output of a command that is run inside."""
        return self.engine.run("exec", self.name, *command)

    def seconds_until(self, *check: str) -> float:
        """The seconds until a check that is run inside succeeded.

        Raises:
            EngineFailed: it never did; the message ends with the container's log.
        """
        begun = monotonic()
        if not comes_true(lambda: not self.engine.tried("exec", self.name, *check).returncode, READY_SECONDS):
            log = self.engine.tried("logs", "--tail", LOG_LINES_SHOWN, self.name)
            raise EngineFailed(f"{' '.join(check)} still fails; the log ends with:\n{log.stdout}{log.stderr}")
        return monotonic() - begun

    def stop(self) -> tuple[float, int]:
        """Stop it in good order. Returns the seconds that took, and the exit code."""
        begun = monotonic()
        self.engine.run("stop", "--time", str(GRACE_SECONDS), self.name)
        seconds = monotonic() - begun
        return seconds, int(self.engine.run("inspect", "--format", "{{.State.ExitCode}}", self.name))


def options_for(variables: Mapping[str, str], *options: str) -> list[str]:
    """Options of `run` that restrict the container's rights, with these variables and further options."""
    return [*CAUTION, *options, *(f"--env={name}={value}" for name, value in variables.items())]


@contextmanager
def running(engine: Engine, image: str, options: Sequence[str], *arguments: str) -> Iterator[Container]:
    """A container of an image with these arguments; it and its volumes are removed after the block."""
    container = Container(engine, f"foldline-{token_hex(4)}")
    try:
        engine.run("run", "--detach", "--name", container.name, *options, image, *arguments)
        yield container
    finally:
        engine.tried("rm", "--force", "--volumes", container.name)
