"""How answers are sent: JSON with lone surrogates escaped, times, pages, and writes that happen once for a key."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final, TypeVar

from fastapi import Response

from foldline.engine.wire import dumps, loads
from foldline.log.storage.idempotency import StoredResponse, recall, remember
from foldline.log.storage.store import Transaction
from foldline_api.http.problems import InvalidRequest
from foldline_api.http.request import ApiRequest

JSON: Final = "application/json"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class JsonAnswer:
    """An answer whose body is still a value; `to_response` writes it as JSON."""

    body: Any
    status: int = HTTPStatus.OK
    headers: Mapping[str, str] = field(default_factory=dict)


def to_response(answer: JsonAnswer) -> Response:
    """The answer as it is sent."""
    return Response(dumps(answer.body), answer.status, headers=answer.headers, media_type=JSON)


def json_response(body: Any, status: int = HTTPStatus.OK, headers: Mapping[str, str] | None = None) -> Response:
    """A response with a JSON body."""
    return to_response(JsonAnswer(body, status, headers or {}))


def write_once(incoming: ApiRequest, work: Callable[[Transaction], JsonAnswer], *, shares: bool = True) -> JsonAnswer:
    """The answer of `work`, which runs in a transaction of its own.

    With an `Idempotency-Key` the answer is stored in that transaction. When the request is repeated, `work` does not
    run, and the stored answer is returned. Without `shares`, no other request waits until the work is done.

    Raises:
        IdempotencyMismatch: the key was used with another request.
        IdempotencyInFlight: another request with the key has not ended.
    """
    store, key = incoming.service.store, incoming.key
    if key is None:
        with store.write(shares=shares) as tx:
            return work(tx)
    with incoming.service.keys.holding(key), store.write(shares=shares) as tx:
        stored = recall(tx, key)
        if stored is not None:
            return JsonAnswer(loads(stored.body), stored.status, stored.headers)
        answer = work(tx)
        remember(tx, key, StoredResponse(int(answer.status), dict(answer.headers), dumps(answer.body)))
        return answer


def position_of(cursor: str | None) -> int:
    """The position that a cursor names; without a cursor 0, which is before everything.

    Raises:
        InvalidRequest: the cursor is not one of this service.
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


def page_response(
    found: Sequence[T], limit: int, position: Callable[[T], int], to_json: Callable[[T], Any]
) -> Response:
    """A page of at most `limit` items, made from up to `limit + 1`: one more says that another page follows."""
    items = found[:limit]
    return rest_response(items, position(items[-1]) if len(found) > limit else None, to_json)


def rest_response(items: Sequence[T], next_position: int | None, to_json: Callable[[T], Any]) -> Response:
    """A page of these items; another follows after `next_position`, if it is not None."""
    cursor = None if next_position is None else base64.urlsafe_b64encode(b"%d" % next_position).rstrip(b"=").decode()
    return json_response({"items": [to_json(item) for item in items], "next_cursor": cursor})
