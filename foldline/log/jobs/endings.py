"""Ends jobs that are not published: failed, cancelled, superseded, or put back into the queue. No job ends twice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

from sqlalchemy import Float, bindparam, func, select, update

from foldline.engine.errors import CompactionError
from foldline.engine.wire import dumps
from foldline.log.compaction.summary_request import OF_REFUSAL, request_from_json, request_to_json
from foldline.log.errors import Conflict, NotFound
from foldline.log.events import JobEnded, JobWaits
from foldline.log.job_state import JobState
from foldline.log.jobs.kinds import JOB_KINDS
from foldline.log.jobs.leases import Claim, HeldJob, open_claimed, open_held
from foldline.log.storage import paths
from foldline.log.storage.rows import Path
from foldline.log.storage.store import Store, Transaction
from foldline.log.storage.tables import JOB, SESSION

# Errors for a row that this version cannot read: a preset or model that is gone, a value of another shape.
UNREADABLE: Final = (CompactionError, LookupError, TypeError, ValueError)
# The random part added to a pause, so that sessions which failed together are not retried together.
JITTER: Final = 0.25
LEASE_LAPSED: Final = "the worker's lease lapsed"
NO_VALUES: Final[Mapping[str, Any]] = MappingProxyType({})

_ENDED: Final = ("state", "error", "superseded_by", "ended_at", "result")
_END: Final = (
    update(JOB)
    .where(JOB.c.id == bindparam("job"), JOB.c.ended_at.is_(None))
    .values({name: bindparam(name) for name in _ENDED} | {"lease": None, "waits_for": None})
    .values(progress=func.coalesce(bindparam("share", type_=Float), JOB.c.progress))
    .returning(JOB.c.kind, select(SESSION.c.id).where(SESSION.c.pk == JOB.c.session_pk).scalar_subquery())
)
_STATE: Final = select(JOB.c.state).where(JOB.c.id == bindparam("job"))


def fail(store: Store, claim: Claim, error: str, retry_after_seconds: float | None = None) -> None:
    """End a claimed job as failed, unless its lease is gone, and hold back the branch's automatic jobs for a while.

    The pause doubles with each failure in a row. It is at least `retry_after_seconds`, and at most the limit
    `retry_seconds_max`, but for the jitter.
    """
    with store.write() as tx:
        path, job = open_claimed(tx, claim)
        if path is not None and job is not None:
            end_without_summary(tx, path, job, JobState.FAILED, error, retry_after_seconds=retry_after_seconds)
            paths.save_edited(tx, path, path.leaf_seq)


def end_without_summary(
    tx: Transaction, path: Path, job: Any, state: JobState, error: str, *, retry_after_seconds: float | None = None
) -> None:
    """End a job in a transaction that has the path open, and hold back the branch's automatic jobs (see `fail`)."""
    end(tx, job.id, state, error)
    if not JOB_KINDS[job.kind].is_edit:
        # The trigger requests no jobs of this kind.
        return
    path.next_summary_at = tx.now + int(pause_seconds(tx, path.failures, retry_after_seconds) * 1000)
    path.failures += 1
    tx.execute(
        update(JOB)
        .where(JOB.c.session_pk == path.session.pk, JOB.c.branch == path.branch, JOB.c.state == JobState.QUEUED)
        .where(JOB.c.is_asked.is_(False))
        .values(not_before=path.next_summary_at)
    )


def pause_seconds(tx: Transaction, failures: int, least_seconds: float | None) -> float:
    """The pause after this many failures in a row, doubled with each."""
    limits = tx.limits
    seconds = max(limits.retry_seconds << min(failures, 16), least_seconds or 0)
    return min(seconds, limits.retry_seconds_max) * (1 + JITTER * tx.chance())


def cancel_held(store: Store, claim: Claim, reason: str) -> None:
    """Cancel a claimed job, unless its lease is gone; the branch's automatic jobs are held back as after a failure."""
    with store.write() as tx:
        path, job = open_claimed(tx, claim)
        if path is not None and job is not None:
            end_without_summary(tx, path, job, JobState.CANCELLED, reason)
            paths.save_edited(tx, path, path.leaf_seq)


def release(store: Store, claim: Claim) -> None:
    """Put a claimed job back into the queue at once; it does not count as an attempt."""
    release_held(store, claim.held)


