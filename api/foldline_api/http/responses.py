"""How answers are sent: JSON with lone surrogates escaped, times, pages, and writes that happen once for a key."""

from __future__ import annotations

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
JSON_LINES: Final = "application/x-ndjson"
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


def position_of(incoming: ApiRequest, cursor: str | None) -> int:
    """The position that a cursor of the requested list names; without a cursor 0, which is before everything.

    Raises:
        InvalidRequest: the cursor is not one of this list.
    """
    if cursor is None:
        return 0
    try:
        return incoming.service.cursors.read(_list_of(incoming), cursor)
    except ValueError as error:
        raise InvalidRequest("query.cursor", "must be the `next_cursor` of a page of this list") from error


def page_response(
    incoming: ApiRequest, found: Sequence[T], limit: int, position: Callable[[T], int], to_json: Callable[[T], Any]
) -> Response:
    """A page of at most `limit` items, made from up to `limit + 1`: one more says that another page follows."""
    items = found[:limit]
    return rest_response(incoming, items, position(items[-1]) if len(found) > limit else None, to_json)


def rest_response(
    incoming: ApiRequest, items: Sequence[T], next_position: int | None, to_json: Callable[[T], Any]
) -> Response:
    """A page of these items; another follows after `next_position`, if it is not None."""
    cursor = None if next_position is None else incoming.service.cursors.written(_list_of(incoming), next_position)
    return json_response({"items": [to_json(item) for item in items], "next_cursor": cursor})


def _list_of(incoming: ApiRequest) -> str:
    return f"{incoming.tenant}\0{incoming.route}"
