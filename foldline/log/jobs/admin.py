"""The operator's view of jobs, over all tenants: list, count, retry, cancel."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Final

from sqlalchemy import ColumnElement, func, select, update

from foldline.log.access import audit
from foldline.log.access.audit import AuditedAction
from foldline.log.compaction import enqueue
from foldline.log.compaction.enqueue import QueuedJob
from foldline.log.compaction.summary_request import request_from_json
from foldline.log.errors import Conflict, NotFound
from foldline.log.events import JobWaits
from foldline.log.job_state import JobState
from foldline.log.jobs import endings
from foldline.log.storage import paths
from foldline.log.storage.rows import Path
from foldline.log.storage.store import Transaction
from foldline.log.storage.tables import JOB, SESSION

# Why a job in this state cannot be retried.
NOT_AGAIN: Final = {JobState.RUNNING: "it is running; cancel it first", JobState.SUCCEEDED: "it has succeeded"}
NO_ROOM_FOR_JOB: Final = "its tenant has as many jobs as FOLDLINE_TENANT_JOBS allows"


@dataclass(frozen=True, slots=True)
class AdminJob:
    """A job as its operator sees it. Times are milliseconds since the epoch."""

    id: str
    tenant: str
    session_id: str
    branch: int
    state: str
    queue: str
    attempts: int
    lease_until: int
    not_before: int
    created_at: int
    ended_at: int | None
    superseded_by: str | None
    error: str | None


@dataclass(frozen=True, slots=True)
class Chosen:
    """A filter of jobs by state, session and tenant; an empty field matches all."""

    states: tuple[str, ...] = ()
    session_id: str | None = None
    tenant: str | None = None

    @property
    def conditions(self) -> list[ColumnElement[bool]]:
        """The filter as SQL conditions on a join of jobs and sessions."""
        conditions: list[ColumnElement[bool]] = [SESSION.c.deleted_at.is_(None)]
        if self.states:
            conditions.append(JOB.c.state.in_(self.states))
        if self.session_id is not None:
            conditions.append(SESSION.c.id == self.session_id)
        if self.tenant is not None:
            conditions.append(JOB.c.tenant == self.tenant)
        return conditions


_COLUMNS: Final = {"session_id": SESSION.c.id, **{column.name: column for column in JOB.c}}
_WITH_SESSION: Final = JOB.join(SESSION, SESSION.c.pk == JOB.c.session_pk)


def newest(tx: Transaction, chosen: Chosen, limit: int) -> list[AdminJob]:
    """The newest jobs that match, up to `limit`, newest last."""
    columns = [_COLUMNS[field.name].label(field.name) for field in fields(AdminJob)]
    statement = select(*columns).select_from(_WITH_SESSION).where(*chosen.conditions)
    rows = tx.execute(statement.order_by(JOB.c.number.desc()).limit(limit)).all()
    return [AdminJob(**row._asdict()) for row in reversed(rows)]


def count_by_state(tx: Transaction, chosen: Chosen) -> dict[str, int]:
    """The number of matching jobs by state; states without jobs are left out."""
    statement = select(JOB.c.state, func.count().label("number")).select_from(_WITH_SESSION)
    rows = tx.execute(statement.where(*chosen.conditions).group_by(JOB.c.state))
    return {row.state: row.number for row in rows}


def failed(tx: Transaction) -> list[str]:
    """The ids of the failed jobs that no later job of the same kind replaces, oldest first."""
    later = JOB.alias("later")
    has_later = (
        select(later.c.number)
        .where(later.c.session_pk == JOB.c.session_pk, later.c.branch == JOB.c.branch)
        .where(later.c.kind == JOB.c.kind, later.c.subject == JOB.c.subject, later.c.number > JOB.c.number)
        .exists()
    )
    statement = select(JOB.c.id).select_from(_WITH_SESSION).where(*Chosen((JobState.FAILED,)).conditions, ~has_later)
    return list(tx.execute(statement.order_by(JOB.c.number)).scalars())


def retry(tx: Transaction, job_id: str) -> QueuedJob:
    """Queue the work of an ended job again, or let a job that is held back run at once.

    Raises:
        NotFound: there is no such job, or its session was deleted.
        Conflict: it is running, or has succeeded, or its tenant has as many jobs as it may.
    """
    path, job = _open(tx, job_id)
    if job.state in NOT_AGAIN:
        raise Conflict(NOT_AGAIN[job.state])
    queued = _requeued(tx, path, job)
    path.next_summary_at = 0
    paths.save_edited(tx, path, path.leaf_seq)
    lifted = (JOB.c.id == queued.job_id, JOB.c.state == JobState.QUEUED)
    tx.execute(update(JOB).where(*lifted).values(not_before=0))
    tx.events += map(JobWaits, tx.execute(select(JOB.c.queue).where(*lifted)).scalars())
    return queued


def _open(tx: Transaction, job_id: str) -> tuple[Path, Any]:
    """The job and its path, both locked. The session is locked before the job, as in every transaction."""
    place = tx.execute(select(JOB.c.session_pk, JOB.c.branch).where(JOB.c.id == job_id)).first()
    path = None if place is None else paths.open_branch(tx, place.session_pk, place.branch)
    if path is None:
        raise NotFound("job", job_id)
    return path, tx.execute(select(JOB).where(JOB.c.id == job_id)).one()


def _requeued(tx: Transaction, path: Path, job: Any) -> QueuedJob:
    """The branch's waiting job, if it is this one or a caller requested it; else a job as for any summary request."""
    here = (JOB.c.session_pk == path.session.pk, JOB.c.branch == path.branch)
    alike = (JOB.c.kind == job.kind, JOB.c.subject == job.subject)
    waiting = tx.execute(select(JOB.c.id, JOB.c.is_asked).where(*here, *alike, JOB.c.state == JobState.QUEUED)).first()
    # A later request of a caller keeps its own parameters.
    if waiting is not None and (waiting.id == job.id or (waiting.is_asked and job.is_asked)):
        return QueuedJob(waiting.id, is_joined=True)
    queued = enqueue.enqueue(tx, path, replace(request_from_json(job.parameters), declined=None))
    if queued is None:
        raise Conflict(NO_ROOM_FOR_JOB)
    return queued


def cancel(tx: Transaction, job_id: str) -> None:
    """Cancel a waiting or running job, and note it; a worker that has it stops when it next extends the lease.

    Raises:
        NotFound: there is no such job.
        Conflict: it has ended already.
    """
    columns = select(JOB.c.tenant, SESSION.c.id).select_from(_WITH_SESSION)
    found = tx.execute(columns.where(JOB.c.id == job_id)).first()
    if found is None:
        raise NotFound("job", job_id)
    endings.cancel(tx, found.tenant, job_id)
    audit.record(tx, found.tenant, audit.COMMAND, AuditedAction.CANCELLED_JOB, session_id=found.id, object_id=job_id)
