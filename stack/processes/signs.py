"""The signs that a process is ready, as data for a table of processes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from docker.answers import answers


class Watched(Protocol):
    """The facts of a process that a sign uses."""

    @property
    def url(self) -> str:
        """The address it serves at; empty if it serves none."""

    @property
    def exit_code(self) -> int | None:
        """Its exit code, or None while it runs."""

    def logged(self) -> str:
        """The text it logged since its last start."""


class Sign(Protocol):
    """A sign that a process is ready."""

    def shows(self, process: Watched) -> bool:
        """Whether the process is ready now."""


@dataclass(frozen=True, slots=True)
class Answers:
    """Ready when a path of its operator's port answers with success; the containers' health checks use the same."""

    port: int
    path: str

    def shows(self, _process: Watched) -> bool:
        return answers(self.port, self.path)


@dataclass(frozen=True, slots=True)
class Works:
    """Ready when the function `answers`, called with its address, says so."""

    answers: Callable[[str], bool]

    def shows(self, process: Watched) -> bool:
        return self.answers(process.url)


@dataclass(frozen=True, slots=True)
class Logs:
    """Ready when it has logged this."""

    text: str

    def shows(self, process: Watched) -> bool:
        return self.text in process.logged()


@dataclass(frozen=True, slots=True)
class Ends:
    """Ready when it has ended with exit code 0; the processes after it wait for that."""

    def shows(self, process: Watched) -> bool:
        return process.exit_code == 0
