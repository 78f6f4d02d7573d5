"""What operators ask: is the process alive, can it work, what does it do."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import APIRouter, Request, Response

from api.answers import answer, json_response, respond
from api.broker import broker_problem
from api.metrics import Metrics
from api.openapi import described
from api.schemas import HealthAnswer, ReadyAnswer
from api.service import Service
from sessions.errors import Unavailable
from sessions.listing import count_active

router = APIRouter(tags=["operation"])


@router.get("/healthz", **described(HealthAnswer))
async def live() -> Response:
    """Whether the process answers."""
    return json_response({"status": "ok"})


@router.get("/readyz", **described(ReadyAnswer, others={503: "The database does not answer."}))
def ready(request: Request) -> Response:
    """Whether requests can be served. They need the database; without the broker only summaries wait."""
    service: Service = request.app.state.service
    database, broker = _database_problem(service), broker_problem(service.settings.broker_url)
    code = HTTPStatus.OK if database is None else HTTPStatus.SERVICE_UNAVAILABLE
    status = "unavailable" if database else "degraded" if broker else "ok"
    return respond(answer({"status": status, "database": database or "ok", "broker": broker or "ok"}, code))


def _database_problem(service: Service) -> str | None:
    try:
        with service.store.read() as tx:
            count_active(tx)
    except Unavailable:
        return "does not answer"
    return None


@router.get("/metrics", **described(None, stream="text/plain"))
def metrics(request: Request) -> Response:
    """Requests by route, their latency, and jobs under way, for Prometheus."""
    service: Service = request.app.state.service
    counted: Metrics = request.app.state.metrics
    with service.store.read() as tx:
        active = count_active(tx)
    return Response(counted.text(active), media_type=counted.media_type)
