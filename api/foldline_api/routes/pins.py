"""Pins: texts that are in every view verbatim."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import APIRouter, Response

from foldline.log.access.audit import AuditedAction
from foldline.log.storage.store import Transaction
from foldline.log.use_cases import pins
from foldline_api import serializers
from foldline_api.http.problems import InvalidRequest
from foldline_api.http.request import FromRequest
from foldline_api.http.responses import JsonAnswer, page_response, position_of, to_response, write_once
from foldline_api.http.route_classes import DirectRoute
from foldline_api.schemas.answers import Page, PinAnswer, PinnedAnswer
from foldline_api.schemas.bodies import PinBody
from foldline_api.schemas.openapi import described
from foldline_api.schemas.parameters import Cursor, Limit

router = APIRouter(tags=["pins"], route_class=DirectRoute)


@router.post("/sessions/{session_id}/pins", **described(PinnedAnswer, HTTPStatus.CREATED, body=PinBody))
def add_pin(session_id: str, incoming: FromRequest) -> Response:
    """Pin a text, or a copy of an entry's text."""
    body, if_match = incoming.body(PinBody), incoming.if_match
    if (body.text is None) == (body.entry_id is None):
        raise InvalidRequest("body", "must have either `text` or `entry_id`")
    if body.text is not None and not body.text.strip():
        raise InvalidRequest("text", "must not be empty")

    def work(tx: Transaction) -> JsonAnswer:
        made = pins.add(
            tx, incoming.tenant, session_id, text=body.text, entry_id=body.entry_id, parent=body.parent,
            if_match=if_match,
        )  # fmt: skip
        incoming.note(tx, AuditedAction.PINNED, made[0].id)
        return JsonAnswer(serializers.pinned_json(*made), HTTPStatus.CREATED)

    return to_response(write_once(incoming, work))


@router.get("/sessions/{session_id}/pins", **described(Page[PinAnswer]))
def list_pins(session_id: str, incoming: FromRequest, cursor: Cursor = None, limit: Limit = 50) -> Response:
    """List a session's pins, oldest first."""
    after = position_of(incoming, cursor)
    with incoming.service.store.read() as tx:
        found = pins.pins(tx, incoming.tenant, session_id, after, limit + 1)
    return page_response(incoming, found, limit, lambda pin: pin.number, serializers.pin_json)


@router.delete("/sessions/{session_id}/pins/{pin_id}", **described(None, HTTPStatus.NO_CONTENT))
def remove_pin(session_id: str, pin_id: str, incoming: FromRequest) -> Response:
    """Remove a pin."""
    if_match = incoming.if_match
    with incoming.service.store.write() as tx:
        pins.remove(tx, incoming.tenant, session_id, pin_id, if_match=if_match)
        incoming.note(tx, AuditedAction.UNPINNED, pin_id)
    return Response(status_code=HTTPStatus.NO_CONTENT)
