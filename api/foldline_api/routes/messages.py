"""The two requests of each turn: append messages, and read the view."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response

from foldline.engine.formats import DEFAULT, FORMATS, detect
from foldline.engine.formats.alternation import alternating
from foldline.engine.messages import Message
from foldline.log.compaction.usage import Usage
from foldline.log.storage.store import Transaction
from foldline.log.use_cases.append import NEWEST, append, prepare
from foldline.log.use_cases.views import view
from foldline_api import serializers
from foldline_api.http.etags import is_named, view_tag
from foldline_api.http.problems import InvalidRequest
from foldline_api.http.request import ApiRequest, FromRequest
from foldline_api.http.responses import JSON, JsonAnswer, json_response, to_response, write_once
from foldline_api.http.route_classes import DirectRoute
from foldline_api.schemas.answers import AppendAnswer, ContextAnswer
from foldline_api.schemas.bodies import AppendBody, UsageBody
from foldline_api.schemas.openapi import described
from foldline_api.schemas.parameters import Format, Model

router = APIRouter(tags=["messages"], route_class=DirectRoute)


@router.post("/sessions/{session_id}/messages", **described(AppendAnswer, HTTPStatus.CREATED, body=AppendBody))
def append_messages(session_id: str, incoming: FromRequest) -> Response:
    """Append messages at the head. If the view is then over the trigger, it is compacted before the answer."""
    body = incoming.body(AppendBody)
    drafts = prepare(_messages_of(body.messages, body.format))
    usage = None if body.usage is None else _usage(body.usage)
    if_match = incoming.if_match

    def work(tx: Transaction) -> JsonAnswer:
        done = append(tx, incoming.tenant, session_id, drafts, usage=usage, parent=body.parent, if_match=if_match)
        appended = {
            "entry_ids": done.entry_ids,
            "version": done.path.session.version,
            "budget": serializers.budget_json(done.path),
            "open_calls": done.path.open_calls,
            **serializers.trigger_json(done.path, done.step),
        }
        return JsonAnswer(appended, HTTPStatus.CREATED)

    return to_response(write_once(incoming, work, shares=len(drafts) <= NEWEST))


def _messages_of(messages: list[Any], format_name: str | None) -> list[Message]:
    name = detect(messages) if format_name is None else format_name
    if name not in FORMATS:
        raise InvalidRequest("format", f"{name} is no format; available: {', '.join(FORMATS)}")
    return FORMATS[name].parse(messages)


def _usage(body: UsageBody) -> Usage:
    return Usage(**dict(body))


@router.get("/sessions/{session_id}/context", **described(ContextAnswer, others={304: "Nothing changed."}))
def read_context(
    session_id: str,
    incoming: FromRequest,
    *,
    format_name: Format = DEFAULT,
    model: Model = None,
    fit: Annotated[
        Literal["budget", "none"], Query(description="`none` ignores the budget: the view may be too large.")
    ] = "budget",
    open_: Annotated[
        Literal["refuse", "stub"],
        Query(alias="open", description="While tool calls wait for results: refuse, or add stubs for the results."),
    ] = "refuse",
    roles: Annotated[
        Literal["as_is", "alternate"],
        Query(description="`alternate` joins neighbouring messages of one role, for providers that refuse them."),
    ] = "as_is",
) -> Response:
    """Read the view: the messages that the model should see now.

    The answer has an ETag, except with `model`, `fit=none`, `open=stub` or `roles=alternate`.
    """
    must_fit, stub_open, must_alternate = fit == "budget", open_ == "stub", roles == "alternate"
    if model is None and must_fit and not (stub_open or must_alternate):
        return _own_view(session_id, incoming, format_name)
    with incoming.service.store.read() as tx:
        found = view(
            tx,
            incoming.tenant,
            session_id,
            model=model,
            format_name=format_name,
            must_fit=must_fit,
            stub_open=stub_open,
        )
    session, wire_format = found.path.session, FORMATS[format_name]
    rendered = wire_format.render(found.messages, session.system, model or session.model)
    messages = alternating(rendered.messages) if must_alternate and wire_format.has_turns else rendered.messages
    return json_response({"messages": messages, **serializers.view_fields(found, rendered.lossy)})


def _own_view(session_id: str, incoming: ApiRequest, format_name: str) -> Response:
    """The view of the session's own model, which is the same as long as its version stands."""
    with incoming.service.store.read() as tx:
        sent = incoming.service.views.read(tx, incoming.tenant, session_id, format_name)
    tag = {"ETag": view_tag(sent.version, format_name)}
    if is_named(tag["ETag"], incoming.headers.getlist("if-none-match")):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=tag)
    return Response(sent.body, headers=tag, media_type=JSON)
