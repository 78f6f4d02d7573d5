"""Errors as problem documents (RFC 9457): one table has the type and status of each exception.

Errors that only HTTP has are defined here; the others come from `foldline.engine.errors` and `foldline.log.errors`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import Match, Route

from foldline.engine import errors as engine
from foldline.engine.session_files.pi import MalformedLine
from foldline.engine.wire import dumps
from foldline.log import errors as log
from foldline.settings import variable
from foldline_api.http.verdicts import verdict_json

logger = logging.getLogger(__name__)

MEDIA_TYPE: Final = "application/problem+json"
RETRY_SECONDS: Final = "1"


class RequestError(Exception):
    """Root of the errors that only HTTP has."""


class MalformedJson(RequestError):
    """The body is not JSON; `place` has `position`, `line` and `column`, if they are known."""

    def __init__(self, detail: str, place: Mapping[str, int]) -> None:
        super().__init__(f"the body is not JSON: {detail}")
        self.place = place


class InvalidRequest(RequestError):
    """A header, parameter or field has the wrong shape; `path` names it."""

    def __init__(self, path: str, detail: str) -> None:
        super().__init__(f"{path}: {detail}")
        self.path = path


class NoRoute(RequestError):
    """The service has no such path."""

    def __init__(self, path: str) -> None:
        super().__init__(f"there is no route {path}")


class MethodNotAllowed(RequestError):
    """The path does not take the request's method; `allowed` are those that it takes."""

    def __init__(self, method: str, path: str, allowed: list[str]) -> None:
        super().__init__(f"{path} does not take {method}; it takes {', '.join(allowed)}")
        self.allowed = allowed


class BodyTooLarge(RequestError):
    """The body has more bytes than the service takes."""

    def __init__(self, limit_bytes: int) -> None:
        super().__init__(f"the body has more than {limit_bytes} bytes, the most this service takes")
        self.limit_bytes = limit_bytes


class Overloaded(RequestError):
    """The request would be beyond what the process bears at one time; `setting` names the limit, `most` its value."""

    def __init__(self, most: int, setting: str, what: str) -> None:
        super().__init__(what)
        self.most = most
        self.setting = setting


class BodyTooSlow(Overloaded):
    """The body arrives more slowly than the service waits for."""

    def __init__(self, bytes_per_second: int) -> None:
        what = "the body arrives too slowly; send it again over a better connection, or in smaller requests"
        super().__init__(bytes_per_second, "body_bytes_per_second", what)


class BodiesFull(Overloaded):
    """The bodies that arrive, or the answers that wait for their clients, take all the memory for them."""

    def __init__(self, most: int) -> None:
        super().__init__(most, "max_bodies_bytes", "others that are as large arrive or leave now; try again later")


class TooManyLarge(Overloaded):
    """As many large requests of the tenant as the service allows wait already."""

    def __init__(self, most: int) -> None:
        what = "too many large requests wait already; try again later"
        super().__init__(most, "large_requests_waiting", what)


class Unauthorized(RequestError):
    """The request has no valid key, or the service has no keys and the request is not from this machine."""


class Forbidden(RequestError):
    """The caller's key is known, and lacks the scope that the route needs."""

    def __init__(self, scope: str) -> None:
        super().__init__(f"this needs a key with the scope `{scope}`, which this key does not have")
        self.scope = scope


class TooManyWaiting(Overloaded):
    """As many clients as the service allows wait for jobs already."""

    def __init__(self, most: int) -> None:
        what = "too many clients wait for jobs; read the job's state instead, or try again later"
        super().__init__(most, "job_waiters", what)


@dataclass(frozen=True, slots=True)
class ProblemType:
    """A row of the table: the problem's name and status, and the facts of the error that go into the document.

    `detail` replaces the error's own text if that text may quote internals.
    """

    name: str
    status: HTTPStatus
    facts: Callable[[Any], Mapping[str, Any]] = lambda _error: {}
    headers: Callable[[Any], Mapping[str, str]] = lambda _error: {}
    detail: str | None = None

    @property
    def title(self) -> str:
        """The name as a title."""
        words = self.name.replace("-", " ")
        return words[0].upper() + words[1:].replace("json", "JSON")


_UNPROCESSABLE: Final = HTTPStatus.UNPROCESSABLE_ENTITY


def _again(_error: Exception) -> Mapping[str, str]:
    return {"Retry-After": RETRY_SECONDS}


def _limit(error: log.LimitExceeded | log.TenantLimitReached | Overloaded) -> Mapping[str, Any]:
    """The limit's name, its value, and the environment variable that sets it."""
    return {
        "limit": error.setting.removeprefix("max_"),
        "value": error.most,
        "setting": variable(error.setting),
    }


