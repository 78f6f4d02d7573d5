"""Claims: which job a worker gets next, its lease, and the range it is to summarize."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from sqlalchemy import and_, bindparam, select, update
from sqlalchemy.exc import IntegrityError

from foldline.engine.outline import Outline
from foldline.engine.policies.policy import to_json
from foldline.engine.wire import dumps
from foldline.log.compaction import trigger
from foldline.log.compaction.enqueue import NO_ROOM
from foldline.log.compaction.ranges import text_tokens
from foldline.log.compaction.summaries import KEPT, Made, Wanted, details, kept, kept_key
from foldline.log.compaction.summary_request import HOOK_KINDS, SummaryRequest, request_from_json, requested_policy
from foldline.log.errors import Busy, SessionsError
from foldline.log.job_state import JobState
from foldline.log.jobs.endings import UNREADABLE, end
from foldline.log.jobs.kinds import JOB_KINDS
from foldline.log.jobs.leases import Claim, Lease, Preparation
from foldline.log.jobs.publish import LOCK_TIMEOUT_MILLISECONDS, finish, put_off, why_wait
from foldline.log.jobs.writing.cached_beginnings import cached_beginning
from foldline.log.jobs.writing.provider_calls import provider_call
from foldline.log.storage import entry_log, paths, segments
from foldline.log.storage.engines import WITHOUT_SYNC
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
_FREE: Final = _FIRST.with_for_update(skip_locked=True)
_FREE_ID: Final = _FREE.with_only_columns(JOB.c.id)
_OF_JOB: Final = _JOINED.where(JOB.c.id == bindparam("job"))
_AWAITED: Final = _FIRST.with_for_update()
_CLAIMED: Final = ("lease", "lease_until", "attempts", "claim")
_CLAIM: Final = (
    update(JOB)
    # Not if a kept summary answers it.
    .where(JOB.c.id == bindparam("job"), JOB.c.state == JobState.QUEUED, ~KEPT.exists())
    .values(
        {name: bindparam(name) for name in _CLAIMED}
        | {"state": JobState.RUNNING, "progress": 0.0, "error": None, "waits_for": None}
    )
    # If this commit is lost in a crash, the job waits as before.
    .returning(WITHOUT_SYNC)
)


class ClaimDeferred(SessionsError):
    """Jobs wait, but none could be claimed now, for example because their sessions are locked; claim again soon."""


def claim(store: Store, queue: str, *, waits: bool = True) -> Claim | None:
    """The next job of a queue in the database's order, with its range computed now; None if no job can run.

    Jobs that have nothing left to do, or that a kept summary answers, are ended on the way. Each job is looked at in a
    transaction of its own, so that one broken session fails alone. If all sessions are locked, the claim waits a moment
    for the first one, unless `waits` is False.

    Raises:
        ClaimDeferred: there are jobs, but all are locked, or `ENDED_AT_ONCE` of them ended without work.
    """
    for _ in range(ENDED_AT_ONCE):
        found = _claim_first(store, queue, waits=waits)
        if not isinstance(found, str):
            return found
    raise ClaimDeferred


def _claim_first(store: Store, queue: str, *, waits: bool) -> Claim | str | None:
    """A claim of the first job that is not locked, or the job's id if it ended instead; None if no job waits."""
    job_id = ""
    try:
        with store.write() as tx:
            wanted = {"queue": queue, "now": tx.now}
            row = tx.execute(_FREE, wanted).first() or _wait_for_first(tx, wanted, waits=waits)
            if row is None:
                return None
            job_id = row.job_id
            return _claim_or_end(tx, paths.path_of(row), row) or job_id
    except (Busy, IntegrityError) as error:
        # The session stayed locked, or another job of the branch was claimed between reading and locking.
        raise ClaimDeferred from error
    except UNREADABLE as error:
        with store.write() as tx:
            job_id = job_id or _first_id(tx, {"queue": queue, "now": tx.now}, error)
            end(tx, job_id, JobState.FAILED, f"this version cannot read the session: {error}")
        return job_id


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


def _claim_or_end(tx: Transaction, path: Path, row: Any) -> Claim | None:
    before = path.leaf_seq
    kind, request = JOB_KINDS[row.kind], request_from_json(row.parameters)
    outline = entry_log.outline(tx, path)
    wanted = kind.find(tx, path, request, outline)
    if wanted is None:
        end(tx, row.job_id, JobState.SUPERSEDED, NOTHING_LEFT)
        trigger.run_trigger(tx, path)
        paths.save_edited(tx, path, before)
        return None
    lease, key = Lease(row.job_id, tx.new_id("lease")), kept_key(path, wanted, request)
    claimed = {
        "job": lease.job_id,
        "lease": lease.token,
        "lease_until": tx.now + tx.limits.lease_seconds * 1000,
        "attempts": row.attempts + 1,
        "claim": dumps({"first": wanted.covered.first, "last": wanted.covered.last, "base": path.edits_at}),
    }
    if tx.execute(_CLAIM, claimed | key).first():
        preparation = _preparation(tx, path, row, outline, wanted=wanted, request=request)
        at = (path.session.pk, path.branch)
        return Claim(lease, *at, preparation, wanted, path.leaf_seq, row.is_followed, row.traceparent)
    summary = kept(tx, key)
    if summary is not None:
        made = Made(wanted, summary, request)
        if waits := why_wait(tx, path, made, outline):
            put_off(tx, row.job_id, made, waits)
        elif not finish(tx, path, row.job_id, made, outline):
            end(tx, row.job_id, JobState.FAILED, NO_ROOM)
    paths.save_edited(tx, path, before)
    return None


def _preparation(
    tx: Transaction, path: Path, job: Any, outline: Outline, *, wanted: Wanted, request: SummaryRequest
) -> Preparation:
    kind, covered = JOB_KINDS[request.kind], wanted.covered
    kept = next((item.first for item in outline.items if item.first > covered.last), None) if kind.is_edit else None
    given = replace(
        kind.make_input(tx, path, wanted, request, outline),
        provider=provider_call(tx, path, wanted, outline),
        writers=requested_policy(path, request).writers,
        are_writers_well=job.are_writers_well,
        payer=path.session.tenant,
    )
    return Preparation(
        kind=HOOK_KINDS[request.kind],
        session_id=path.session.id,
        job_id=job.job_id,
        policy=to_json(requested_policy(path, request)),
        reason="asked" if request.is_asked else "trigger",
        first_entry_id=wanted.ends[0],
        last_entry_id=wanted.ends[1],
        first_kept_entry_id=None if kept is None else segments.id_at(segments.segments(tx, path), kept),
        left_entry_id=request.subject or None,
        original_tokens=covered.original_tokens,
        tokens_before=path.used,
        max_tokens=text_tokens(wanted),
        details=details(wanted.files),
        request=replace(given, beginning=cached_beginning(tx, path, wanted, given, outline)) if kind.is_edit else given,
    )
