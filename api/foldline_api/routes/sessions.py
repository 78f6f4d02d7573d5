"""Sessions: create, list, read, change, delete."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import APIRouter, Response

from foldline.log.access.audit import AuditedAction
from foldline.log.storage import paths
from foldline.log.storage.store import Transaction
from foldline.log.use_cases import lifecycle
from foldline.log.use_cases.lifecycle import NewSession
from foldline_api import serializers
from foldline_api.http.problems import InvalidRequest
from foldline_api.http.request import ApiRequest, FromRequest
from foldline_api.http.responses import (
    JsonAnswer,
    json_response,
    position_of,
    rest_response,
    to_response,
    write_once,
)
from foldline_api.http.route_classes import ThreadRoute
from foldline_api.schemas.answers import ChangedSession, Page, SessionAnswer
from foldline_api.schemas.bodies import ChangeBody, SessionBody
from foldline_api.schemas.openapi import described
from foldline_api.schemas.parameters import Cursor, Limit, Order

router = APIRouter(tags=["sessions"], route_class=ThreadRoute)


@router.post("/sessions", **described(SessionAnswer, HTTPStatus.CREATED, body=SessionBody))
def create_session(incoming: FromRequest) -> Response:
    """Create a session."""
    body = incoming.body(SessionBody)
    settings = incoming.service.settings
    values = {name: value for name, value in body if value is not None}
    values["default_policy"] = settings.policy_values
    values.setdefault("auto_compact", settings.auto_compact)

    def work(tx: Transaction) -> JsonAnswer:
        path = lifecycle.create(tx, incoming.tenant, NewSession(**values))
        location = {"Location": f"/sessions/{path.session.id}"}
        return JsonAnswer(serializers.session_json(path), HTTPStatus.CREATED, location)

    return to_response(write_once(incoming, work))


@router.get("/sessions", **described(Page[SessionAnswer]))
def list_sessions(
    incoming: FromRequest, cursor: Cursor = None, limit: Limit = 50, order: Order = "created"
) -> Response:
    """List the sessions, oldest first, or on one page those that got a message last; fewer where they are large."""
    if order == "last_message":
        return _last_spoken(incoming, cursor, limit)
    after = position_of(incoming, cursor)
    with incoming.service.store.read() as tx:
        page = lifecycle.list_sessions(tx, incoming.tenant, after, limit)
    return rest_response(incoming, page.items, page.next_position, serializers.session_json)


def _last_spoken(incoming: ApiRequest, cursor: str | None, limit: int) -> Response:
    if cursor is not None:
        raise InvalidRequest("query.cursor", "must not be given: with order=last_message there is one page")
    with incoming.service.store.read() as tx:
        found = lifecycle.last_spoken(tx, incoming.tenant, limit)
    return rest_response(incoming, found, None, serializers.session_json)


@router.get("/sessions/{session_id}", **described(SessionAnswer))
def read_session(session_id: str, incoming: FromRequest) -> Response:
    """Read a session."""
    with incoming.service.store.read() as tx:
        path = paths.open_head(tx, incoming.tenant, session_id)
    return json_response(serializers.session_json(path))


@router.patch("/sessions/{session_id}", **described(ChangedSession, body=ChangeBody))
def change_session(session_id: str, incoming: FromRequest) -> Response:
    """Change the model, its window, the system prompt, the tools or the policy. The trigger runs after the change."""
    body = incoming.body(ChangeBody)
    changes = {name: getattr(body, name) for name in body.model_fields_set}
    if changes.get("model") == "":
        raise InvalidRequest("model", "must be a name, as provider/name")
    default_policy, if_match = incoming.service.settings.policy_values, incoming.if_match
    with incoming.service.store.write() as tx:
        path, step = lifecycle.change(
            tx, incoming.tenant, session_id, changes, default_policy=default_policy, if_match=if_match
        )
    return json_response({**serializers.session_json(path), **serializers.trigger_json(path, step)})


@router.delete("/sessions/{session_id}", **described(None, HTTPStatus.NO_CONTENT))
def delete_session(session_id: str, incoming: FromRequest) -> Response:
    """Delete a session and cancel its jobs. Its id can be used again at once."""
    with incoming.service.store.write() as tx:
        lifecycle.delete(tx, incoming.tenant, session_id)
        incoming.note(tx, AuditedAction.DELETED)
    return Response(status_code=HTTPStatus.NO_CONTENT)
