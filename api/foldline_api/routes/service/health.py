"""Health checks of the process. Its metrics are of all tenants, so they are on the operator's port alone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import APIRouter, FastAPI, Request, Response

from foldline.telemetry.health import Health
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
