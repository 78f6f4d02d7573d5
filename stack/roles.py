"""What the stack consists of beside its services: one table, which everything that starts a stack is held against."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from stack.ports import HOST
from stack.signs import Answers, Ends, Logs, Sign

# The programs by the names that people call them by.
PROGRAMS: Final[Mapping[str, tuple[str, ...]]] = {
    "foldline": (sys.executable, "-m", "cli.main"),
    "celery": (sys.executable, "-m", "celery"),
}


@dataclass(frozen=True, slots=True)
class Role:
    """A kind of process.

    Braces in its environment stand for what only a running stack knows: {database_url}, {broker_url}, {flower_login},
    and for each process a {port} of its own.
    """

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    ready: Sign

    @property
    def listens(self) -> bool:
        return "{port}" in self.environment.values()

    @property
    def is_once(self) -> bool:
        """Whether it ends by itself, and the roles after it wait for that."""
        return isinstance(self.ready, Ends)


DATABASE: Final = {"FOLDLINE_DATABASE_URL": "{database_url}"}
BROKER: Final = {"FOLDLINE_BROKER_URL": "{broker_url}"}
LISTENS: Final = {"FOLDLINE_HOST": HOST, "FOLDLINE_PORT": "{port}"}
FLOWER: Final = {
    "CELERY_BROKER_URL": "{broker_url}",
    "FLOWER_ADDRESS": HOST,
    "FLOWER_PORT": "{port}",
    "FLOWER_BASIC_AUTH": "{flower_login}",
}

ROLES: Final = (
    Role("migrate", ("foldline", "migrate"), DATABASE, Ends()),
    Role("api", ("foldline", "api"), DATABASE | BROKER | LISTENS, Answers("/readyz")),
    Role("worker", ("foldline", "worker"), DATABASE | BROKER, Logs("ready")),
    Role("beat", ("foldline", "beat"), BROKER, Logs("beat: Starting")),
    Role("flower", ("celery", "flower"), FLOWER, Answers("/healthcheck")),
)
