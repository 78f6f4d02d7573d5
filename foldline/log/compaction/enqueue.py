"""Turns a summary request into a job: a new one, one it joins, or none where a kept summary is published at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import and_, bindparam, func, insert, select, update

from foldline.engine.edits import Edit
from foldline.engine.outline import Outline
from foldline.engine.planning.tool_loops import strips_open_loop
from foldline.log.compaction import ranges, summaries
from foldline.log.compaction.compactions import Compaction
from foldline.log.compaction.summaries import Made, Wanted
from foldline.log.compaction.summary_request import (
    AUTOMATIC,
    SummaryRequest,
    as_asked,
    request_from_json,
    request_to_json,
)
from foldline.log.compaction.usage_estimate import fits
from foldline.log.errors import TenantLimitReached
from foldline.log.events import JobEnded, JobWaits, TenantLimited
from foldline.log.job_order import NEXT_TURN, hurry, is_close, turn_values
from foldline.log.job_state import ACTIVE, JobState
from foldline.log.storage import entry_log
from foldline.log.storage.rows import Path
from foldline.log.storage.store import Transaction
from foldline.log.storage.tables import JOB, one_of

INTERACTIVE: Final = "summarize.interactive"
BACKGROUND: Final = "summarize.background"
NO_ROOM: Final = "no-room"

_IS_ALIKE: Final = and_(
    JOB.c.session_pk == bindparam("pk"),
    JOB.c.branch == bindparam("branch"),
    JOB.c.kind == bindparam("kind"),
    JOB.c.subject == bindparam("subject"),
)
_ACTIVE: Final = select(JOB.c.id, JOB.c.state, JOB.c.parameters, JOB.c.queue, JOB.c.error, JOB.c.can_wait).where(
    _IS_ALIKE, one_of(JOB.c.state, ACTIVE)
)
_WAKE: Final = update(JOB).where(JOB.c.id == bindparam("job")).values(not_before=0, error=None)
# The note of a job whose summary is written, and is published when a tool loop has ended.
IN_TOOL_LOOP: Final = "the summary is ready; it waits for the end of a tool loop, because it would strip its reasoning"
_NOTE: Final = update(JOB).where(JOB.c.id == bindparam("job")).values(error=bindparam("note"))
# The note of a job whose summary is written, where an interim summary stands in its place for now.
FOR_A_CHANGE: Final = "the summary is ready; it waits until the view changes anyway, or is in no cache any more"
_NEWEST: Final = select(JOB.c.error).where(_IS_ALIKE).order_by(JOB.c.number.desc()).limit(1)
_INSERT: Final = insert(JOB).values(turn=NEXT_TURN)
_MOVE: Final = (
    update(JOB).where(JOB.c.id == bindparam("job")).values(queue=bindparam("to_queue"), turn=NEXT_TURN, can_wait=True)
)


# In the order of the index.
_LIVE_JOBS: Final = select(func.count()).where(
    JOB.c.state.in_(ACTIVE), JOB.c.queue.in_((INTERACTIVE, BACKGROUND)), JOB.c.tenant == bindparam("tenant")
)
TENANT_JOBS: Final = "tenant_jobs"
# A guess: jobs go when workers have done them.
JOBS_RETRY_SECONDS: Final = 10


@dataclass(frozen=True, slots=True)
class QueuedJob:
    """The job that a summary request waits for; `is_joined` if the job existed before the request."""

    job_id: str
    is_joined: bool = False


def request_summary(
    tx: Transaction, path: Path, request: SummaryRequest, outline: Outline | None = None
) -> QueuedJob | Compaction | None:
    """The job for a summary request, or the compaction that publishes a kept summary; None if nothing is left to
    summarize, or no job may be queued (see `enqueue`).

    `outline` is the path's, if the caller has planned on it. Without it, an automatic request joins any job that the
    branch has, and reads nothing else: an append must not cost more while jobs wait.
    """
    is_unread = outline is None or not outline.is_whole
    if is_unread and not request.is_asked:
        under_way = job_under_way(tx, path, request)
        if under_way is not None:
            return under_way
    outline = entry_log.whole_outline(tx, path, outline)
    wanted = ranges.find(tx, path, request, outline)
    if wanted is None:
        return None
    kept = summaries.kept(tx, summaries.kept_key(path, wanted, request))
    if kept is None:
        return enqueue(tx, path, request)
    applied = ranges.apply(tx, path, Made(wanted, kept, request), outline)
    if applied is None:
        show_no_room(tx, path, request)
        return None
    return applied.compaction


def publish_waiting(tx: Transaction, path: Path) -> Compaction | None:
    """Publish the summary that waits until the view changes anyway; None if there is none, or no room for it."""
    row = _active(tx, path, AUTOMATIC).get(JobState.QUEUED)
    if row is None or row.error != FOR_A_CHANGE:
        return None
    request, outline = request_from_json(row.parameters), entry_log.outline(tx, path)
    wanted = ranges.find(tx, path, request, outline)
    if wanted and fits(path, path.aims()) and strips_open_loop(outline, [edit_of(wanted)], path.edits_at):
        tx.change(_NOTE, {"job": row.id, "note": IN_TOOL_LOOP})
        return None
    kept = summaries.kept(tx, summaries.kept_key(path, wanted, request)) if wanted else None
    applied = ranges.apply(tx, path, Made(wanted, kept, request), outline) if wanted and kept else None
    # It ends, or makes the summary of what has to be summarized now.
    tx.change(_WAKE, {"job": row.id})
    tx.events.append(JobWaits(row.queue))
    return applied.compaction if applied else None


def edit_of(wanted: Wanted) -> Edit:
    """The edit that puts a summary in the place of its range."""
    return Edit("condense", wanted.covered.first, wanted.covered.last)


def job_under_way(tx: Transaction, path: Path, request: SummaryRequest) -> QueuedJob | None:
    """The job of the request's kind that the branch has, running rather than queued."""
    active = _active(tx, path, request)
    row = active.get(JobState.RUNNING) or active.get(JobState.QUEUED)
    return None if row is None else _joined(tx, path, row)


