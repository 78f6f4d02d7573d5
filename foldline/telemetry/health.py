"""Health checks of a process, its dependencies and the backlog, for probes and autoscalers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from http import HTTPStatus
from importlib import import_module
from time import monotonic
from typing import Final, Generic, Protocol, TypeAlias, TypeVar

import anyio
import anyio.to_thread

from foldline.log.errors import FileGone, Unavailable
from foldline.log.jobs.backlog import Backlog, backlog, check_tables
from foldline.log.sealing.listed_keys import missing_keys
from foldline.log.storage.store import Store
from foldline.settings import Settings


def broker_answers(settings: Settings) -> bool:
    """Whether the broker answers; the memory broker inside this process always does."""
    if settings.has_memory_broker:
        return True
    answers: Callable[[str], bool] = import_module("foldline.telemetry.redis_broker").answers
    return answers(settings.broker_url)


T = TypeVar("T")

# Kubernetes waits 1 s for the answer of a probe by default.
PATIENCE_SECONDS: Final = 0.8


class Check(Generic[T]):
    """Runs one health check, on a thread that requests do not use, and at most once at a time.

    Callers during a check share its answer. A check that takes longer than `PATIENCE_SECONDS` counts as no answer, for
    later callers without a wait, until it ends. All methods run on one event loop.
    """

    def __init__(self, probe: Callable[[], T]) -> None:
        self._probe = probe
        self._limiter = anyio.CapacityLimiter(1)
        self._task: asyncio.Task[T] | None = None
        self._deadline = 0.0

    async def answer(self) -> T | None:
        """The check's result; None if it takes too long."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run(), name="foldline-check")
            self._deadline = monotonic() + PATIENCE_SECONDS
        done, _ = await asyncio.wait([self._task], timeout=max(0.0, self._deadline - monotonic()))
        return next((task.result() for task in done), None)

    async def _run(self) -> T:
        # The service may stop while the check runs.
        return await anyio.to_thread.run_sync(self._probe, abandon_on_cancel=True, limiter=self._limiter)


DATABASE = "database"
BROKER = "broker"


class PartState(StrEnum):
    """How a dependency is, in the words of the answer. One whose disk is full answers, and can be read."""

    OK = "ok"
    SILENT = "does not answer"
    FILE_GONE = "its file was deleted or replaced"
    KEY_MISSING = "has values of an encryption key that FOLDLINE_ENCRYPTION_KEYS lacks"
    FULL = "has no room left on its disk"

    @classmethod
    def of(cls, said: object) -> PartState:
        """The state that a probe said, which may be true, false, or None if it took too long."""
        return said if isinstance(said, cls) else cls.OK if said else cls.SILENT

    @property
    def answers(self) -> bool:
        """Whether the dependency can be used at all."""
        return self in {PartState.OK, PartState.FULL}


# Says how a dependency is; True is as good as `OK`, False as `SILENT`.
Probe: TypeAlias = Callable[[], PartState | bool]


def _always() -> bool:
    return True


def _nothing() -> Backlog | None:
    return None


class MetricsSource(Protocol):
    """The metrics of a process."""

    def text(self, answers_by_part: Mapping[str, bool], backlog: Backlog | None) -> bytes:
        """All metrics in Prometheus's text format, with the given state of the parts and backlog, if known."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The process that the operator's port describes.

    `parts` are its dependencies by name, each with a function that says how it is. The process is ready while all parts
    in `needed` answer. `backlog` is None in a process that does not serve `/queues`. A process for which
    `is_alive` is False must be restarted; a dependency that does not answer is no reason for that.
    """

    metrics: MetricsSource
    parts: Mapping[str, Probe]
    needed: Collection[str] = ()
    backlog: Callable[[], Backlog | None] | None = None
    is_alive: Callable[[], bool] = _always


def database_state(store: Store) -> PartState:
    """How the database is; one without Foldline's tables does not answer."""
    try:
        with store.read() as tx:
            check_tables(tx)
            if missing_keys(tx):
                return PartState.KEY_MISSING
    except Unavailable as error:
        return _STATES.get(type(error), PartState.SILENT)
    return PartState.FULL if store.is_full else PartState.OK


_STATES: Final[Mapping[type[Exception], PartState]] = {FileGone: PartState.FILE_GONE}


def known_backlog(store: Store) -> Backlog | None:
    """The backlog, or None if the database does not answer."""
    try:
        with store.read() as tx:
            return backlog(tx)
    except Unavailable:
        return None


def parts_of(settings: Settings, store: Store) -> dict[str, Probe]:
    """The health checks of database and broker, by name."""
    return {DATABASE: partial(database_state, store), BROKER: partial(broker_answers, settings)}


@dataclass(frozen=True, slots=True)
class Readiness:
    """The result of a readiness check.

    `status` is `unavailable` if a part that is needed does not answer, `degraded` if another part is not well, or `ok`.
    """

    status: str
    parts: Mapping[str, PartState]

    @property
    def code(self) -> HTTPStatus:
        """The HTTP status for probes: 503 if unavailable, else 200."""
        return HTTPStatus.SERVICE_UNAVAILABLE if self.status == "unavailable" else HTTPStatus.OK

    @property
    def shown(self) -> dict[str, str]:
        """The body of the response: the status, and each part by name."""
        return {"status": self.status, **self.parts}


@dataclass(slots=True)
class Health:
    """Answers health checks about a process, on one event loop, each within `PATIENCE_SECONDS`."""

    subject: Subject
    _parts: dict[str, Check[PartState | bool]] = field(init=False)
    _backlog: Check[Backlog | None] = field(init=False)
    _pages: anyio.CapacityLimiter = field(init=False)

    def __post_init__(self) -> None:
        self._parts = {name: Check(probe) for name, probe in self.subject.parts.items()}
        self._backlog = Check(self.subject.backlog or _nothing)
        self._pages = anyio.CapacityLimiter(1)

    async def readiness(self) -> Readiness:
        """Whether the parts that the process needs answer."""
        answers = await asyncio.gather(*(check.answer() for check in self._parts.values()))
        parts = {name: PartState.of(answer) for name, answer in zip(self._parts, answers, strict=True)}
        if not all(parts[name].answers for name in self.subject.needed):
            return Readiness("unavailable", parts)
        return Readiness("ok" if {*parts.values()} <= {PartState.OK} else "degraded", parts)

    async def answers(self, part: str) -> bool:
        """Whether one of the parts can be used."""
        return PartState.of(await self._parts[part].answer()).answers

    async def backlog(self) -> Backlog | None:
        """The backlog; None if the process has none to report or the database does not answer."""
        return await self._backlog.answer()

    async def metrics_text(self) -> bytes:
        """The metrics of the process in Prometheus's text format."""
        readiness, waiting = await asyncio.gather(self.readiness(), self.backlog())
        answers = {name: state.answers for name, state in readiness.parts.items()}
        page = partial(self.subject.metrics.text, answers, waiting)
        # Processes that are asked may take longer than a probe waits.
        return await anyio.to_thread.run_sync(page, abandon_on_cancel=True, limiter=self._pages)
