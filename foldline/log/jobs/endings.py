"""How jobs end other than by a publish: they fail, are cancelled, or go back to the queue. Ended is ended."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Float, bindparam, func, select, update

from foldline.engine.errors import CompactionError
from foldline.engine.wire import dumps
from foldline.log.errors import Conflict, NotFound
from foldline.log.job_state import JobState
from foldline.log.jobs.kinds import JOB_KINDS
from foldline.log.jobs.leases import Claim, open_claimed
from foldline.log.storage import paths
from foldline.log.storage.events import JobEnded, JobWaits
from foldline.log.storage.rows import Path
from foldline.log.storage.store import Store, Transaction
from foldline.log.storage.tables import JOB, SESSION

# What a row that this version cannot read raises: a preset or model that is gone, a value of another shape.
UNWORKABLE: Final = (CompactionError, LookupError, TypeError, ValueError)
# A pause is up to so much longer, by chance, so that sessions which failed together do not come back together.
JITTER: Final = 0.25
LEASE_LAPSED: Final = "the worker's lease lapsed"

_ENDED: Final = ("state", "error", "superseded_by", "ended_at", "result")
_END: Final = (
    update(JOB)
    .where(JOB.c.id == bindparam("job"), JOB.c.ended_at.is_(None))
    .values({name: bindparam(name) for name in _ENDED} | {"lease": None})
    .values(progress=func.coalesce(bindparam("share", type_=Float), JOB.c.progress))
    .returning(JOB.c.kind, select(SESSION.c.id).where(SESSION.c.pk == JOB.c.session_pk).scalar_subquery())
)
_STATE: Final = select(JOB.c.state).where(JOB.c.id == bindparam("job"))


def fail(store: Store, done: Claim, error: str, retry_after_seconds: float | None = None) -> None:
    """End a job visibly; automatic ones on its branch are held back for a while, or for as long as was asked."""
    with store.write() as tx:
        path, job = open_claimed(tx, done)
        if path is not None and job is not None:
            fail_in(tx, path, job, error, retry_after_seconds)
            paths.save_edited(tx, path, path.leaf_seq)


def fail_in(tx: Transaction, path: Path, job: Any, error: str, retry_after_seconds: float | None = None) -> None:
    """As `fail`, within a transaction that has the path open."""
    _end_in_vain(tx, path, job, JobState.FAILED, error, retry_after_seconds=retry_after_seconds)


def _end_in_vain(
    tx: Transaction, path: Path, job: Any, state: JobState, error: str, *, retry_after_seconds: float | None = None
) -> None:
    end(tx, job.id, state, error)
    if not JOB_KINDS[job.kind].is_edit:
        # Nothing that the trigger asks for is of its kind.
        return
    path.next_summary_at = tx.now + int(_pause_seconds(tx, path.failures, retry_after_seconds) * 1000)
    path.failures += 1
    tx.execute(
        update(JOB)
        .where(JOB.c.session_pk == path.session.pk, JOB.c.branch == path.branch, JOB.c.state == JobState.QUEUED)
        .where(JOB.c.is_asked.is_(False))
        .values(not_before=path.next_summary_at)
    )


def _pause_seconds(tx: Transaction, failures: int, asked_seconds: float | None) -> float:
    """Twice as long after each failure in a row."""
    limits = tx.limits
    seconds = max(limits.retry_seconds << min(failures, 16), asked_seconds or 0)
    return min(seconds, limits.retry_seconds_max) * (1 + JITTER * tx.chance())


def cancel_held(store: Store, done: Claim, reason: str) -> None:
    """Cancel a claimed job, unless it is not held any more; automatic ones are held back as after a failure."""
    with store.write() as tx:
        path, job = open_claimed(tx, done)
        if path is not None and job is not None:
            _end_in_vain(tx, path, job, JobState.CANCELLED, reason)
            paths.save_edited(tx, path, path.leaf_seq)


def release(store: Store, done: Claim) -> None:
    """Hand a job back at once; that was no attempt."""
    with store.write() as tx:
        _, job = open_claimed(tx, done)
        if job is not None:
            requeue(tx, job, attempts=job.attempts - 1, error=None)


def state_of(tx: Transaction, job_id: str) -> JobState:
    """The state a job is in; `cancelled` if it is gone with its session."""
    return JobState(tx.execute(_STATE, {"job": job_id}).scalar() or JobState.CANCELLED)


def end(
    tx: Transaction,
    job_id: str,
    state: JobState,
    error: str | None = None,
    *,
    by: str | None = None,
    result: dict[str, Any] | None = None,
) -> bool:
    """End a job; False, and nothing changed, if it has ended already."""
    error = None if error is None else _storable(error)
    ended = {
        "job": job_id,
        "state": state,
        "error": error,
        "superseded_by": by,
        "ended_at": tx.now,
        "result": None if result is None else dumps(result),
        "share": None if result is None else 1.0,
    }
    row = tx.execute(_END, ended).first()
    if row is None:
        return False
    kind, session_id = row
    tx.events.append(JobEnded(kind, state, session_id, job_id, error))
    return True


def _storable(text: str) -> str:
    """Without what no column of text takes: an error may quote what a caller sent."""
    return text.encode(errors="replace").decode().replace("\0", "")


def cancel(tx: Transaction, tenant: str, job_id: str) -> None:
    """Cancel a job that is waiting or running.

    Raises:
        NotFound: no such job.
        Conflict: it has ended already.
    """
    if tx.execute(select(JOB.c.id).where(JOB.c.tenant == tenant, JOB.c.id == job_id)).first() is None:
        raise NotFound("job", job_id)
    if not end(tx, job_id, JobState.CANCELLED):
        raise Conflict(f"the job has ended already: {state_of(tx, job_id)}")


def requeue(tx: Transaction, job: Any, *, attempts: int, error: str | None) -> None:
    """Back to the queue, merged with a job that waits meanwhile; too many attempts are a failure."""
    if attempts >= tx.limits.max_attempts:
        path = paths.open_branch(tx, job.session_pk, job.branch)
        if path is None:
            end(tx, job.id, JobState.CANCELLED)
        else:
            fail_in(tx, path, job, error or LEASE_LAPSED)
            paths.save_edited(tx, path, path.leaf_seq)
        return
    waiting = tx.execute(
        select(JOB).where(
            JOB.c.session_pk == job.session_pk,
            JOB.c.branch == job.branch,
            JOB.c.kind == job.kind,
            JOB.c.subject == job.subject,
            JOB.c.state == JobState.QUEUED,
        )
    ).first()
    values: dict[str, Any] = {"state": JobState.QUEUED, "lease": None, "attempts": attempts, "error": error}
    if waiting is not None:
        end(tx, waiting.id, JobState.SUPERSEDED, by=job.id)
        if waiting.is_asked:
            values |= {"is_asked": True, "queue": waiting.queue, "parameters": waiting.parameters}
    is_still_held = (JOB.c.state == JobState.RUNNING, JOB.c.lease == job.lease)
    tx.execute(update(JOB).where(JOB.c.id == job.id, *is_still_held).values(values))
    tx.events.append(JobWaits(values.get("queue", job.queue)))
