"""What operators ask: is the process alive, can it work, what does it do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from http import HTTPStatus
from time import monotonic
from typing import Final

import anyio
import anyio.to_thread
from fastapi import APIRouter, FastAPI, Request, Response

from api.answers import answer, json_response, respond
from api.broker import broker_answers
from api.metrics import Metrics
from api.openapi import described
from api.schemas import HealthAnswer, ReadyAnswer
from api.service import Service
from sessions.errors import Unavailable
from sessions.listing import count_active
from sessions.store import Store

# Kubernetes waits 1 s for the answer, unless it is told otherwise.
PATIENCE_SECONDS: Final = 0.8


class Check:
    """Asks one part of the service whether it answers: on a thread that requests do not use, and once at a time.

    Whoever comes while it is asked shares the answer. A part that keeps silent for longer than `PATIENCE_SECONDS` does
    not answer, to those who come later at once, until it does.
    """

    def __init__(self, ask: Callable[[], bool]) -> None:
        self._ask = ask
        self._limiter = anyio.CapacityLimiter(1)
        self._task: asyncio.Task[bool] | None = None
        self._deadline = 0.0

    async def answers(self) -> bool:
        """Whether it answers."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._asked(), name="foldline-check")
            self._deadline = monotonic() + PATIENCE_SECONDS
        done, _ = await asyncio.wait([self._task], timeout=max(0.0, self._deadline - monotonic()))
        return any(task.result() for task in done)

    async def _asked(self) -> bool:
        # The service may stop while it waits for an answer.
        return await anyio.to_thread.run_sync(self._ask, abandon_on_cancel=True, limiter=self._limiter)


@asynccontextmanager
async def _checking(app: FastAPI) -> AsyncIterator[None]:
    service: Service = app.state.service
    app.state.checks = {
        "database": Check(partial(_database_answers, service.store)),
        "broker": Check(partial(broker_answers, service.settings)),
    }
    yield


def _database_answers(store: Store) -> bool:
    try:
        with store.read() as tx:
            count_active(tx)
    except Unavailable:
        return False
    return True


router = APIRouter(tags=["operation"], lifespan=_checking)


@router.get("/healthz", **described(HealthAnswer))
async def live() -> Response:
    """Whether the process answers."""
    return json_response({"status": "ok"})


@router.get("/readyz", **described(ReadyAnswer, others={503: "The database does not answer."}))
async def ready(request: Request) -> Response:
    """Whether requests can be served. They need the database; without the broker only summaries wait."""
    checks: dict[str, Check] = request.app.state.checks
    answering = await asyncio.gather(*(check.answers() for check in checks.values()))
    parts = dict(zip(checks, answering, strict=True))
    status = "unavailable" if not parts["database"] else "ok" if parts["broker"] else "degraded"
    code = HTTPStatus.OK if parts["database"] else HTTPStatus.SERVICE_UNAVAILABLE
    shown = {name: "ok" if is_there else "does not answer" for name, is_there in parts.items()}
    return respond(answer({"status": status, **shown}, code))


@router.get("/metrics", **described(None, stream="text/plain"))
def metrics(request: Request) -> Response:
    """Requests by route, their latency, and jobs under way, for Prometheus."""
    service: Service = request.app.state.service
    counted: Metrics = request.app.state.metrics
    with service.store.read() as tx:
        active = count_active(tx)
    return Response(counted.text(active), media_type=counted.media_type)
