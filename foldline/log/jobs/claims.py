"""Claims: which job a worker gets next, its lease, and the range it is to summarize."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import and_, bindparam, or_, select, update
from sqlalchemy.exc import IntegrityError

from foldline.engine.wire import dumps
from foldline.log.compaction import trigger
from foldline.log.compaction.enqueue import NO_ROOM
from foldline.log.compaction.summaries import KEPT, Made, kept, kept_key
from foldline.log.errors import Busy, SessionsError
from foldline.log.job_state import JobState
from foldline.log.jobs.endings import UNREADABLE, end, release_held
from foldline.log.jobs.kinds import JOB_KINDS
from foldline.log.jobs.leases import Claim, HeldJob, Lease, open_held
from foldline.log.jobs.publish import LOCK_TIMEOUT_MILLISECONDS, finish, put_off, why_wait
from foldline.log.jobs.writing.preparing import (
    PreparedJob,
    find_work,
    is_long,
    outline_now,
    preparation_of,
    prepare_unlocked,
)
from foldline.log.storage import paths
from foldline.log.storage.engines.without_sync import WITHOUT_SYNC
from foldline.log.storage.rows import Path
from foldline.log.storage.store import Store, Transaction
from foldline.log.storage.tables import BRANCH, BREAKER, JOB, SESSION, one_of

NOTHING_LEFT: Final = "nothing left to summarize"
# Jobs that one claim may end without work.
ENDED_AT_ONCE: Final = 100

_RUNNING: Final = JOB.alias("running")
_IS_BUSY: Final = (
    select(_RUNNING.c.id)
    .where(_RUNNING.c.session_pk == JOB.c.session_pk, _RUNNING.c.branch == JOB.c.branch)
    .where(_RUNNING.c.kind == JOB.c.kind, _RUNNING.c.subject == JOB.c.subject, _RUNNING.c.state == JobState.RUNNING)
    .exists()
)
_FOLLOWER: Final = JOB.alias("follower")
_IS_FOLLOWED: Final = (
    select(_FOLLOWER.c.id)
    .where(_FOLLOWER.c.state == JobState.QUEUED, _FOLLOWER.c.queue == JOB.c.queue, _FOLLOWER.c.number != JOB.c.number)
    .where(_FOLLOWER.c.not_before <= bindparam("now"))
    .exists()
)
# A job that a worker could begin now.
IS_DUE: Final = and_(
    JOB.c.state == JobState.QUEUED,
    JOB.c.not_before <= bindparam("now"),
    # A newer version's kinds of jobs are left to it.
    one_of(JOB.c.kind, JOB_KINDS),
    ~_IS_BUSY,
)
_IS_RUNNABLE: Final = and_(IS_DUE, JOB.c.queue == bindparam("queue"))
_WAITING: Final = select(JOB.c.id).where(_IS_RUNNABLE).limit(1)
# A breaker is there while the last call of its summarizer failed.
_IS_NONE_FAILING: Final = ~select(BREAKER.c.name).exists()
_COLUMNS: Final = (
    JOB.c.id.label("job_id"),
    JOB.c.kind,
    JOB.c.attempts,
    JOB.c.parameters,
    JOB.c.traceparent,
    _IS_FOLLOWED.label("is_followed"),
    _IS_NONE_FAILING.label("are_writers_well"),
)
_JOINED: Final = (
    select(*paths.COLUMNS, *_COLUMNS)
    .join_from(SESSION, BRANCH, BRANCH.c.session_pk == SESSION.c.pk)
    .join(JOB, and_(JOB.c.session_pk == SESSION.c.pk, JOB.c.branch == BRANCH.c.branch))
)
_FIRST: Final = (
    _JOINED.where(_IS_RUNNABLE, SESSION.c.deleted_at.is_(None))
    .order_by(JOB.c.turn, JOB.c.can_wait, JOB.c.number)
    .limit(1)
)
# The session and branch are locked before the job, as in every transaction.
_FREE: Final = _FIRST.with_for_update(key_share=True, skip_locked=True)
_FREE_ID: Final = _FREE.with_only_columns(JOB.c.id)
_OF_JOB: Final = _JOINED.where(JOB.c.id == bindparam("job"))
_AWAITED: Final = _FIRST.with_for_update(key_share=True)
_CLAIMED: Final = ("lease", "lease_until", "attempts", "claim")
_AS_CLAIMED: Final[dict[str, Any]] = {name: bindparam(name) for name in _CLAIMED} | {
    "state": JobState.RUNNING,
    "progress": 0.0,
    "error": None,
    "waits_for": None,
}
_TAKE: Final = (
    update(JOB)
    .where(JOB.c.id == bindparam("job"), JOB.c.state == JobState.QUEUED)
    .values(_AS_CLAIMED)
    # If this commit is lost in a crash, the job waits as before.
    .returning(WITHOUT_SYNC)
)
_CLAIM: Final = (
    update(JOB)
    # Not if a kept summary answers it.
    .where(JOB.c.id == bindparam("job"), or_(JOB.c.state == JobState.QUEUED, JOB.c.lease == bindparam("lease")))
    .where(~KEPT.exists())
    .values(_AS_CLAIMED)
    .returning(WITHOUT_SYNC)
)


class ClaimDeferred(SessionsError):
    """Jobs wait, but none could be claimed now, for example because their sessions are locked; claim again soon."""


def claim(store: Store, queue: str, *, waits: bool = True) -> Claim | None:
    """The next job of a queue in the database's order, with its range computed now; None if no job can run.

    Jobs that have nothing left to do, or that a kept summary answers, are ended on the way. Each job is looked at in
    transactions of its own, so that one broken session fails alone. If all sessions are locked, the claim waits a
    moment for the first one, unless `waits` is False.

    Raises:
        ClaimDeferred: there are jobs, but all are locked, or `ENDED_AT_ONCE` of them ended without work.
    """
    for _ in range(ENDED_AT_ONCE):
        found = _claim_first(store, queue, waits=waits)
        if not isinstance(found, str):
            return found
    raise ClaimDeferred


def _claim_first(store: Store, queue: str, *, waits: bool) -> Claim | str | None:
    """A claim of the first job that is not locked, or its id if it is not this worker's; None if no job waits."""
    job_id = ""
    try:
        with store.write() as tx:
            wanted = {"queue": queue, "now": tx.now}
            row = tx.execute(_FREE, wanted).first() or _wait_for_first(tx, wanted, waits=waits)
            if row is None:
                return None
            job_id, path = row.job_id, paths.path_of(row)
            held = HeldJob(Lease(job_id, tx.new_id("lease")), path.session.pk, path.branch)
            if not is_long(path, row.kind):
                return _claim_or_end(tx, path, row, held, find_work(tx, path, row)) or job_id
            tx.execute(_TAKE, _claimed(tx, row, held, None))
    except (Busy, IntegrityError) as error:
        # The session stayed locked, or another job of the branch was claimed between reading and locking.
        raise ClaimDeferred from error
    except UNREADABLE as error:
        with store.write() as tx:
            job_id = job_id or _first_id(tx, {"queue": queue, "now": tx.now}, error)
            end(tx, job_id, JobState.FAILED, _unreadable(error))
        return job_id
    return _claim_taken(store, row, held) or job_id


