"""Health checks of the process, and its metrics."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import APIRouter, FastAPI, Request, Response

from foldline.telemetry.health import Health
from foldline.telemetry.metrics import Metrics
from foldline_api.http.responses import json_response
from foldline_api.schemas.answers import HealthAnswer, ReadyAnswer
from foldline_api.schemas.openapi import described


@asynccontextmanager
async def _with_health(app: FastAPI) -> AsyncIterator[None]:
    app.state.health = Health(app.state.subject)
    yield


router = APIRouter(tags=["operation"], lifespan=_with_health)


@router.get("/healthz", **described(HealthAnswer))
async def check_liveness() -> Response:
    """Say that the process answers."""
    return json_response({"status": "ok"})


@router.get("/readyz", **described(ReadyAnswer, others={503: "The database does not answer."}))
async def check_readiness(request: Request) -> Response:
    """Say whether the service can serve requests. They need the database; without the broker only summaries wait."""
    health: Health = request.app.state.health
    found = await health.readiness()
    return json_response(found.shown, found.code)


@router.get("/metrics", **described(None, stream="text/plain"))
async def read_metrics(request: Request) -> Response:
    """Read the metrics of requests, jobs and queues, for Prometheus; docs/metrics.md lists them."""
    health: Health = request.app.state.health
    return Response(await health.metrics_text(), media_type=Metrics.media_type)
