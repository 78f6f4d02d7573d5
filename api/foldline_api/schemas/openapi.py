"""The OpenAPI document: the bodies and answers of routes, shown at `/docs`.

Routes read and write JSON by themselves, so its models describe and do not convert.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from fastapi import FastAPI
from fastapi.routing import APIRoute
from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue, models_json_schema
from pydantic_core.core_schema import WithDefaultSchema

from foldline_api.http.problems import MEDIA_TYPE
from foldline_api.schemas.answers import Problem, ResponseModel
from foldline_api.schemas.bodies import Body

_REFERENCE: Final = "#/components/schemas/{model}"
# What pydantic replaces in the names of generic models.
_NO_NAME: Final = re.compile(r"[^a-zA-Z0-9._-]")
JSON: Final = "application/json"


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
        # Not as FastAPI's `model`, which would have the schema of each answer built at every start.
        success["content"] = {JSON: {"schema": _reference(answer)}}
    if stream is not None:
        success["content"] = {stream: {"schema": {"type": "string"}}}
    responses: dict[int | str, dict[str, Any]] = {
        int(status): success,
        **{code: {"description": text} for code, text in (others or {}).items()},
        "default": {"description": "A problem.", "content": {MEDIA_TYPE: {"schema": _reference(Problem)}}},
    }
    extra = {} if body is None else {"requestBody": {"content": {JSON: {"schema": _reference(body)}}}}
    return {"responses": responses, "status_code": int(status), "response_model": None, "openapi_extra": extra}


def _reference(model: type[BaseModel]) -> dict[str, str]:
    return {"$ref": _REFERENCE.format(model=_NO_NAME.sub("_", model.__name__))}


def operation_id(route: APIRoute) -> str:
    """What generated clients call a route: the name of its function, which no other route's has."""
    return route.name


class DescribedApp(FastAPI):
    """An application whose description also has the models that FastAPI does not see."""

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            described_ = super().openapi()
            schemas = described_.setdefault("components", {}).setdefault("schemas", {})
            schemas.update(_unseen_schemas(described_))
            described_["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
            described_["security"] = [{"key": []}, {}]
        return super().openapi()


def _unseen_schemas(document: Mapping[str, Any]) -> dict[str, Any]:
    """The schemas of bodies, of problems, and of the answers that the document names."""
    named = json.dumps(document)
    answers = [model for model in _descendants(ResponseModel) if json.dumps(_reference(model)["$ref"]) in named]
    _, of_answers = models_json_schema(
        [(model, "serialization") for model in answers], ref_template=_REFERENCE, schema_generator=_AnswerSchemas
    )
    bodies: list[type[BaseModel]] = [Problem, *_descendants(Body)]
    _, of_bodies = models_json_schema([(model, "validation") for model in bodies], ref_template=_REFERENCE)
    definitions: dict[str, Any] = {**of_answers["$defs"], **of_bodies["$defs"]}
    return dict(sorted(definitions.items()))


class _AnswerSchemas(GenerateJsonSchema):
    """Schemas of fields that may be absent do not say that they are null then."""

    def default_schema(self, schema: WithDefaultSchema) -> JsonSchemaValue:
        found = super().default_schema(schema)
        return {name: value for name, value in found.items() if (name, value) != ("default", None)}


def _descendants(model: type[BaseModel]) -> list[type[BaseModel]]:
    return [found for child in model.__subclasses__() for found in (child, *_descendants(child))]
