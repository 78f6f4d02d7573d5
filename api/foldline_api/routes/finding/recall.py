"""Recall: what is out of view on the path in use, for a client, and for a model that calls a tool."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from foldline.engine.formats import FORMATS
from foldline.engine.recall import tool
from foldline.engine.recall.tool import DEFAULT_TOKENS
from foldline.log.storage import paths
from foldline.log.use_cases.finding.recall import RecallRequest, answer_call, recall
from foldline_api import serializers
from foldline_api.http.problems import InvalidRequest
from foldline_api.http.request import ApiRequest, FromRequest
from foldline_api.http.responses import json_response
from foldline_api.http.route_classes import CostlyReadingRoute
from foldline_api.schemas.answers import RecallAnswer, RecallToolAnswer
from foldline_api.schemas.bodies import RecallToolBody
from foldline_api.schemas.openapi import described
from foldline_api.schemas.parameters import ItemKinds, MaxRecallTokens, kinds_in

# A recall indexes first what the sweep has not reached yet, which may be thousands of entries.
router = APIRouter(tags=["entries"], route_class=CostlyReadingRoute)


@router.get("/sessions/{session_id}/recall", **described(RecallAnswer))
def recall_entries(
    session_id: str,
    incoming: FromRequest,
    q: Annotated[str, Query(description="A question, or words that stood beside the answer.")],
    max_tokens: MaxRecallTokens = DEFAULT_TOKENS,
    kinds: ItemKinds = None,
) -> Response:
    """Find what is out of view on the path in use: summarized, hidden, cleared, superseded or cut. Best first."""
    request = RecallRequest(q, max_tokens, kinds_in(kinds))
    found = recall(incoming.service.store, incoming.tenant, session_id, request)
    return json_response(serializers.recall_json(found))


@router.post("/sessions/{session_id}/recall/tool", **described(RecallToolAnswer, body=RecallToolBody))
def recall_tool(session_id: str, incoming: FromRequest) -> Response:
    """Read the definition of a recall tool in a wire format; with `call`, answer a model's call of it.

    A model's mistake in the arguments is answered by a result that says so, for the model to mend.
    """
    body = incoming.body(RecallToolBody)
    if body.format not in FORMATS:
        raise InvalidRequest("format", f"{body.format} is no format; available: {', '.join(FORMATS)}")
    if body.call is None:
        with incoming.service.store.read() as tx:
            paths.open_head(tx, incoming.tenant, session_id)
        return json_response({"tool": tool.definition(body.format), "result": None})
    return json_response({"tool": None, "result": _answered(incoming, session_id, body.format, body.call)})


def _answered(incoming: ApiRequest, session_id: str, format_name: str, given: dict[str, Any]) -> dict[str, Any]:
    call = tool.call_in(format_name, given)
    answered = answer_call(incoming.service.store, incoming.tenant, session_id, call)
    return tool.result_in(format_name, call, answered.text, is_error=answered.is_error)