def _claim_taken(store: Store, row: Any, held: HeldJob) -> Claim | None:
    """A claim of a long session's job that is this worker's already; None if it ended, or is not any more.

    Raises:
        ClaimDeferred: the session stayed locked; the job waits again.
    """
    try:
        work = prepare_unlocked(store, held, row)
        with store.write() as tx:
            tx.wait_at_most(LOCK_TIMEOUT_MILLISECONDS)
            path, job = open_held(tx, held)
            if work is None or path is None or job is None:
                return None
            return _claim_or_end(tx, path, row, held, work if work.holds(path) else find_work(tx, path, row))
    except UNREADABLE as error:
        with store.write() as tx:
            if open_held(tx, held)[1] is not None:
                end(tx, held.lease.job_id, JobState.FAILED, _unreadable(error))
        return None
    except Exception as error:
        # Without this, nobody would work on the job until its lease lapses.
        release_held(store, held)
        if isinstance(error, Busy):
            raise ClaimDeferred from error
        raise


def _unreadable(error: Exception) -> str:
    return f"this version cannot read the session: {error}"


def _first_id(tx: Transaction, wanted: Mapping[str, Any], error: Exception) -> str:
    """The id of the first job that is not locked, if its row cannot be read; else the error is not its own."""
    job_id: str | None = tx.execute(_FREE_ID, wanted).scalar()
    if job_id is None or _is_readable(tx, {**wanted, "job": job_id}):
        raise ClaimDeferred from error
    return job_id


def _is_readable(tx: Transaction, wanted: Mapping[str, Any]) -> bool:
    try:
        tx.execute(_OF_JOB, wanted).first()
    except UNREADABLE:
        return False
    return True


def _wait_for_first(tx: Transaction, wanted: Mapping[str, Any], *, waits: bool) -> Any:
    """The first job, once its session is unlocked: a busy session must not lose its turn. None if no job waits.

    Raises:
        ClaimDeferred: another worker was faster, or `waits` is False.
        Busy: the session stayed locked for too long.
    """
    if tx.execute(_WAITING, wanted).first() is None:
        return None
    row = None
    if waits:
        tx.wait_at_most(LOCK_TIMEOUT_MILLISECONDS)
        row = tx.execute(_AWAITED, wanted).first()
    if row is None:
        raise ClaimDeferred
    return row


def _claim_or_end(tx: Transaction, path: Path, row: Any, held: HeldJob, work: PreparedJob) -> Claim | None:
    leaf_seq, wanted = path.leaf_seq, work.wanted
    if wanted is None:
        end(tx, row.job_id, JobState.SUPERSEDED, NOTHING_LEFT)
        trigger.run_trigger(tx, path)
        paths.save_edited(tx, path, leaf_seq)
        return None
    key = kept_key(path, wanted, work.request)
    claim = {"first": wanted.covered.first, "last": wanted.covered.last, "base": path.edits_at}
    if tx.execute(_CLAIM, _claimed(tx, row, held, dumps(claim)) | key).first():
        preparation = work.preparation or preparation_of(tx, work, wanted, row)
        return Claim(*held, preparation, wanted, work.outline_at.leaf_seq, row.is_followed, row.traceparent)
    summary = kept(tx, key)
    if summary is not None:
        made, outline = Made(wanted, summary, work.request), outline_now(tx, path, work.outline_at)
        if waits := why_wait(tx, path, made, outline):
            put_off(tx, row.job_id, made, waits)
        elif not finish(tx, path, row.job_id, made, outline):
            end(tx, row.job_id, JobState.FAILED, NO_ROOM)
    paths.save_edited(tx, path, leaf_seq)
    return None


def _claimed(tx: Transaction, row: Any, held: HeldJob, claim: bytes | None) -> dict[str, Any]:
    """The columns of a job that this worker has."""
    until = tx.now + tx.limits.lease_seconds * 1000
    lease = {"lease": held.lease.token, "lease_until": until}
    return {"job": row.job_id, **lease, "attempts": row.attempts + 1, "claim": claim}
