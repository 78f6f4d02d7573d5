"""What changes a view without adding to it: compact, undo, redo, move to another branch; and what was compacted."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, Response
from starlette.concurrency import run_in_threadpool

from foldline.engine.policies.policy import FIGURES
from foldline.engine.policies.report import together
from foldline.engine.wire import loads
from foldline.log.compaction.compactions import Compaction
from foldline.log.compaction.summary_request import SummaryRequest
from foldline.log.jobs import queries
from foldline.log.jobs.queries import Job
from foldline.log.storage.idempotency import StoredResponse
from foldline.log.storage.store import Transaction
from foldline.log.use_cases import branches, history, undo
from foldline.log.use_cases.compact import compact, cut
from foldline.log.use_cases.views import open_calls_of
from foldline_api import serializers
from foldline_api.http.problems import InvalidRequest
from foldline_api.http.request import ApiRequest, FromRequest
from foldline_api.http.responses import after, answer, change, changed, json_response, page, respond
from foldline_api.schemas.answers import (
    BranchAnswer,
    CompactAnswer,
    CompactionAnswer,
    MovedAnswer,
    Page,
    RedoneAnswer,
    UndoneAnswer,
)
from foldline_api.schemas.bodies import BranchBody, CompactBody, Moving
from foldline_api.schemas.openapi import described
from foldline_api.schemas.parameters import Cursor, Limit

router = APIRouter(tags=["compactions"])


@router.post(
    "/sessions/{session_id}/compact", **described(CompactAnswer, body=CompactBody, others={202: "A job will go on."})
)
async def compact_session(session_id: str, incoming: FromRequest) -> Response:
    """Compact now, whatever the trigger says. With `Prefer: wait=N` the answer waits up to N seconds for its job."""
    given = await run_in_threadpool(_compact, incoming, session_id)
    seconds, watch = incoming.wait_seconds, incoming.service.watch
    if given.status != HTTPStatus.ACCEPTED or not seconds or watch.is_full:
        return respond(given)
    body = loads(given.body)
    job = await run_in_threadpool(_job, incoming, body["job"]["id"])
    return await run_in_threadpool(_after_waiting, incoming, body, await watch.ended(job, seconds))


def _compact(incoming: ApiRequest, session_id: str) -> StoredResponse:
    body = incoming.body(CompactBody)
    ask = SummaryRequest(
        is_asked=True, instructions=body.instructions, target_tokens=body.target_tokens, policy=body.policy
    )
    if_match = incoming.if_match

    def work(tx: Transaction) -> StoredResponse:
        path, step, before = compact(
            tx, incoming.tenant, session_id, ask, stages=body.stages, summarize=body.summarize, parent=body.parent,
            if_match=if_match,
        )  # fmt: skip
        request = step.request
        result = serializers.result(serializers.stages_used(step.made), before, path.used, step.report)
        if request is None or request.job_id is None:
            return answer({"job": None, "joined": False, "result": result})
        job = serializers.job(queries.job(tx, incoming.tenant, request.job_id))
        return answer({"job": job, "joined": request.is_joined, "result": result}, HTTPStatus.ACCEPTED)

    if not body.dry_run:
        return changed(incoming, work)
    with incoming.service.store.rehearse() as tx:
        before = cut(tx, incoming.tenant, session_id, ask).context_tokens
        rehearsed = loads(work(tx).body)
        after = cut(tx, incoming.tenant, session_id, ask).as_json
    summary = None if rehearsed["job"] is None else {**after, "context_tokens": before}
    return answer({"job": None, "joined": False, "result": rehearsed["result"], "summary": summary})


def _job(incoming: ApiRequest, job_id: str) -> Job:
    with incoming.service.store.read() as tx:
        return queries.job(tx, incoming.tenant, job_id)


def _after_waiting(incoming: ApiRequest, body: dict[str, Any], job: Job) -> Response:
    """The answer to a request that waited: `result` tells of the job's compaction too, if it made one."""
    result = body["result"]
    made = _compaction_of(incoming, job)
    if made is not None:
        stages = dict.fromkeys((*result["stages_used"], *made.stages_used))
        report = together([{name: result[name] for name in FIGURES if name in result}, made.report])
        result = serializers.result(list(stages), result["tokens_before"], made.tokens_after, report)
    status = HTTPStatus.OK if job.has_ended else HTTPStatus.ACCEPTED
    headers = {"Preference-Applied": f"wait={incoming.wait_seconds:.0f}"}
    return respond(answer({**body, "job": serializers.job(job), "result": result}, status, headers))


