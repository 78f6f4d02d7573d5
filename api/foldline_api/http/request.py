"""A request as the routes see it: its tenant, its checked body, and its headers."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Final, TypeAlias, TypeVar

from fastapi import Depends, Request
from fastapi.concurrency import run_in_threadpool
from starlette.datastructures import Headers

from foldline.engine.wire import TooDeep
from foldline.log.access import audit
from foldline.log.access.audit import AuditedAction
from foldline.log.storage import paths
from foldline.log.storage.idempotency import Key
from foldline.log.storage.store import Transaction
from foldline.settings import Settings
from foldline_api.http.bounds.json_bounds import loads_within
from foldline_api.http.bounds.pieces import Pieces
from foldline_api.http.etags import InvalidTag, versions_in
from foldline_api.http.known_keys import Caller
from foldline_api.http.problems import BodyTooLarge, InvalidRequest, MalformedJson, NoRoute
from foldline_api.http.scopes import check_scope
from foldline_api.schemas.bodies import Body, checked
from foldline_api.service import AppState

B = TypeVar("B", bound=Body)
T = TypeVar("T")

KEY_CHARS_MAX: Final = 255
# What JSON takes for blank: Python's `strip` takes more away.
BLANK: Final = b" \t\r\n"
# No session has this version.
NO_VERSION: Final = 0
WITH_BODY: Final = frozenset({"POST", "PATCH"})

_WAIT: Final = re.compile(r"(?:^|[,;\s])wait\s*=\s*\"?(\d{1,9})\"?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """One request. Its body is parsed outside of the event loop; a large one is joined there, too.

    `session_id` is empty if the path has none.
    """

    service: AppState
    caller: Caller
    session_id: str
    route: str
    headers: Headers
    pieces: Pieces

    @property
    def raw(self) -> bytes:
        """The body as it came."""
        return self.pieces.whole()

    @property
    def tenant(self) -> str:
        """Whose it is."""
        return self.caller.tenant

    async def in_thread(self, work: Callable[..., T], *given: Any) -> T:
        """What `work` returns, done in a thread; of these, no tenant takes all."""
        async with self.service.places.for_small(self.caller):
            return await run_in_threadpool(work, *given)

    async def with_body_in_thread(self, work: Callable[..., T], *given: Any) -> T:
        """The same for work on the body; of these, few have a large one.

        Raises:
            TooManyLarge: the body is large, and as many such requests of the tenant wait as may.
        """
        places = self.service.places
        if not places.is_large(self.pieces):
            return await self.in_thread(work, *given)
        async with places.large.one(self.tenant):
            return await run_in_threadpool(work, *given)

    def note(self, tx: Transaction, action: AuditedAction, object_id: str | None = None) -> None:
        """Write into the audit trail, in the transaction of the effect, that the caller did this."""
        where = self.session_id or None
        audit.record(tx, self.tenant, self.caller.name, action, session_id=where, object_id=object_id)

    def body(self, model: type[B]) -> B:
        """The body, checked against a model. An empty body counts as an empty object.

        Raises:
            LimitExceeded: the body has too much of something.
            MalformedJson: it is not JSON.
            InvalidRequest: it has the wrong shape.
        """
        return checked(model, _parsed(self.raw, self.service.settings) if self.raw.strip(BLANK) else {})

    @property
    def if_match(self) -> int | None:
        """The version that `If-Match` requires. Of several versions, this is the session's present one, if it is named.

        Raises:
            InvalidRequest: the header is neither a version nor an ETag of this service.
            NotFound: the header names several versions, and there is no such session.
        """
        try:
            versions = versions_in(self.headers.getlist("if-match"))
        except InvalidTag as error:
            detail = f'must be "<version>" or an ETag of this service, not {error}'
            raise InvalidRequest("If-Match", detail) from error
        if versions is None:
            return None
        if len(versions) > 1:
            with self.service.store.read() as tx:
                present = paths.open_head(tx, self.tenant, self.session_id).session.version
            versions = versions & {present} or versions
        return max(versions, default=NO_VERSION)

    @property
    def key(self) -> Key | None:
        """The key under which the answer is stored; None without an `Idempotency-Key`.

        Raises:
            InvalidRequest: the header is empty or too long.
        """
        value = self.headers.get("idempotency-key")
        if value is None:
            return None
        if not 0 < len(value) <= KEY_CHARS_MAX:
            raise InvalidRequest("Idempotency-Key", f"must have 1 to {KEY_CHARS_MAX} characters")
        return Key(self.tenant, self.route, value, hashlib.sha256(self.raw).hexdigest())

    @property
    def wait_seconds(self) -> float:
        """The seconds of `Prefer: wait=N`, up to the service's maximum; 0 without the header."""
        match = _WAIT.search(self.headers.get("prefer", ""))
        return min(float(match[1]), self.service.settings.wait_seconds_max) if match else 0.0


async def read_request(request: Request) -> ApiRequest:
    """The request with its complete body. It is noted that its tenant asks for something.

    Raises:
        NoRoute: the path has a NUL, which no id has and PostgreSQL refuses.
        Forbidden: the caller's key lacks the scope of the route.
        InvalidRequest: the route does not take one of the query parameters.
        BodyTooLarge: the body has more bytes than the service takes.
    """
    path: str = request.scope["path"]
    if "\0" in path:
        raise NoRoute(path)
    check_scope(request.scope)
    _check_parameters(request)
    service: AppState = request.app.state.service
    service.places.shares.active.note(request.state.caller.tenant)
    has_body = request.method in WITH_BODY
    pieces = await read_body(request, service.settings.max_body_bytes) if has_body else Pieces()
    route = f"{request.method} {path}"
    session_id: str = request.path_params.get("session_id", "")
    return ApiRequest(service, request.state.caller, session_id, route, request.headers, pieces)


FromRequest: TypeAlias = Annotated[ApiRequest, Depends(read_request)]


def _check_parameters(request: Request) -> None:
    if not request.scope["query_string"]:
        return
    known = {parameter.alias for parameter in request.scope["route"].dependant.query_params}
    unknown = [name for name in request.query_params if name not in known]
    if unknown:
        taken = f"this route takes {', '.join(sorted(known))}" if known else "this route takes none"
        raise InvalidRequest(f"query.{unknown[0]}", f"must not be given; {taken}")


async def read_body(request: Request, limit_bytes: int) -> Pieces:
    """The complete body of a request.

    Raises:
        BodyTooLarge: it has more bytes than the limit.
    """
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > limit_bytes:
        raise BodyTooLarge(limit_bytes)
    body = Pieces()
    try:
        await _read_into(body, request, limit_bytes)
    except BaseException:
        # An error keeps what its frames hold until it is answered.
        body.clear()
        raise
    return body


async def _read_into(body: Pieces, request: Request, limit_bytes: int) -> None:
    async for piece in request.stream():
        body.add(piece)
        if body.size > limit_bytes:
            raise BodyTooLarge(limit_bytes)


def _parsed(raw: bytes, settings: Settings) -> Any:
    try:
        return loads_within(raw, settings)
    except TooDeep as error:
        raise InvalidRequest("body", f"must not be {error}") from error
    except ValueError as error:
        raise MalformedJson(str(error), _place(error)) from error


def _place(error: ValueError) -> dict[str, int]:
    """Where the JSON is wrong: the position from 0 in characters (bytes if it is not UTF-8), line and column from 1."""
    if isinstance(error, json.JSONDecodeError):
        return {"position": error.pos, "line": error.lineno, "column": error.colno}
    return {"position": error.start} if isinstance(error, UnicodeDecodeError) else {}
