"""A request as the routes see it: its tenant, its checked body, and what its headers ask for."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from typing import Annotated, Any, Final, TypeAlias, TypeVar

from fastapi import Depends, Request
from starlette.datastructures import Headers

from foldline.engine.wire import TooDeep, loads_bounded
from foldline.log.storage import paths
from foldline.log.storage.idempotency import Key
from foldline_api.http.etags import InvalidTag, versions_in
from foldline_api.http.problems import BodyTooLarge, InvalidRequest, MalformedJson, NoRoute
from foldline_api.schemas.bodies import Body, checked
from foldline_api.service import AppState

B = TypeVar("B", bound=Body)

KEY_CHARS_MAX: Final = 255
# Where a session is never at.
NO_VERSION: Final = 0
WITH_BODY: Final = frozenset({"POST", "PATCH"})

_WAIT: Final = re.compile(r"(?:^|[,;\s])wait\s*=\s*\"?(\d{1,9})\"?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """One request. `raw` is its body; it is parsed where the route runs, off the event loop.

    `session_id` is empty where the route is not about one session.
    """

    service: AppState
    tenant: str
    session_id: str
    route: str
    headers: Headers
    raw: bytes

    def body(self, model: type[B]) -> B:
        """The body, checked; no body at all is an empty object.

        Raises:
            MalformedJson: it is no JSON.
            InvalidRequest: it has the wrong shape.
        """
        return checked(model, _parsed(self.raw) if self.raw.strip() else {})

    @property
    def if_match(self) -> int | None:
        """The version that `If-Match` asks for; of several, the present one if it is among them.

        Raises:
            InvalidRequest: it is neither a version nor an ETag of this service.
            NotFound: it names several versions of a session that is not there.
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
        """What the request is remembered under, if it carries an `Idempotency-Key`."""
        value = self.headers.get("idempotency-key")
        if value is None:
            return None
        if not 0 < len(value) <= KEY_CHARS_MAX:
            raise InvalidRequest("Idempotency-Key", f"must have 1 to {KEY_CHARS_MAX} characters")
        return Key(self.tenant, self.route, value, hashlib.sha256(self.raw).hexdigest())

    @property
    def wait_seconds(self) -> float:
        """How long `Prefer: wait=N` allows to wait, within what the service allows; 0 if it is not sent."""
        match = _WAIT.search(self.headers.get("prefer", ""))
        return min(float(match[1]), self.service.settings.wait_seconds_max) if match else 0.0


async def read_request(request: Request) -> ApiRequest:
    """The request, its body read to the end.

    Raises:
        NoRoute: its path has a character that no id has and no database takes.
        InvalidRequest: it has a query parameter that the route does not take.
        BodyTooLarge: it has more bytes than the service takes.
    """
    if "\0" in request.url.path:
        raise NoRoute(request.url.path)
    _check_parameters(request)
    service: AppState = request.app.state.service
    raw = await _read(request, service.settings.max_body_bytes) if request.method in WITH_BODY else b""
    route = f"{request.method} {request.url.path}"
    session_id: str = request.path_params.get("session_id", "")
    return ApiRequest(service, request.state.tenant, session_id, route, request.headers, raw)


FromRequest: TypeAlias = Annotated[ApiRequest, Depends(read_request)]


def _check_parameters(request: Request) -> None:
    known = {parameter.alias for parameter in request.scope["route"].dependant.query_params}
    unknown = [name for name in request.query_params if name not in known]
    if unknown:
        taken = f"this route takes {', '.join(sorted(known))}" if known else "this route takes none"
        raise InvalidRequest(f"query.{unknown[0]}", f"must not be given; {taken}")


async def _read(request: Request, limit_bytes: int) -> bytes:
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > limit_bytes:
        raise BodyTooLarge(limit_bytes)
    chunks: list[bytes] = []
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > limit_bytes:
            raise BodyTooLarge(limit_bytes)
        chunks.append(chunk)
    return b"".join(chunks)


def _parsed(raw: bytes) -> Any:
    try:
        return loads_bounded(raw)
    except TooDeep as error:
        raise InvalidRequest("body", f"must not be {error}") from error
    except ValueError as error:
        raise MalformedJson(str(error), _place(error)) from error


def _place(error: ValueError) -> dict[str, int]:
    """Where a text is no JSON: from 0 in characters (bytes, where it is no UTF-8); lines and columns from 1."""
    if isinstance(error, json.JSONDecodeError):
        return {"position": error.pos, "line": error.lineno, "column": error.colno}
    return {"position": error.start} if isinstance(error, UnicodeDecodeError) else {}
