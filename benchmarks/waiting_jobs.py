"""The rows of requests to other sessions while hundreds of jobs wait for a slow model, against those without jobs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Final, TypeAlias

from benchmarks.harness import NotMeasurable, Row, percentile, seconds
from benchmarks.http import MODEL, append_all, new_session
from benchmarks.processes import serving
from benchmarks.views import request
from benchmarks.work import SAID, Summarizer, new_sessions, request_summary
from foldline import migrations
from foldline.log.jobs.indexing import index_session
from foldline.log.storage.store import Store
from foldline.replay.embedded import PrivateService, kept_service

SIDE: Final = "foldline serve"
TENANT: Final = "default"
JOBS: Final = 500
# Those that may end while the rows are measured: each of the worker's four slots ends two in a minute.
SPARE_JOBS: Final = 100
CALL_SECONDS: Final = 30
# Requests of a round: so many that its p99 is not the pause of a moment, of either side.
REQUESTS: Final = {50: 400, 99: 2_000}
ROUNDS: Final = 7
COUNTED: Final = re.compile(r"^foldline_queue_jobs\{.*\} (\S+)$", re.MULTILINE)

Request: TypeAlias = Callable[[str], object]


def rows(folder: Path) -> Iterator[Row]:
    """The rows, of two services: one whose own worker does the jobs, and one without any."""
    with (
        serving(folder, "benchmarks.slow_llm", "--delay", str(CALL_SECONDS)) as llm,
        _service(f"sqlite:///{folder}/busy.db", llm, JOBS + SPARE_JOBS) as busy,
        _service(f"sqlite:///{folder}/quiet.db", llm, 0) as quiet,
    ):
        # The worker has begun.
        Summarizer(llm).arrival(0)
        for name, ask, percent in MEASURED:
            turns = _Turns(busy, quiet, ask, percent)
            yield Row(
                name=f"{name} while {JOBS} jobs of {CALL_SECONDS} s wait or run",
                ours=f"p{percent}, other sessions of {SIDE}",
                theirs=f"p{percent} without jobs",
                time_ours=turns.time_busy,
                time_theirs=turns.time_quiet,
                at_most=1.1,
                rounds=ROUNDS,
            )


def _service(database_url: str, llm: str, jobs: int) -> AbstractContextManager[PrivateService]:
    """A service on a new database, in which so many jobs wait when it starts."""
    store = Store(database_url)
    migrations.upgrade(store.engine)
    ids = new_sessions(store, TENANT, jobs)
    with store.write() as tx:
        for session_id in ids:
            request_summary(tx, TENANT, session_id)
    for session_id in ids:
        # The sweep has done this for a service that was up when they were said.
        index_session(store, TENANT, session_id, len(SAID))
    store.close()
    summarizer = {"": "openai", "_BASE_URL": f"{llm}/v1", "_MODEL": "slow"}
    return kept_service(database_url, {f"FOLDLINE_SUMMARIZER{name}": value for name, value in summarizer.items()})


class _Turns:
    """Times one request to each service in turn: what else the machine does falls on the longest ones of both."""

    def __init__(self, busy: PrivateService, quiet: PrivateService, request: Request, percent: int) -> None:
        self._busy = busy
        self._quiet = quiet
        self._request = request
        self._percent = percent
        self._rounds: list[tuple[float, float]] = []
        self._busy_rounds, self._quiet_rounds = count(), count()

    def time_busy(self) -> float:
        """The percentile of the seconds of the next round's requests to the service with jobs."""
        return self._round(next(self._busy_rounds))[0]

    def time_quiet(self) -> float:
        """The same of the service without jobs."""
        return self._round(next(self._quiet_rounds))[1]

    def _round(self, number: int) -> tuple[float, float]:
        """This round, which is made for the first side that asks for it."""
        if number == len(self._rounds):
            self._rounds.append(self._made())
        return self._rounds[number]

    def _made(self) -> tuple[float, float]:
        busy, quiet = (_new_session(service) for service in (self._busy, self._quiet))
        taken: dict[str, list[float]] = {busy: [], quiet: []}
        order = [busy, quiet]
        for _ in range(REQUESTS[self._percent]):
            for session in order:
                taken[session].append(seconds(partial(self._request, session)))
            order.reverse()
        left = sum(map(float, COUNTED.findall(self._busy.metrics())))
        if left < JOBS:
            raise NotMeasurable(SIDE, f"has only {left:.0f} jobs left")
        return percentile(taken[busy], self._percent), percentile(taken[quiet], self._percent)


def _new_session(service: PrivateService) -> str:
    """The address at which to append to a new session with a message."""
    session = new_session(service.url, MODEL)
    _append(session)
    return session


def _append(session: str) -> None:
    append_all([session], 1)


def _view(session: str) -> None:
    request("GET", session.replace("/messages", "/context"))


MEASURED: Final = (("append", _append, 50), ("append", _append, 99), ("view", _view, 99))
