"""Compact, undo and redo, and the list of compactions."""

from __future__ import annotations

from http import HTTPStatus
from types import MappingProxyType
from typing import Any, Final

from fastapi import APIRouter, Response

from foldline.log.access.audit import AuditedAction
from foldline.log.compaction.compactions import Compaction
from foldline.log.compaction.summary_request import SummaryRequest
from foldline.log.jobs import queries
from foldline.log.jobs.queries import Job
from foldline.log.storage.store import Transaction
from foldline.log.use_cases import history, undo
from foldline.log.use_cases.compact import CompactResult, compact, rehearse
from foldline_api import serializers
from foldline_api.http.request import ApiRequest, FromRequest
from foldline_api.http.responses import JsonAnswer, page_response, position_of, to_response, write_once
from foldline_api.http.route_classes import ThreadRoute
from foldline_api.schemas.answers import (
    CompactAnswer,
    CompactionAnswer,
    CompactionWithSummaryAnswer,
    Page,
    RedoneAnswer,
    UndoneAnswer,
)
from foldline_api.schemas.bodies import CompactBody, Moving
from foldline_api.schemas.openapi import described
from foldline_api.schemas.parameters import Cursor, Limit

router = APIRouter(tags=["compactions"], route_class=ThreadRoute)

# Fields that an answer lacks if an older version stored it under an idempotency key.
NOT_IN_OLDER: Final = MappingProxyType({"target": None, "not_compacted": None})


@router.post(
    "/sessions/{session_id}/compact",
    **described(CompactAnswer, body=CompactBody, others={202: "A job has not ended yet."}),
)
async def compact_session(session_id: str, incoming: FromRequest) -> Response:
    """Compact now, whatever the trigger says.

    With `Prefer: wait=N`, the answer waits up to N seconds for the job of the summary.
    """
    answer = await incoming.with_body_in_thread(_compact, incoming, session_id)
    seconds, watch = incoming.wait_seconds, incoming.service.watch
    if answer.status != HTTPStatus.ACCEPTED or not seconds or not watch.has_room(incoming.tenant):
        return to_response(answer)
    job = await incoming.in_thread(_job, incoming, answer.body["job"]["id"])
    job = await watch.ended(incoming.tenant, job, seconds)
    compaction = await incoming.in_thread(_compaction_of, incoming, job)
    return to_response(_with_job(answer, job, compaction, seconds))


def _compact(incoming: ApiRequest, session_id: str) -> JsonAnswer:
    body, if_match = incoming.body(CompactBody), incoming.if_match
    request = SummaryRequest(
        is_asked=True, instructions=body.instructions, target_tokens=body.target_tokens, policy=body.policy
    )
    run, to_answer = (rehearse, _rehearsal_answer) if body.dry_run else (compact, _compact_answer)

    def work(tx: Transaction) -> JsonAnswer:
        done = run(
            tx, incoming.tenant, session_id, request, stages=body.stages, summarize=body.summarize,
            parent=body.parent, if_match=if_match,
        )  # fmt: skip
        if done.effect_id is not None:
            incoming.note(tx, AuditedAction.COMPACTED, done.effect_id)
        return to_answer(done)

    if not body.dry_run:
        return write_once(incoming, work)
    with incoming.service.store.rehearse() as tx:
        return work(tx)


def _compact_answer(done: CompactResult) -> JsonAnswer:
    job = None if done.job is None else serializers.job_json(done.job)
    result = serializers.result_json(done.step, done.tokens_before, done.path.used)
    status = HTTPStatus.OK if job is None else HTTPStatus.ACCEPTED
    why_not = serializers.not_compacted_json(done.step)
    target = serializers.target_json(done.step.target, done.path.used)
    said = {"job": job, "joined": done.is_joined, "result": result, "target": target, "not_compacted": why_not}
    return JsonAnswer(said, status)


