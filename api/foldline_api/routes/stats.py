"""How much of its budget a session's view takes, now or together with the next call."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response

from foldline.log.use_cases.stats import Stats, stats, stats_with_call
from foldline_api import serializers
from foldline_api.http.request import FromRequest
from foldline_api.http.responses import json_response
from foldline_api.http.route_classes import ReadingRoute
from foldline_api.schemas.answers import PendingAnswer, StatsAnswer
from foldline_api.schemas.bodies import PendingBody
from foldline_api.schemas.openapi import described
from foldline_api.schemas.parameters import MaxOutputTokens, Model

router = APIRouter(tags=["statistics"], route_class=ReadingRoute)


@router.get("/sessions/{session_id}/stats", **described(StatsAnswer))
def read_stats(
    session_id: str, incoming: FromRequest, model: Model = None, max_output_tokens: MaxOutputTokens = None
) -> Response:
    """Read how much of the budget the view takes, for the session's model or another."""
    with incoming.service.store.read() as tx:
        found = stats(tx, incoming.tenant, session_id, model=model, max_output_tokens=max_output_tokens)
    return json_response(_stats_json(found))


@router.post("/sessions/{session_id}/budget", **described(PendingAnswer, body=PendingBody))
def check_session_budget(session_id: str, incoming: FromRequest) -> Response:
    """Compute how much of the budget the next call would take, and how much of each of its files to send."""
    body = incoming.body(PendingBody)
    files = [file.model_dump(exclude_none=True) for file in body.files]
    with incoming.service.store.read() as tx:
        found = stats_with_call(
            tx,
            incoming.tenant,
            session_id,
            prompt=body.prompt,
            tools=body.tools,
            files=files,
            files_share=body.files_share,
            threshold=body.threshold,
        )
    return json_response({**_stats_json(found), "files": [serializers.file_json(file) for file in found.files]})


def _stats_json(found: Stats) -> dict[str, Any]:
    return {
        "estimated_input_tokens": found.used,
        "available_input_tokens": found.limit,
        "usage_ratio": round(found.usage_ratio, 4),
        "trigger_ratio": round(found.trigger_ratio, 4),
        "within_budget": found.used <= found.limit,
        "should_compact": found.should_compact,
        "counted_tokens": found.counted_tokens,
        "trigger_tokens": found.trigger_tokens,
        "target_tokens": found.target_tokens,
        "warning_level": found.warning_level,
        "message_count": found.message_count,
        "pending_tokens": found.pending_tokens,
        "breakdown": dict(found.breakdown),
    }
