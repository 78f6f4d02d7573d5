"""The OpenAPI document: the bodies and answers of routes, shown at `/docs`.

Routes read and write JSON by themselves, so its models describe and do not convert.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from fastapi import FastAPI
from fastapi.routing import APIRoute
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from foldline_api.http.problems import MEDIA_TYPE
from foldline_api.schemas.answers import Problem
from foldline_api.schemas.bodies import Body

_REFERENCE: Final = "#/components/schemas/{model}"


def described(
    answer: type[BaseModel] | None,
    status: int = HTTPStatus.OK,
    *,
    body: type[Body] | None = None,
    stream: str | None = None,
    others: Mapping[int, str] | None = None,
) -> dict[str, Any]:
    """Arguments of a route's decorator that describe its body and answers; `stream` is a media type, if not JSON."""
    success: dict[str, Any] = {"description": HTTPStatus(status).phrase}
    if answer is not None:
        success["model"] = answer
    if stream is not None:
        success["content"] = {stream: {"schema": {"type": "string"}}}
    responses: dict[int | str, dict[str, Any]] = {
        int(status): success,
        **{code: {"description": text} for code, text in (others or {}).items()},
        "default": {"description": "A problem.", "content": {MEDIA_TYPE: {"schema": _reference(Problem)}}},
    }
    extra = {} if body is None else {"requestBody": {"content": {"application/json": {"schema": _reference(body)}}}}
    return {"responses": responses, "status_code": int(status), "response_model": None, "openapi_extra": extra}


def _reference(model: type[BaseModel]) -> dict[str, str]:
    return {"$ref": _REFERENCE.format(model=model.__name__)}


def operation_id(route: APIRoute) -> str:
    """What generated clients call a route: the name of its function, which no other route's has."""
    return route.name


class DescribedApp(FastAPI):
    """An application whose description also has the models that FastAPI does not see."""

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            described_ = super().openapi()
            schemas = described_.setdefault("components", {}).setdefault("schemas", {})
            schemas.update(_unseen_schemas())
            described_["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
            described_["security"] = [{"key": []}, {}]
        return super().openapi()


def _unseen_schemas() -> dict[str, Any]:
    models: list[type[BaseModel]] = [Problem, *_leaves(Body)]
    _, schema = models_json_schema([(model, "validation") for model in models], ref_template=_REFERENCE)
    definitions: dict[str, Any] = schema["$defs"]
    return dict(sorted(definitions.items()))


def _leaves(model: type[Body]) -> list[type[Body]]:
    """A model's descendants."""
    return [found for child in model.__subclasses__() for found in (child, *_leaves(child))]