def _rehearsal_answer(done: CompactResult) -> JsonAnswer:
    result = serializers.result_json(done.step, done.tokens_before, done.path.used)
    summary = None if done.planned_cut is None else done.planned_cut.as_json
    why_not = serializers.not_compacted_json(done.step)
    target = serializers.target_json(done.step.target, done.path.used)
    said = {"job": None, "joined": False, "result": result, "target": target, "not_compacted": why_not}
    return JsonAnswer({**said, "summary": summary})


def _job(incoming: ApiRequest, job_id: str) -> Job:
    with incoming.service.store.read() as tx:
        return queries.job(tx, incoming.tenant, job_id)


def _compaction_of(incoming: ApiRequest, job: Job) -> Compaction | None:
    with incoming.service.store.read() as tx:
        return history.compaction_of_job(tx, incoming.tenant, job)


def _with_job(answer: JsonAnswer, job: Job, compaction: Compaction | None, seconds: float) -> JsonAnswer:
    """The answer to a request that waited for its job: `result` includes the job's compaction, if it made one."""
    body: dict[str, Any] = {**answer.body, "job": serializers.job_json(job)}
    for name, value in NOT_IN_OLDER.items():
        body.setdefault(name, value)
    if compaction is not None:
        body["result"] = serializers.result_json_with(body["result"], compaction)
        body["target"] = serializers.target_json_after(body["target"], compaction)
    status = HTTPStatus.OK if job.has_ended else HTTPStatus.ACCEPTED
    return JsonAnswer(body, status, {"Preference-Applied": f"wait={seconds:.0f}"})


@router.get("/sessions/{session_id}/compactions", **described(Page[CompactionAnswer]))
def list_compactions(session_id: str, incoming: FromRequest, cursor: Cursor = None, limit: Limit = 50) -> Response:
    """List the compactions on the path in use, oldest first. Those that are undone are not `live`."""
    after = position_of(incoming, cursor)
    with incoming.service.store.read() as tx:
        found = history.compactions(tx, incoming.tenant, session_id, after, limit + 1)
    return page_response(incoming, found, limit, _seq_of, serializers.compaction_json)


@router.get("/sessions/{session_id}/compactions/{compaction_id}", **described(CompactionWithSummaryAnswer))
def read_compaction(session_id: str, compaction_id: str, incoming: FromRequest) -> Response:
    """Read a compaction on the path in use, with its summary and the entry behind each line of that."""
    with incoming.service.store.read() as tx:
        found, summary = history.compaction(tx, incoming.tenant, session_id, compaction_id)
    return to_response(JsonAnswer(serializers.compaction_with_summary_json(found, summary)))


def _seq_of(compaction: Compaction) -> int:
    return history.seq_of(compaction.id)


@router.post("/sessions/{session_id}/compactions/{compaction_id}/undo", **described(UndoneAnswer, body=Moving))
def undo_compaction(session_id: str, compaction_id: str, incoming: FromRequest) -> Response:
    """Take back a compaction and all later ones."""
    body, if_match = incoming.body(Moving), incoming.if_match

    def work(tx: Transaction) -> JsonAnswer:
        undone, path = undo.undo(
            tx, incoming.tenant, session_id, compaction_id, parent=body.parent, if_match=if_match
        )  # fmt: skip
        incoming.note(tx, AuditedAction.UNDID, compaction_id)
        return JsonAnswer({"undone": undone, "version": path.session.version})

    return to_response(write_once(incoming, work))


@router.post("/sessions/{session_id}/redo", **described(RedoneAnswer, body=Moving))
def redo_compactions(session_id: str, incoming: FromRequest) -> Response:
    """Restore the compactions that the last undo took back."""
    body, if_match = incoming.body(Moving), incoming.if_match

    def work(tx: Transaction) -> JsonAnswer:
        redone, path = undo.redo(tx, incoming.tenant, session_id, parent=body.parent, if_match=if_match)
        incoming.note(tx, AuditedAction.REDID)
        return JsonAnswer({"redone": redone, "version": path.session.version})

    return to_response(write_once(incoming, work))
