"""What a process can be asked about itself: is it alive, can it work, what does it do, and what waits to be done."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from typing import Protocol

from sessions.backlog import Backlog, backlog, is_there
from sessions.errors import Unavailable
from sessions.settings import Settings
from sessions.store import Store
from telemetry.broker import broker_answers
from telemetry.checks import Check

DATABASE = "database"
BROKER = "broker"


def _always() -> bool:
    return True


def _nothing() -> Backlog | None:
    return None


class Figures(Protocol):
    """What a process counts."""

    def text(self, answers_by_part: Mapping[str, bool], backlog: Backlog | None) -> bytes:
        """All figures in Prometheus's text format: what was counted, which parts answer now, what waits if known."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A process, as those see it who ask after it.

    `parts` are what it stands on, each with a question whether that answers; it can work while those in `needed` do.
    `backlog` is None in a process that leaves it to others to tell of it. A process that is not alive has to be started
    anew; what it waits for is no reason for that.
    """

    figures: Figures
    parts: Mapping[str, Callable[[], bool]]
    needed: Collection[str] = ()
    backlog: Callable[[], Backlog | None] | None = None
    is_alive: Callable[[], bool] = _always


def database_answers(store: Store) -> bool:
    """Whether the database answers, and has our tables."""
    try:
        with store.read() as tx:
            is_there(tx)
    except Unavailable:
        return False
    return True


def known_backlog(store: Store) -> Backlog | None:
    """What waits, or None if the database does not answer."""
    try:
        with store.read() as tx:
            return backlog(tx)
    except Unavailable:
        return None


def parts_of(settings: Settings, store: Store) -> dict[str, Callable[[], bool]]:
    """The parts of a process that works with both."""
    return {DATABASE: partial(database_answers, store), BROKER: partial(broker_answers, settings)}


@dataclass(frozen=True, slots=True)
class Readiness:
    """`status` is `ok`, `degraded` if a part is away that is not needed, or `unavailable`."""

    status: str
    answers_by_part: Mapping[str, bool]

    @property
    def code(self) -> HTTPStatus:
        """The status that probes go by."""
        return HTTPStatus.SERVICE_UNAVAILABLE if self.status == "unavailable" else HTTPStatus.OK

    @property
    def shown(self) -> dict[str, str]:
        """As it is answered."""
        parts = {name: "ok" if answers else "does not answer" for name, answers in self.answers_by_part.items()}
        return {"status": self.status, **parts}


@dataclass(slots=True)
class Vitals:
    """Asks after a process, from one event loop; no answer takes longer than a check's patience."""

    subject: Subject
    _parts: dict[str, Check[bool]] = field(init=False)
    _backlog: Check[Backlog | None] = field(init=False)

    def __post_init__(self) -> None:
        self._parts = {name: Check(ask) for name, ask in self.subject.parts.items()}
        self._backlog = Check(self.subject.backlog or _nothing)

    async def readiness(self) -> Readiness:
        """Whether it can work."""
        answers = await asyncio.gather(*(check.answer() for check in self._parts.values()))
        by_part = {name: bool(answer) for name, answer in zip(self._parts, answers, strict=True)}
        if not all(by_part[name] for name in self.subject.needed):
            return Readiness("unavailable", by_part)
        return Readiness("ok" if all(by_part.values()) else "degraded", by_part)

    async def backlog(self) -> Backlog | None:
        """What waits, None if nobody knows."""
        return await self._backlog.answer()

    async def figures(self) -> bytes:
        """Its metrics, in Prometheus's text format."""
        readiness, waiting = await asyncio.gather(self.readiness(), self.backlog())
        return self.subject.figures.text(readiness.answers_by_part, waiting)
