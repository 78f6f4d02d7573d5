"""What there is to choose from: models with their windows, and presets."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from api.answers import json_response
from api.incoming import FromRequest
from api.openapi import described
from api.schemas import ModelAnswer, Page, PresetAnswer
from compaction.budget import budget_of
from compaction.policy import policy_of, to_json
from compaction.presets import DEFAULT_PRESET, PRESETS
from compaction.windows import MODELS

router = APIRouter(tags=["catalog"])


@router.get("/models", **described(Page[ModelAnswer]))
def list_models(
    _incoming: FromRequest, preset: Annotated[str, Query(description="For its trigger and target.")] = DEFAULT_PRESET
) -> Response:
    """List the models whose window is known, by the beginning of their name; others need `context_window`."""
    policy = policy_of({"preset": preset}, PRESETS)
    items = []
    for provider, names in MODELS.items():
        for name, window in names.items():
            limit = budget_of(window).limit
            items.append(
                {
                    "model": f"{provider}/{name}",
                    "context_window": window.tokens,
                    "is_exact": window.is_exact,
                    "limit": limit,
                    "trigger_tokens": int(limit * policy.trigger),
                    "target_tokens": int(limit * policy.target),
                }
            )
    return json_response({"items": items, "next_cursor": None})


@router.get("/presets", **described(Page[PresetAnswer]))
def list_presets(_incoming: FromRequest) -> Response:
    """List the presets: policies with a name."""
    return json_response({"items": [to_json(policy) for policy in PRESETS.values()], "next_cursor": None})
