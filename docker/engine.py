"""The programs that build and run images: buildah with podman, docker, or podman alone.

Their settings (storage, isolation, network) come from their own files and variables, as when they are called by hand.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

TAIL_LINES: Final = 20


class NoEngine(Exception):
    """None of these programs is installed; the message says what to install."""


class EngineFailed(Exception):
    """A command of the engine failed; the message has the command and the end of its output."""


@dataclass(frozen=True, slots=True)
class Engine:
    """A program that builds images and a program that runs them; both use the same store of images."""

    build_command: tuple[str, ...]
    runner: str

    @property
    def is_here(self) -> bool:
        return all(shutil.which(program) for program in (self.build_command[0], self.runner))

    def build(self, file: str, context: str, tag: str, arguments: Mapping[str, str]) -> None:
        """Build an image; the program's output is shown.

        Raises:
            EngineFailed: it could not be built.
        """
        options = [option for name, value in arguments.items() for option in ("--build-arg", f"{name}={value}")]
        command = [*self.build_command, "--file", file, "--tag", tag, *options, context]
        if subprocess.run(command, check=False).returncode:
            raise EngineFailed(f"{' '.join(self.build_command)} failed; what it said is above")

    def facts(self, image: str) -> dict[str, Any]:
        """The runner's description of an image."""
        found: list[dict[str, Any]] = json.loads(self.run("image", "inspect", image))
        return found[0]

    def run(self, *arguments: str) -> str:
        """The output of a command of the runner.

        Raises:
            EngineFailed: it failed.
        """
        done = self.tried(*arguments)
        if done.returncode:
            said = "\n".join(done.stderr.splitlines()[-TAIL_LINES:])
            raise EngineFailed(f"{self.runner} {' '.join(arguments[:2])} failed with {done.returncode}:\n{said}")
        return done.stdout.strip()

    def tried(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command of the runner, and return its result even if it failed."""
        return subprocess.run([self.runner, *arguments], capture_output=True, text=True, check=False)


# OCI's image format has no health check, so buildah and podman write docker's format.
ENGINES: Final = (
    Engine(("buildah", "build", "--format", "docker"), "podman"),
    Engine(("docker", "build"), "docker"),
    Engine(("podman", "build", "--format", "docker"), "podman"),
)


def engine() -> Engine:
    """The first of `ENGINES` that is installed.

    Raises:
        NoEngine: none is.
    """
    found = next((candidate for candidate in ENGINES if candidate.is_here), None)
    if found is None:
        raise NoEngine(
            "nothing here builds images and runs them; install buildah and podman, or docker, or podman alone"
        )
    return found
