"""API keys of the caller's own tenant: create, list, revoke."""

from __future__ import annotations

from dataclasses import replace
from http import HTTPStatus

from fastapi import APIRouter, Response

from foldline.log.access import api_keys
from foldline.log.access.audit import AuditedAction
from foldline.log.storage.store import Transaction
from foldline_api import serializers
from foldline_api.http.problems import InvalidRequest
from foldline_api.http.request import FromRequest
from foldline_api.http.responses import JsonAnswer, page_response, position_of, to_response, write_once
from foldline_api.http.route_classes import ThreadRoute
from foldline_api.schemas.answers import KeyAnswer, NewKeyAnswer, Page
from foldline_api.schemas.bodies import KeyBody
from foldline_api.schemas.openapi import described
from foldline_api.schemas.parameters import Cursor, Limit

router = APIRouter(tags=["keys"], route_class=ThreadRoute)


@router.post("/keys", **described(NewKeyAnswer, HTTPStatus.CREATED, body=KeyBody))
def create_key(incoming: FromRequest) -> Response:
    """Create a key. Only this answer has it: with an `Idempotency-Key` that is repeated, `key` is null."""
    body = incoming.body(KeyBody)
    made: list[str] = []
    if body.expires_at is not None and body.expires_at <= incoming.service.store.now:
        raise InvalidRequest("expires_at", "must be in the future")

    def work(tx: Transaction) -> JsonAnswer:
        created, key = api_keys.create(tx, incoming.tenant, body.name, body.scopes, body.expires_at)
        made.append(key)
        incoming.note(tx, AuditedAction.CREATED_KEY, created.id)
        # What is stored under the idempotency key must not have the key.
        return JsonAnswer(serializers.key_json(created), HTTPStatus.CREATED, {"Location": f"/keys/{created.id}"})

    answer = write_once(incoming, work)
    return to_response(replace(answer, body={**answer.body, "key": made[-1] if made else None}))


@router.get("/keys", **described(Page[KeyAnswer]))
def list_keys(incoming: FromRequest, cursor: Cursor = None, limit: Limit = 50) -> Response:
    """List the tenant's stored keys, oldest first, with those that expired or were revoked."""
    after = position_of(incoming, cursor)
    with incoming.service.store.read() as tx:
        found = api_keys.list_keys(tx, incoming.tenant, after, limit + 1)
    return page_response(incoming, found, limit, lambda key: key.number, serializers.key_json)


@router.delete("/keys/{key_id}", **described(None, HTTPStatus.NO_CONTENT))
def revoke_key(key_id: str, incoming: FromRequest) -> Response:
    """Revoke a key. Every process refuses it within seconds; it stays in the list."""
    with incoming.service.store.write() as tx:
        key, is_new = api_keys.revoke(tx, incoming.tenant, key_id)
        if is_new:
            incoming.note(tx, AuditedAction.REVOKED_KEY, key.id)
    return Response(status_code=HTTPStatus.NO_CONTENT)