def _joined(tx: Transaction, path: Path, row: Any) -> QueuedJob:
    """The job that a request joins; one that waited for the end of a tool loop goes on once that has ended."""
    if row.error == IN_TOOL_LOOP and not path.is_in_tool_loop:
        tx.change(_WAKE, {"job": row.id})
        tx.events.append(JobWaits(row.queue))
    if row.state == JobState.QUEUED and row.can_wait and is_close(path):
        hurry(tx, path, row.id)
    return QueuedJob(row.id, is_joined=True)


def has_waiting(tx: Transaction, path: Path, request: SummaryRequest) -> bool:
    """Whether a job of the request's kind waits on the branch."""
    return JobState.QUEUED in _active(tx, path, request)


def enqueue(tx: Transaction, path: Path, request: SummaryRequest) -> QueuedJob | None:
    """The job for a summary request. At most one job of a kind runs on a branch, and at most one waits (single flight).

    None if the request is automatic and the tenant has as many jobs as it may: then automatic jobs of the branch are
    held back for a while. A caller's request is checked where the caller is answered (`check_new`).

    The request joins the running job if it is automatic or the job's parameters are the same. Otherwise it joins and
    updates the waiting job, or becomes a new one.
    """
    active = _active(tx, path, request)
    waiting, running = active.get(JobState.QUEUED), active.get(JobState.RUNNING)
    if running is not None and (not request.is_asked or as_asked(request_from_json(running.parameters)) == request):
        return QueuedJob(running.id, is_joined=True)
    if waiting is not None:
        _update_waiting(tx, path, waiting, request)
        return _joined(tx, path, waiting)
    if not request.is_asked and not _has_room(tx, path.session.tenant):
        tx.events.append(TenantLimited(TENANT_JOBS))
        path.next_summary_at = max(path.next_summary_at, tx.now + tx.limits.retry_seconds * 1000)
        return None
    return QueuedJob(_insert(tx, path, request))


