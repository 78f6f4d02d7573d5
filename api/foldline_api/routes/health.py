"""What operators ask: is the process alive, can it work, what does it do."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import APIRouter, FastAPI, Request, Response

from foldline.telemetry.health import Health
from foldline.telemetry.metrics import Metrics
from foldline_api.http.responses import answer, json_response, respond
from foldline_api.schemas.answers import HealthAnswer, ReadyAnswer
from foldline_api.schemas.openapi import described


@asynccontextmanager
async def _asking(app: FastAPI) -> AsyncIterator[None]:
    app.state.vitals = Health(app.state.subject)
    yield


router = APIRouter(tags=["operation"], lifespan=_asking)


@router.get("/healthz", **described(HealthAnswer))
async def check_liveness() -> Response:
    """Whether the process answers."""
    return json_response({"status": "ok"})


@router.get("/readyz", **described(ReadyAnswer, others={503: "The database does not answer."}))
async def check_readiness(request: Request) -> Response:
    """Whether requests can be served. They need the database; without the broker only summaries wait."""
    vitals: Health = request.app.state.vitals
    found = await vitals.readiness()
    return respond(answer(found.shown, found.code))


@router.get("/metrics", **described(None, stream="text/plain"))
async def read_metrics(request: Request) -> Response:
    """Requests, jobs and what waits, for Prometheus; docs/metrics.md has the names."""
    vitals: Health = request.app.state.vitals
    return Response(await vitals.metrics_text(), media_type=Metrics.media_type)
