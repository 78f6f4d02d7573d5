"""How requests are refused: with a problem document, or, on the routes of a provider's API, with an error like its."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, Final

from fastapi import Response
from starlette.datastructures import Headers
from starlette.types import Scope

from foldline.engine.wire import dumps
from foldline.log.errors import TenantLimitReached
from foldline_api.http.problems import (
    PROBLEM_TYPES,
    BodiesFull,
    BodyTooLarge,
    BodyTooSlow,
    Forbidden,
    Unauthorized,
    problem,
)
from foldline_api.http.responses import JSON

ANTHROPIC: Final = "anthropic"
OPENAI: Final = "openai"
# The prefixes under which all routes of a provider go through; without a prefix, those that are understood.
PREFIXES: Final = {"/anthropic": ANTHROPIC, "/openai": OPENAI}
# How the paths of all routes of the gateway begin.
PATHS: Final = ("/v1/", *(f"{prefix}/" for prefix in PREFIXES))
# The kinds of errors as Anthropic names them; without a name, it is an error of the server.
NAMES: Final[Mapping[type[Exception], str]] = MappingProxyType(
    {
        BodyTooLarge: "request_too_large",
        BodyTooSlow: "timeout_error",
        BodiesFull: "overloaded_error",
        Unauthorized: "authentication_error",
        Forbidden: "permission_error",
        TenantLimitReached: "rate_limit_error",
    }
)


def refusal(scope: Scope, error: Exception) -> Response:
    """The answer to a request that is refused for this error, which is in the table of problems."""
    if scope["path"].startswith(PATHS):
        return error_like(upstream_of(scope["path"], Headers(scope=scope)), error)
    return problem(error)


def upstream_of(path: str, headers: Headers) -> str:
    """Whose API a path of the gateway is of. Of a path that both have, Anthropic's clients name its version."""
    of_prefix = next((name for prefix, name in PREFIXES.items() if path.startswith(f"{prefix}/")), None)
    is_anthropics = "anthropic-version" in headers or path.startswith("/v1/messages")
    return of_prefix or (ANTHROPIC if is_anthropics else OPENAI)


def error_like(upstream: str, error: Exception) -> Response:
    """An error of ours in the shape of the provider's."""
    known = PROBLEM_TYPES.get(type(error))
    status, headers = (known.status, known.headers(error)) if known else (HTTPStatus.BAD_GATEWAY, {})
    setting = known.facts(error).get("setting") if known else None
    said = (known.detail if known else None) or str(error)
    message = f"Foldline: {said}" + (f" ({setting})" if setting else "")
    detail: dict[str, Any] = {"type": NAMES.get(type(error), "api_error"), "message": message}
    body = {"type": "error", "error": detail} if upstream == ANTHROPIC else {"error": {**detail, "code": None}}
    return Response(dumps(body), status.value, headers=headers, media_type=JSON)