def _compaction_of(incoming: ApiRequest, job: Job) -> Compaction | None:
    """The compaction a job made, if it is on the path in use."""
    with incoming.service.store.read() as tx:
        return history.compaction_of_job(tx, incoming.tenant, job)


@router.get("/sessions/{session_id}/compactions", **described(Page[CompactionAnswer]))
def list_compactions(session_id: str, incoming: FromRequest, cursor: Cursor = None, limit: Limit = 50) -> Response:
    """List the compactions on the path in use, oldest first; those that were undone are not `live`."""
    with incoming.service.store.read() as tx:
        found = history.compactions(tx, incoming.tenant, session_id, after(cursor), limit + 1)
    return json_response(page(found, limit, _position, serializers.compaction))


def _position(compaction: Compaction) -> int:
    return history.seq_of(compaction.id)


@router.post("/sessions/{session_id}/compactions/{compaction_id}/undo", **described(UndoneAnswer, body=Moving))
def undo_compaction(session_id: str, compaction_id: str, incoming: FromRequest) -> Response:
    """Take back a compaction and all later ones."""

    def work(tx: Transaction) -> StoredResponse:
        undone, path = undo.undo(tx, incoming.tenant, session_id, compaction_id, parent=body.parent, if_match=if_match)
        return answer({"undone": undone, "version": path.session.version})

    body, if_match = incoming.body(Moving), incoming.if_match
    return change(incoming, work)


@router.post("/sessions/{session_id}/redo", **described(RedoneAnswer, body=Moving))
def redo_compactions(session_id: str, incoming: FromRequest) -> Response:
    """Take back the last undo."""

    def work(tx: Transaction) -> StoredResponse:
        redone, path = undo.redo(tx, incoming.tenant, session_id, parent=body.parent, if_match=if_match)
        return answer({"redone": redone, "version": path.session.version})

    body, if_match = incoming.body(Moving), incoming.if_match
    return change(incoming, work)


@router.post("/sessions/{session_id}/branch", **described(MovedAnswer, body=BranchBody))
def move_to_branch(session_id: str, incoming: FromRequest) -> Response:
    """Make an entry the head; what comes next starts a new branch there, or goes on at the end of its branch.

    With `summarize`, what is left behind gets a summary: a job writes it, and it comes at the end of the branch that is
    gone to. `summary_entry_id` is that entry, if it is there at once.
    """

    def work(tx: Transaction) -> StoredResponse:
        moved = branches.move(
            tx, incoming.tenant, session_id, body.entry_id, ask=ask, parent=body.parent, if_match=if_match
        )
        path, request = moved.path, moved.request
        return answer(
            {
                "version": path.session.version,
                "budget": serializers.budget(path),
                "open_calls": open_calls_of(path),
                "compaction": serializers.step(path, moved.step),
                "job": None if request is None else serializers.job(queries.job(tx, incoming.tenant, request.job_id)),
                "summary_entry_id": moved.placed,
            }
        )

    body, if_match = incoming.body(BranchBody), incoming.if_match
    if body.instructions is not None and not body.summarize:
        raise InvalidRequest("instructions", "are for a summary; ask for one with summarize")
    ask = SummaryRequest(is_asked=True, instructions=body.instructions) if body.summarize else None
    return change(incoming, work)


@router.get("/sessions/{session_id}/branches", **described(Page[BranchAnswer]))
def list_branches(session_id: str, incoming: FromRequest, cursor: Cursor = None, limit: Limit = 50) -> Response:
    """List the branches, oldest first."""
    with incoming.service.store.read() as tx:
        found = branches.branches(tx, incoming.tenant, session_id, after(cursor), limit + 1)
    # Branches are numbered from 0 and a first page begins at 0, so a cursor names the branch that comes next.
    return json_response(page(found, limit, lambda branch: branch.number + 1, serializers.branch))
