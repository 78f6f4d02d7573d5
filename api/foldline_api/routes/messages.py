"""Append messages."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, Response

from foldline.engine.formats import FORMATS, detect
from foldline.engine.messages import Message
from foldline.log.compaction.usage import Usage
from foldline.log.storage.store import Transaction
from foldline.log.use_cases.append import NEWEST, append, prepare
from foldline_api import serializers
from foldline_api.http.problems import InvalidRequest
from foldline_api.http.request import FromRequest
from foldline_api.http.responses import JsonAnswer, to_response, write_once
from foldline_api.http.route_classes import DirectRoute
from foldline_api.schemas.answers import AppendAnswer
from foldline_api.schemas.bodies import AppendBody, UsageBody
from foldline_api.schemas.openapi import described

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