def check_new(tx: Transaction, tenant: str, queued: QueuedJob | None) -> None:
    """Check that a tenant may have the job that this transaction has queued for a caller, if it has.

    Raises:
        TenantLimitReached: it may not.
    """
    if queued is not None and not queued.is_joined and not _has_room(tx, tenant, is_queued=True):
        what = "too many jobs of the tenant wait or run"
        raise TenantLimitReached(tx.limits.tenant_jobs, TENANT_JOBS, what, JOBS_RETRY_SECONDS)


def _has_room(tx: Transaction, tenant: str, *, is_queued: bool = False) -> bool:
    """Whether a tenant may have one more job that waits or runs. `is_queued`: this one is in the table already."""
    most = tx.limits.tenant_jobs

    def count() -> int:
        return int(tx.execute(_LIVE_JOBS, {"tenant": tenant}).scalar()) - is_queued

    return not most or tx.room.take((TENANT_JOBS, tenant), most, count, tx.now)


def _active(tx: Transaction, path: Path, request: SummaryRequest) -> dict[str, Any]:
    """The branch's jobs of the request's kind and subject, by state: at most one running and one queued."""
    return {row.state: row for row in tx.execute(_ACTIVE, _same_kind(path, request))}


def _same_kind(path: Path, request: SummaryRequest) -> dict[str, Any]:
    return {"pk": path.session.pk, "branch": path.branch, "kind": request.kind, "subject": request.subject}


def _update_waiting(tx: Transaction, path: Path, waiting: Any, request: SummaryRequest) -> None:
    if not request.is_asked:
        return
    values = {"parameters": request_to_json(request), "is_asked": True, "not_before": 0}
    tx.execute(update(JOB).where(JOB.c.id == waiting.id).values(values))
    if waiting.queue != INTERACTIVE:
        tx.execute(_MOVE, {"job": waiting.id, "to_queue": INTERACTIVE, **turn_values(tx, path, INTERACTIVE)})
        if is_close(path):
            hurry(tx, path, waiting.id)
    tx.events.append(JobWaits(INTERACTIVE))


def _insert(
    tx: Transaction, path: Path, request: SummaryRequest, *, state: JobState = JobState.QUEUED, error: str | None = None
) -> str:
    job_id = tx.new_id("job")
    queue = INTERACTIVE if request.is_asked else BACKGROUND
    ended = state != JobState.QUEUED
    row = {
        "id": job_id,
        "session_pk": path.session.pk,
        "tenant": path.session.tenant,
        "branch": path.branch,
        "kind": request.kind,
        "subject": request.subject,
        "state": state,
        "queue": queue,
        "is_asked": request.is_asked,
        "attempts": 0,
        "progress": 0.0,
        "error": error,
        "lease_until": 0,
        "not_before": 0,
        "created_at": tx.now,
        "ended_at": tx.now if ended else None,
        "parameters": request_to_json(request),
        "traceparent": tx.traceparent,
    }
    tx.execute(_INSERT, row | turn_values(tx, path, queue))
    if not ended:
        tx.events.append(JobWaits(queue))
        if is_close(path):
            hurry(tx, path, job_id)
    return job_id


def show_no_room(tx: Transaction, path: Path, request: SummaryRequest) -> None:
    """Add a failed job that says that a kept summary does not fit, unless the branch's newest job says so already."""
    newest = tx.execute(_NEWEST, _same_kind(path, request)).scalar()
    if newest != NO_ROOM:
        job_id = _insert(tx, path, request, state=JobState.FAILED, error=NO_ROOM)
        tx.events.append(JobEnded(request.kind, JobState.FAILED, path.session.id, job_id, NO_ROOM))