def _unread(_error: Exception) -> Mapping[str, str]:
    """The header of an answer before the body was read, after which the connection cannot be used again."""
    return {"Connection": "close"}


PROBLEM_TYPES: Final[Mapping[type[Exception], ProblemType]] = {
    MalformedJson: ProblemType("malformed-json", HTTPStatus.BAD_REQUEST, lambda error: error.place),
    InvalidRequest: ProblemType("invalid-request", _UNPROCESSABLE, lambda error: {"path": error.path}),
    engine.InvalidMessage: ProblemType("invalid-request", _UNPROCESSABLE, lambda error: {"path": error.path}),
    MalformedLine: ProblemType("invalid-request", _UNPROCESSABLE, lambda error: {"path": "file", "line": error.line}),
    engine.InvalidPolicy: ProblemType("invalid-request", _UNPROCESSABLE, lambda error: {"path": error.field}),
    log.UnknownVersion: ProblemType("invalid-request", _UNPROCESSABLE, lambda _error: {"path": "usage.version"}),
    log.UnknownEntry: ProblemType("invalid-request", _UNPROCESSABLE, lambda _error: {"path": "entry_id"}),
    log.NotFound: ProblemType("not-found", HTTPStatus.NOT_FOUND),
    NoRoute: ProblemType("not-found", HTTPStatus.NOT_FOUND),
    MethodNotAllowed: ProblemType(
        "method-not-allowed", HTTPStatus.METHOD_NOT_ALLOWED, lambda error: {"allowed": error.allowed}
    ),
    log.Conflict: ProblemType("conflict", HTTPStatus.CONFLICT),
    log.StaleVersion: ProblemType(
        "stale-version", HTTPStatus.PRECONDITION_FAILED, lambda error: {"current_version": error.current}
    ),
    log.UnknownParent: ProblemType(
        "unknown-parent", HTTPStatus.PRECONDITION_FAILED, lambda error: {"newest_message": error.newest}
    ),
    BodyTooLarge: ProblemType(
        "body-too-large",
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        lambda error: {
            "limit_bytes": error.limit_bytes,
            "limit": "body_bytes",
            "value": error.limit_bytes,
            "setting": variable("max_body_bytes"),
        },
        _unread,
    ),
    BodyTooSlow: ProblemType("body-too-slow", HTTPStatus.REQUEST_TIMEOUT, _limit, _unread),
    BodiesFull: ProblemType("unavailable", HTTPStatus.SERVICE_UNAVAILABLE, _limit, _again),
    TooManyLarge: ProblemType("unavailable", HTTPStatus.SERVICE_UNAVAILABLE, _limit, _again),
    TooManyWaiting: ProblemType("unavailable", HTTPStatus.SERVICE_UNAVAILABLE, _limit, _again),
    log.LimitExceeded: ProblemType("limit-exceeded", _UNPROCESSABLE, _limit),
    log.TenantLimitReached: ProblemType(
        "too-many-requests",
        HTTPStatus.TOO_MANY_REQUESTS,
        _limit,
        lambda error: {"Retry-After": str(error.retry_seconds)},
    ),
    engine.UnknownModel: ProblemType(
        "unknown-model", _UNPROCESSABLE, lambda error: {"model": error.model, "nearest": error.nearest}
    ),
    engine.FixedPartsDoNotFit: ProblemType(
        "fixed-parts-do-not-fit",
        _UNPROCESSABLE,
        lambda error: {"fixed_tokens": error.fixed_tokens, "target_tokens": error.target_tokens},
    ),
    engine.ViewDoesNotFit: ProblemType(
        "view-does-not-fit",
        _UNPROCESSABLE,
        lambda error: {
            "used_tokens": error.used_tokens,
            "limit_tokens": error.limit_tokens,
            "entries": [{"id": name, "tokens": tokens} for name, tokens in error.entries],
        },
    ),
    engine.ImagesDoNotFit: ProblemType(
        "images-do-not-fit",
        _UNPROCESSABLE,
        lambda error: {
            "images": error.shown[0],
            "image_bytes": error.shown[1],
            "limit_images": error.most[0],
            "limit_image_bytes": error.most[1],
        },
    ),
    log.CallsOpen: ProblemType("calls-open", HTTPStatus.CONFLICT, lambda error: {"open_calls": error.calls}),
    log.PinTooLarge: ProblemType(
        "pin-too-large",
        _UNPROCESSABLE,
        lambda error: {"tokens": error.tokens, "limit_tokens": error.limit_tokens},
    ),
    log.CannotShrink: ProblemType(
        "cannot-shrink",
        _UNPROCESSABLE,
        lambda error: {
            "used_tokens": error.used_tokens,
            "target_tokens": error.target_tokens,
            "verdict": verdict_json(error.verdict),
        },
    ),
    log.RedoSuperseded: ProblemType("redo-superseded", HTTPStatus.CONFLICT),
    log.IdempotencyMismatch: ProblemType("idempotency-mismatch", _UNPROCESSABLE),
    log.IdempotencyInFlight: ProblemType("idempotency-in-flight", HTTPStatus.CONFLICT, headers=_again),
    Unauthorized: ProblemType(
        "unauthorized",
        HTTPStatus.UNAUTHORIZED,
        headers=lambda _error: {"WWW-Authenticate": 'Bearer realm="foldline"'},
    ),
    Forbidden: ProblemType("forbidden", HTTPStatus.FORBIDDEN, lambda error: {"scope": error.scope}),
    log.Unavailable: ProblemType(
        "unavailable",
        HTTPStatus.SERVICE_UNAVAILABLE,
        headers=_again,
        detail="the database does not answer; try again later",
    ),
    log.FileGone: ProblemType(
        "unavailable",
        HTTPStatus.SERVICE_UNAVAILABLE,
        detail="the database file was deleted or replaced while the service had it open, and nothing is stored: stop "
        "the service, put the file back, and start it again",
    ),
    log.DiskFull: ProblemType(
        "unavailable",
        HTTPStatus.SERVICE_UNAVAILABLE,
        headers=_again,
        detail="the database has no room left on its disk, and nothing was stored",
    ),
    log.SealingKeyMissing: ProblemType(
        "unavailable",
        HTTPStatus.SERVICE_UNAVAILABLE,
        detail="the database has values that none of the keys in FOLDLINE_ENCRYPTION_KEYS opens",
    ),
    log.DamagedValue: ProblemType("unavailable", HTTPStatus.SERVICE_UNAVAILABLE),
    log.OutcomeUnknown: ProblemType(
        "outcome-unknown",
        HTTPStatus.SERVICE_UNAVAILABLE,
        # Without `Retry-After`, which would invite clients to do it twice.
        detail="the database broke off or kept silent before this was answered, so it may be done: repeat it with the "
        "same Idempotency-Key, or without one, read first what is there",
    ),
    log.Busy: ProblemType(
        "unavailable",
        HTTPStatus.SERVICE_UNAVAILABLE,
        headers=_again,
        detail="other requests are writing to the same session, or all connections are in use; try again later",
    ),
}


