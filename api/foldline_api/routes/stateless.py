"""The engine without sessions: compact messages, or count them. No LLM is called."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response

from foldline.engine.library import budget, compact
from foldline_api import serializers
from foldline_api.http.request import FromRequest
from foldline_api.http.responses import json_response
from foldline_api.http.route_classes import CostlyReadingRoute
from foldline_api.schemas.answers import StatelessBudgetAnswer, StatelessCompactAnswer
from foldline_api.schemas.bodies import StatelessBody, StatelessBudgetBody, StatelessCompactBody
from foldline_api.schemas.openapi import described

router = APIRouter(tags=["stateless"], route_class=CostlyReadingRoute)


@router.post("/compact", **described(StatelessCompactAnswer, body=StatelessCompactBody))
def compact_messages(incoming: FromRequest) -> Response:
    """Compact messages with the cheap stages and, with `summarize`, an extractive summary. No LLM is called."""
    body = incoming.body(StatelessCompactBody)
    found = compact(
        body.messages, **_call(body), policy=body.policy, target_tokens=body.target_tokens, stages=body.stages,
        summarize=body.summarize, max_images=body.max_images, max_image_bytes=body.max_image_bytes,
    )  # fmt: skip
    return json_response(
        {
            "messages": found.messages,
            "compacted": bool(found.stages_used or found.images_left_out),
            "stages_used": list(found.stages_used),
            "tokens_before": found.tokens_before,
            "tokens_after": found.tokens_after,
            "tokens_saved": found.tokens_saved,
            "target": serializers.target_json(found.target, found.tokens_after),
            "budget": serializers.breakdown_json(found.budget),
            "orphaned_calls_fixed": found.orphaned_calls_fixed,
            "orphaned_results_fixed": found.orphaned_results_fixed,
            "images_left_out": found.images_left_out,
        }
    )


@router.post("/budget", **described(StatelessBudgetAnswer, body=StatelessBudgetBody))
def check_budget(incoming: FromRequest) -> Response:
    """Compute how much of a model's budget a call takes, and how much of each of its files to send."""
    body = incoming.body(StatelessBudgetBody)
    files = [file.model_dump(exclude_none=True) for file in body.files]
    found = budget(body.messages, **_call(body), prompt=body.prompt, files=files)
    return json_response(
        {**serializers.breakdown_json(found), "files": [serializers.file_json(file) for file in found.files]}
    )


def _call(body: StatelessBody) -> dict[str, Any]:
    return {
        "model": body.model, "context_window": body.context_window, "max_output_tokens": body.max_output_tokens,
        "system": body.system, "tools": body.tools or (), "format_name": body.format,
    }  # fmt: skip
