"""The ledger: what Foldline found in a session that must survive, to be read, dismissed or pinned."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import APIRouter, Response

from foldline.log.access.audit import AuditedAction
from foldline.log.storage.store import Transaction
from foldline.log.use_cases import pins
from foldline.log.use_cases.finding import ledger
from foldline_api import serializers
from foldline_api.http.request import FromRequest
from foldline_api.http.responses import (
    JsonAnswer,
    json_response,
    position_of,
    rest_response,
    to_response,
    write_once,
)
from foldline_api.http.route_classes import ThreadRoute
from foldline_api.schemas.answers import LedgerItemAnswer, Page, PinnedAnswer
from foldline_api.schemas.bodies import Moving
from foldline_api.schemas.openapi import described
from foldline_api.schemas.parameters import Cursor, ItemKinds, Limit, kinds_in

router = APIRouter(tags=["ledger"], route_class=ThreadRoute)


@router.get("/sessions/{session_id}/ledger", **described(Page[LedgerItemAnswer]))
def list_items(
    session_id: str, incoming: FromRequest, kinds: ItemKinds = None, cursor: Cursor = None, limit: Limit = 50
) -> Response:
    """List the items found along the path in use, oldest first. A page may have fewer than there are later."""
    after = position_of(incoming, cursor)
    with incoming.service.store.read() as tx:
        page = ledger.items(tx, incoming.tenant, session_id, after, limit, kinds=kinds_in(kinds))
    return rest_response(incoming, page.items, page.next_position, serializers.ledger_item_json)


@router.post("/sessions/{session_id}/ledger/{item_id}/dismiss", **described(LedgerItemAnswer))
def dismiss_item(session_id: str, item_id: str, incoming: FromRequest) -> Response:
    """Leave the item's text out of later summaries, wherever it was said."""

    def work(tx: Transaction) -> JsonAnswer:
        item = ledger.dismiss(tx, incoming.tenant, session_id, item_id)
        return JsonAnswer(serializers.ledger_item_json(item))

    return to_response(write_once(incoming, work))


@router.delete("/sessions/{session_id}/ledger/{item_id}/dismiss", **described(LedgerItemAnswer))
def restore_item(session_id: str, item_id: str, incoming: FromRequest) -> Response:
    """Take a dismissal back."""
    with incoming.service.store.write() as tx:
        item = ledger.restore(tx, incoming.tenant, session_id, item_id)
    return json_response(serializers.ledger_item_json(item))


@router.post("/sessions/{session_id}/ledger/{item_id}/pin", **described(PinnedAnswer, HTTPStatus.CREATED, body=Moving))
def pin_item(session_id: str, item_id: str, incoming: FromRequest) -> Response:
    """Pin the item's text."""
    body, if_match = incoming.body(Moving), incoming.if_match

    def work(tx: Transaction) -> JsonAnswer:
        text = ledger.text_of(tx, incoming.tenant, session_id, item_id)
        made = pins.add(tx, incoming.tenant, session_id, text=text, parent=body.parent, if_match=if_match)
        incoming.note(tx, AuditedAction.PINNED, made[0].id)
        return JsonAnswer(serializers.pinned_json(*made), HTTPStatus.CREATED)

    return to_response(write_once(incoming, work))
