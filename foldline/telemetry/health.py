"""Whether a process is alive and its parts answer, and what waits, for probes and for whoever scales workers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from time import monotonic
from typing import Final, Generic, Protocol, TypeVar

import anyio
import anyio.to_thread
from redis import Redis
from redis.exceptions import RedisError

from foldline.log.errors import Unavailable
from foldline.log.jobs.backlog import Backlog, backlog, check_tables
from foldline.log.storage.store import Store
from foldline.settings import Settings

TIMEOUT_SECONDS: Final = 0.5


def broker_answers(settings: Settings) -> bool:
    """Whether the broker answers; one that lives inside this process does."""
    if settings.has_memory_broker:
        return True
    timeouts = {"socket_timeout": TIMEOUT_SECONDS, "socket_connect_timeout": TIMEOUT_SECONDS}
    try:
        with Redis.from_url(settings.broker_url, **timeouts) as client:
            client.ping()
    except (RedisError, ValueError):
        return False
    return True


T = TypeVar("T")

# Kubernetes waits 1 s for the answer, unless it is told otherwise.
PATIENCE_SECONDS: Final = 0.8


class Check(Generic[T]):
    """Asks one part of the service: on a thread that requests do not use, and once at a time.

    Whoever comes while it is asked shares the answer. A part that keeps silent for longer than `PATIENCE_SECONDS` does
    not answer, to those who come later at once, until it does. All of it runs on one event loop.
    """

    def __init__(self, ask: Callable[[], T]) -> None:
        self._ask = ask
        self._limiter = anyio.CapacityLimiter(1)
        self._task: asyncio.Task[T] | None = None
        self._deadline = 0.0

    async def answer(self) -> T | None:
        """What it answers, None if it does not."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._asked(), name="foldline-check")
            self._deadline = monotonic() + PATIENCE_SECONDS
        done, _ = await asyncio.wait([self._task], timeout=max(0.0, self._deadline - monotonic()))
        return next((task.result() for task in done), None)

    async def _asked(self) -> T:
        # The service may stop while it waits for an answer.
        return await anyio.to_thread.run_sync(self._ask, abandon_on_cancel=True, limiter=self._limiter)


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
            check_tables(tx)
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
class Health:
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
