"""How to know that a process is ready: as data, so that a table of processes can say it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from docker.answers import answers


class Watched(Protocol):
    """What a sign may look at."""

    @property
    def url(self) -> str:
        """Where it serves, if it does."""

    @property
    def exit_code(self) -> int | None:
        """How it ended, or None while it runs."""

    def logged(self) -> str:
        """What it logged since it was started."""


class Sign(Protocol):
    """A way to know."""

    def shows(self, process: Watched) -> bool:
        """Whether the process is ready now."""


@dataclass(frozen=True, slots=True)
class Answers:
    """Ready when it answers well at a path of its operator's port, which the containers' health checks ask as well."""

    port: int
    path: str

    def shows(self, _process: Watched) -> bool:
        return answers(self.port, self.path)


@dataclass(frozen=True, slots=True)
class Works:
    """Ready when a client of its own finds it so, asked with its address."""

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
    """Ready when it has done its work and ended well; what comes after it waits for that."""

    def shows(self, process: Watched) -> bool:
        return process.exit_code == 0