def install(app: FastAPI) -> None:
    """Answer every error of the application's routes with a problem document."""
    for error in PROBLEM_TYPES:
        app.add_exception_handler(error, _known)
    app.add_exception_handler(RequestValidationError, _parameter)
    app.add_exception_handler(HTTPException, _plain)
    app.add_exception_handler(Exception, _unforeseen)


def problem(error: Exception) -> Response:
    """The problem document of an error that is in the table."""
    kind = PROBLEM_TYPES[type(error)]
    if kind.detail is not None:
        logger.warning("%s: %s", kind.name, error)
    body = {
        "type": f"/problems/{kind.name}",
        "title": kind.title,
        "status": int(kind.status),
        "detail": kind.detail or str(error),
        **kind.facts(error),
    }
    return Response(dumps(body), kind.status, headers=kind.headers(error), media_type=MEDIA_TYPE)


async def _known(_request: Request, error: Exception) -> Response:
    return problem(error)


async def _parameter(_request: Request, error: Exception) -> Response:
    """Answers with the problem of a query parameter that FastAPI refused."""
    found = error.errors()[0] if isinstance(error, RequestValidationError) else {"loc": (), "msg": str(error)}
    return problem(InvalidRequest(".".join(map(str, found["loc"])), str(found["msg"])))


async def _plain(request: Request, error: Exception) -> Response:
    """Answers with the problem of an unknown route, or of a method that the path does not take."""
    if not isinstance(error, HTTPException) or error.status_code != HTTPStatus.METHOD_NOT_ALLOWED:
        return problem(NoRoute(request.url.path))
    allowed = _methods(request)
    response = problem(MethodNotAllowed(request.method, request.url.path, allowed))
    response.headers["Allow"] = ", ".join(allowed)
    return response


def _methods(request: Request) -> list[str]:
    """The methods of a path. Several routes may share it, and the framework names only those of the first."""
    routes: list[Route] = request.app.state.routes
    matching = [route for route in routes if route.matches(request.scope)[0] is not Match.NONE]
    return sorted({method for route in matching for method in route.methods or ()})


async def _unforeseen(_request: Request, _error: Exception) -> Response:
    """Answers an error that is not in the table, which is a bug; the server logs it."""
    status = HTTPStatus.INTERNAL_SERVER_ERROR
    body = {"type": "about:blank", "title": status.phrase, "status": int(status)}
    return Response(dumps(body), status, media_type=MEDIA_TYPE)