def release_held(store: Store, held: HeldJob) -> None:
    """`release` of a job whose claim was not completed."""
    with store.write() as tx:
        _, job = open_held(tx, held)
        if job is not None:
            requeue(tx, job, attempts=job.attempts - 1, error=None)


def decline(store: Store, claim: Claim, reason: str) -> None:
    """Put a claimed job back into its queue for the service's summarizer: the model's provider wrote nothing."""
    with store.write() as tx:
        _, job = open_claimed(tx, claim)
        if job is not None:
            decline_held(tx, job, reason)


def decline_held(tx: Transaction, job: Any, reason: str) -> None:
    """`decline` in a transaction that has the job."""
    requeue(tx, job, attempts=0, error=_storable(reason), learned={"declined": _storable(reason)})


def try_less(store: Store, claim: Claim, reason: str) -> None:
    """Put a claimed job back into its queue for what is tried next: a model refused what it was asked for."""
    with store.write() as tx:
        _, job = open_claimed(tx, claim)
        if job is not None:
            learned = claim.request.if_refused or NO_VALUES
            requeue(tx, job, attempts=0, error=_storable(reason), learned=learned)


def state_of(tx: Transaction, job_id: str) -> JobState:
    """The job's state; `cancelled` if the job was removed with its session."""
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
    """End a job; False, and nothing changed, if it has ended already. `by` is the job that supersedes it."""
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
    """The text without NUL and lone surrogates, which no text column takes: an error may quote what a caller sent."""
    return text.encode(errors="replace").decode().replace("\0", "")


def cancel(tx: Transaction, tenant: str, job_id: str) -> None:
    """Cancel a waiting or running job of a tenant.

    Raises:
        NotFound: no such job.
        Conflict: it has ended already.
    """
    if tx.execute(select(JOB.c.id).where(JOB.c.tenant == tenant, JOB.c.id == job_id)).first() is None:
        raise NotFound("job", job_id)
    if not end(tx, job_id, JobState.CANCELLED):
        raise Conflict(f"the job has ended already: {state_of(tx, job_id)}")


def requeue(
    tx: Transaction,
    job: Any,
    *,
    attempts: int,
    error: str | None,
    learned: Mapping[str, Any] = NO_VALUES,
    waiting: Mapping[str, Any] = NO_VALUES,
) -> None:
    """Put a running job back into the queue, or fail it after too many attempts.

    A job of its kind that waits meanwhile is superseded by it, and passes on its queue and parameters. `learned` are
    fields of its request that a refusal has taught: a request that takes its place was not refused, and keeps its own
    `OF_REFUSAL`. `waiting` are columns that say what the job waits for.
    """
    if attempts >= tx.limits.max_attempts:
        path = paths.open_branch(tx, job.session_pk, job.branch)
        if path is None:
            end(tx, job.id, JobState.CANCELLED)
        else:
            end_without_summary(tx, path, job, JobState.FAILED, error or LEASE_LAPSED)
            paths.save_edited(tx, path, path.leaf_seq)
        return
    other = tx.execute(
        select(JOB).where(
            JOB.c.session_pk == job.session_pk,
            JOB.c.branch == job.branch,
            JOB.c.kind == job.kind,
            JOB.c.subject == job.subject,
            JOB.c.state == JobState.QUEUED,
        )
    ).first()
    values: dict[str, Any] = {"state": JobState.QUEUED, "lease": None, "attempts": attempts, "error": error, **waiting}
    if other is not None:
        end(tx, other.id, JobState.SUPERSEDED, by=job.id)
        if other.is_asked:
            turn = job.turn if job.queue == other.queue else other.turn
            values |= {"is_asked": True, "queue": other.queue, "turn": turn, "parameters": other.parameters}
            learned = {name: value for name, value in learned.items() if name not in OF_REFUSAL}
    if learned:
        request = request_from_json(values.get("parameters", job.parameters))
        values["parameters"] = request_to_json(replace(request, **learned))
    is_still_held = (JOB.c.state == JobState.RUNNING, JOB.c.lease == job.lease)
    tx.execute(update(JOB).where(JOB.c.id == job.id, *is_still_held).values(values))
    tx.events.append(JobWaits(values.get("queue", job.queue)))
