"""Summary requests: which job a wish for a summary becomes, joins, or is answered by without one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import and_, bindparam, insert, select, update

from foldline.engine.outline import Outline
from foldline.log.compaction import ranges, summaries
from foldline.log.compaction.compactions import Compaction
from foldline.log.compaction.summaries import Made
from foldline.log.compaction.summary_request import SummaryRequest, request_from_json, request_to_json
from foldline.log.job_state import ACTIVE, JobState
from foldline.log.storage import entry_log
from foldline.log.storage.events import JobEnded, JobWaits
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
_ACTIVE: Final = select(JOB.c.id, JOB.c.state, JOB.c.parameters, JOB.c.queue).where(
    _IS_ALIKE, one_of(JOB.c.state, ACTIVE)
)
_NEWEST: Final = select(JOB.c.error).where(_IS_ALIKE).order_by(JOB.c.number.desc()).limit(1)
_INSERT: Final = insert(JOB)


@dataclass(frozen=True, slots=True)
class QueuedJob:
    """The job that will answer a wish; `is_joined` if it was there already."""

    job_id: str
    is_joined: bool = False


def request_summary(
    tx: Transaction, path: Path, ask: SummaryRequest, outline: Outline | None = None
) -> QueuedJob | Compaction | None:
    """Answer a wish for a summary with a job, or with the compaction that publishes one kept from before.

    None if nothing is left to summarize. `outline` is the path's, if the caller has planned on it. Without a plan an
    automatic wish joins whatever job the branch has and looks no further: a turn must not cost more while jobs wait.
    """
    if outline is None and not ask.is_asked:
        active = _active(tx, path, ask)
        if active:
            return QueuedJob((active.get(JobState.RUNNING) or active[JobState.QUEUED]).id, is_joined=True)
    outline = outline or entry_log.outline(tx, path)
    wanted = ranges.find(tx, path, ask, outline)
    if wanted is None:
        return None
    kept = summaries.kept(tx, summaries.kept_key(path, wanted, ask))
    if kept is None:
        return enqueue(tx, path, ask)
    applied = ranges.apply(tx, path, Made(wanted, kept, ask), outline)
    if applied is None:
        show_no_room(tx, path, ask)
        return None
    return applied.compaction


def enqueue(tx: Transaction, path: Path, ask: SummaryRequest) -> QueuedJob:
    """Single flight: join the running job if it will do, or the waiting one, or wait behind the running one."""
    active = _active(tx, path, ask)
    waiting, running = active.get(JobState.QUEUED), active.get(JobState.RUNNING)
    if running is not None and (not ask.is_asked or request_from_json(running.parameters) == ask):
        return QueuedJob(running.id, is_joined=True)
    if waiting is not None:
        _update_waiting(tx, waiting, ask)
        return QueuedJob(waiting.id, is_joined=True)
    return QueuedJob(_insert(tx, path, ask))


def _active(tx: Transaction, path: Path, ask: SummaryRequest) -> dict[str, Any]:
    """The jobs, by their states, that are there for such a wish: one may run, and one wait."""
    return {row.state: row for row in tx.execute(_ACTIVE, _alike(path, ask))}


def _alike(path: Path, ask: SummaryRequest) -> dict[str, Any]:
    return {"pk": path.session.pk, "branch": path.branch, "kind": ask.kind, "subject": ask.subject}


def _update_waiting(tx: Transaction, waiting: Any, ask: SummaryRequest) -> None:
    if not ask.is_asked:
        return
    values = {"parameters": request_to_json(ask), "queue": INTERACTIVE, "is_asked": True, "not_before": 0}
    tx.execute(update(JOB).where(JOB.c.id == waiting.id).values(values))
    tx.events.append(JobWaits(INTERACTIVE))


def _insert(
    tx: Transaction, path: Path, ask: SummaryRequest, *, state: JobState = JobState.QUEUED, error: str | None = None
) -> str:
    job_id = tx.new_id("job")
    queue = INTERACTIVE if ask.is_asked else BACKGROUND
    ended = state != JobState.QUEUED
    row = {
        "id": job_id,
        "session_pk": path.session.pk,
        "tenant": path.session.tenant,
        "branch": path.branch,
        "kind": ask.kind,
        "subject": ask.subject,
        "state": state,
        "queue": queue,
        "is_asked": ask.is_asked,
        "attempts": 0,
        "progress": 0.0,
        "error": error,
        "lease_until": 0,
        "not_before": 0,
        "created_at": tx.now,
        "ended_at": tx.now if ended else None,
        "parameters": request_to_json(ask),
        "traceparent": tx.traceparent,
    }
    tx.execute(_INSERT, row)
    if not ended:
        tx.events.append(JobWaits(queue))
    return job_id


def show_no_room(tx: Transaction, path: Path, ask: SummaryRequest) -> None:
    """A kept summary does not fit: let that be visible as the branch's newest job, once."""
    newest = tx.execute(_NEWEST, _alike(path, ask)).scalar()
    if newest != NO_ROOM:
        job_id = _insert(tx, path, ask, state=JobState.FAILED, error=NO_ROOM)
        tx.events.append(JobEnded(ask.kind, JobState.FAILED, path.session.id, job_id, NO_ROOM))
