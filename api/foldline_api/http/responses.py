"""How answers are written: JSON with lone surrogates escaped, times, cursors, and writes that happen once for a key."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, Final, TypeVar

from fastapi import Response

from foldline.engine.wire import dumps
from foldline.log.storage.idempotency import StoredResponse, recall, remember
from foldline.log.storage.store import Transaction
from foldline_api.http.problems import InvalidRequest
from foldline_api.http.request import ApiRequest

JSON: Final = "application/json"
T = TypeVar("T")


def answer(body: Any, status: int = HTTPStatus.OK, headers: Mapping[str, str] | None = None) -> StoredResponse:
    """An answer with a JSON body."""
    return StoredResponse(int(status), dict(headers or {}), dumps(body))


def respond(given: StoredResponse) -> Response:
    """An answer as it is sent."""
    return Response(given.body, given.status, headers=given.headers, media_type=JSON if given.body else None)


def json_response(body: Any, headers: Mapping[str, str] | None = None) -> Response:
    """A `200` with a JSON body."""
    return Response(dumps(body), headers=headers, media_type=JSON)


def change(incoming: ApiRequest, work: Callable[[Transaction], StoredResponse]) -> Response:
    """The answer of a write; with an `Idempotency-Key` it is written once, and its answer given again.

    Raises:
        IdempotencyMismatch, IdempotencyInFlight: the key is in use for something else.
    """
    return respond(changed(incoming, work))


def changed(incoming: ApiRequest, work: Callable[[Transaction], StoredResponse]) -> StoredResponse:
    """As `change`, before it is sent."""
    store, key = incoming.service.store, incoming.key
    if key is None:
        with store.write() as tx:
            return work(tx)
    with incoming.service.keys.holding(key), store.write() as tx:
        given = recall(tx, key)
        if given is None:
            given = work(tx)
            remember(tx, key, given)
        return given


def timestamp(milliseconds: int) -> str:
    """A time as RFC 3339, UTC."""
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def after(cursor: str | None) -> int:
    """The position that a cursor stands for; 0, before everything, if there is none.

    Raises:
        InvalidRequest: it is none of ours.
    """
    if cursor is None:
        return 0
    try:
        position = int(base64.urlsafe_b64decode(cursor.encode() + b"=="))
    except ValueError as error:
        raise InvalidRequest("query.cursor", "must be a cursor of this service") from error
    if not 0 <= position < 1 << 62:
        raise InvalidRequest("query.cursor", "must be a cursor of this service")
    return position


def page(found: Sequence[T], limit: int, position: Callable[[T], int], shown: Callable[[T], Any]) -> dict[str, Any]:
    """A page of at most `limit` items, of a list that was read one item further."""
    items = found[:limit]
    cursor = base64.urlsafe_b64encode(b"%d" % position(items[-1])).rstrip(b"=") if len(found) > limit else None
    return {"items": [shown(item) for item in items], "next_cursor": cursor and cursor.decode()}
