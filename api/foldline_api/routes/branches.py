"""Branches: move the head, and list them."""

from __future__ import annotations

from fastapi import APIRouter, Response

from foldline.log.access.audit import AuditedAction
from foldline.log.compaction.summary_request import SummaryRequest
from foldline.log.storage.store import Transaction
from foldline.log.use_cases import branches
from foldline_api import serializers
from foldline_api.http.problems import InvalidRequest
from foldline_api.http.request import FromRequest
from foldline_api.http.responses import JsonAnswer, page_response, position_of, to_response, write_once
from foldline_api.http.route_classes import DirectRoute
from foldline_api.schemas.answers import BranchAnswer, MovedAnswer, Page
from foldline_api.schemas.bodies import BranchBody
from foldline_api.schemas.openapi import described
from foldline_api.schemas.parameters import Cursor, Limit

router = APIRouter(tags=["branches"], route_class=DirectRoute)


@router.post("/sessions/{session_id}/branch", **described(MovedAnswer, body=BranchBody))
def move_to_branch(session_id: str, incoming: FromRequest) -> Response:
    """Make an entry the head.

    The next append continues the branch that ends with the entry, or begins a new branch there. With `summarize`, a job
    summarizes the messages that the new head does not see, and adds the summary at the end of the new head's branch.
    A summary that was made before is added at once: `summary_entry_id` is its entry.
    """
    body, if_match = incoming.body(BranchBody), incoming.if_match
    if body.instructions is not None and not body.summarize:
        raise InvalidRequest("instructions", "are for a summary; request one with summarize")
    request = SummaryRequest(is_asked=True, instructions=body.instructions) if body.summarize else None

    def work(tx: Transaction) -> JsonAnswer:
        moved = branches.move(
            tx, incoming.tenant, session_id, body.entry_id, request=request, parent=body.parent, if_match=if_match
        )
        incoming.note(tx, AuditedAction.BRANCHED, body.entry_id)
        return JsonAnswer(
            {
                "version": moved.path.session.version,
                "budget": serializers.budget_json(moved.path),
                "open_calls": moved.path.open_calls,
                **serializers.trigger_json(moved.path, moved.step),
                "job": None if moved.job is None else serializers.job_json(moved.job),
                "summary_entry_id": moved.summary_entry_id,
            }
        )

    return to_response(write_once(incoming, work))


@router.get("/sessions/{session_id}/branches", **described(Page[BranchAnswer]))
def list_branches(session_id: str, incoming: FromRequest, cursor: Cursor = None, limit: Limit = 50) -> Response:
    """List the branches, oldest first."""
    after = position_of(incoming, cursor)
    with incoming.service.store.read() as tx:
        found = branches.branches(tx, incoming.tenant, session_id, after, limit + 1)
    # Branches are numbered from 0 and a first page begins at 0, so a cursor names the branch that comes next.
    return page_response(incoming, found, limit, lambda branch: branch.number + 1, serializers.branch_json)
