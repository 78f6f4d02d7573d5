"""The catalogue: models with their context windows, and presets."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from foldline.engine.models.catalog import CatalogRow, catalog
from foldline.engine.policies.policy import to_json
from foldline.engine.policies.presets import DEFAULT_PRESET, PRESETS
from foldline_api.http.problems import InvalidRequest
from foldline_api.http.request import FromRequest
from foldline_api.http.responses import json_response
from foldline_api.http.route_classes import ThreadRoute
from foldline_api.schemas.answers import ModelAnswer, Page, PresetAnswer
from foldline_api.schemas.openapi import described

router = APIRouter(tags=["catalog"], route_class=ThreadRoute)


@router.get("/models", **described(Page[ModelAnswer]))
def list_models(
    _incoming: FromRequest,
    preset: Annotated[str, Query(description="The preset whose models, trigger and target to list.")] = DEFAULT_PRESET,
) -> Response:
    """List the models whose context window is known, with the source of each window and the model's prices.

    A session with another model needs `context_window`. Names may lack the provider, have a date, or name a cloud. A
    preset that follows another system adds the models that this system knows. `trigger_tokens` and `target_tokens` are
    counted as the preset counts, `limit` exactly.
    """
    if preset not in PRESETS:
        raise InvalidRequest("query.preset", f"must be the name of a preset: {', '.join(PRESETS)}")
    return json_response({"items": [_model_json(model) for model in catalog(PRESETS[preset])], "next_cursor": None})


def _model_json(found: CatalogRow) -> dict[str, Any]:
    return {
        "model": found.model,
        "context_window": found.context_window,
        "listed_window": found.listed_window,
        "is_exact": found.is_exact,
        "source": found.source,
        "prices": found.prices._asdict() if found.prices else None,
        "limit": found.limit,
        "trigger_tokens": found.trigger,
        "target_tokens": found.target,
    }


@router.get("/presets", **described(Page[PresetAnswer]))
def list_presets(_incoming: FromRequest) -> Response:
    """List the presets, which are policies with a name."""
    return json_response({"items": [to_json(policy) for policy in PRESETS.values()], "next_cursor": None})
