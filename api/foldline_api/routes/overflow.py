"""Overflow: a provider refused a view as too long, or for the reasoning in it."""

from __future__ import annotations

from fastapi import APIRouter, Response

from foldline.engine.overflow import PROVIDERS, verdict_of, verdict_on
from foldline.log.errors import CannotShrink, UnknownVersion
from foldline.log.events import OTHER, OverflowReported
from foldline.log.storage import paths
from foldline.log.storage.store import Transaction
from foldline.log.use_cases.overflow import relieve
from foldline_api import serializers
from foldline_api.http.problems import InvalidRequest
from foldline_api.http.request import FromRequest
from foldline_api.http.responses import JsonAnswer, to_response, write_once
from foldline_api.http.route_classes import DirectRoute
from foldline_api.http.verdicts import verdict_json
from foldline_api.schemas.answers import OverflowAnswer
from foldline_api.schemas.bodies import OverflowBody
from foldline_api.schemas.openapi import described

router = APIRouter(tags=["compactions"], route_class=DirectRoute)


@router.post("/sessions/{session_id}/overflow", **described(OverflowAnswer, body=OverflowBody))
def report_overflow(session_id: str, incoming: FromRequest) -> Response:
    """Report that a provider refused a view: it is made smaller, or loses its signed reasoning. Read it again.

    Nothing happens if the error is neither an overflow nor a refusal of reasoning, or if the view has changed since. An
    `answer` is an overflow if its prompt had more tokens than the window, or filled it and left no room to answer.
    """
    body, if_match = incoming.body(OverflowBody), incoming.if_match
    if (body.error is None) == (body.answer is None):
        raise InvalidRequest("error", "is required, or an `answer` in its place")

    def work(tx: Transaction) -> JsonAnswer:
        if body.answer is None:
            verdict = verdict_of(body.error or "", body.provider)
        else:
            window = paths.open_head(tx, incoming.tenant, session_id).session.budget.window
            verdict = verdict_on(body.answer.stop, body.answer.input, body.answer.output, window, body.provider)
        reported = OverflowReported(verdict.provider if verdict.provider in PROVIDERS else OTHER)
        try:
            path, step, before = relieve(
                tx, incoming.tenant, session_id, verdict, version=body.version, parent=body.parent, if_match=if_match
            )
        except UnknownVersion as error:
            detail = f"must be one the session has had; it is at {error.current}"
            raise InvalidRequest("version", detail) from error
        except CannotShrink:
            # The transaction rolls back, and its events with it; operators must still see this overflow.
            incoming.service.store.publish(reported)
            raise
        if verdict.is_overflow:
            tx.events.append(reported)
        result = serializers.result_json(step, before, path.used)
        target = serializers.target_json(step.target, path.used)
        said = {"verdict": verdict_json(verdict), "result": result, "target": target}
        return JsonAnswer({**said, "version": path.session.version})

    return to_response(write_once(incoming, work))
