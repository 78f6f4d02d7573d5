"""Claiming: which job a worker gets next, and what it is to summarize."""

from __future__ import annotations

from collections.abc import Mapping
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
from foldline.log.jobs.endings import UNWORKABLE, end
from foldline.log.jobs.kinds import JOB_KINDS
from foldline.log.jobs.leases import Claim, Lease, Preparation
from foldline.log.jobs.publish import PATIENCE_MILLISECONDS, finish
from foldline.log.storage import entry_log, paths, segments
from foldline.log.storage.rows import Path
from foldline.log.storage.store import Store, Transaction
from foldline.log.storage.tables import BRANCH, JOB, SESSION, one_of

NOTHING_LEFT: Final = "nothing left to summarize"
# Jobs that may end without work in one claim.
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
    .where(_FOLLOWER.c.state == JobState.QUEUED, _FOLLOWER.c.queue == JOB.c.queue, _FOLLOWER.c.number > JOB.c.number)
    .where(_FOLLOWER.c.not_before <= bindparam("now"))
    .exists()
)
# What a worker could begin with now.
IS_DUE: Final = and_(
    JOB.c.state == JobState.QUEUED,
    JOB.c.not_before <= bindparam("now"),
    # Those of a kind that only a newer version knows are left to it.
    one_of(JOB.c.kind, JOB_KINDS),
    ~_IS_BUSY,
)
_IS_RUNNABLE: Final = and_(IS_DUE, JOB.c.queue == bindparam("queue"))
_WAITING: Final = select(JOB.c.id).where(_IS_RUNNABLE).limit(1)
_COLUMNS: Final = (
    JOB.c.id.label("job_id"),
    JOB.c.kind,
    JOB.c.attempts,
    JOB.c.parameters,
    JOB.c.traceparent,
    _IS_FOLLOWED.label("is_followed"),
)
_FIRST: Final = (
    select(*paths.COLUMNS, *_COLUMNS)
    .join_from(SESSION, BRANCH, BRANCH.c.session_pk == SESSION.c.pk)
    .join(JOB, and_(JOB.c.session_pk == SESSION.c.pk, JOB.c.branch == BRANCH.c.branch))
    .where(_IS_RUNNABLE, SESSION.c.deleted_at.is_(None))
    .order_by(JOB.c.number)
    .limit(1)
)
# Locked with its session and branch, which come first, as in every other transaction.
_FREE: Final = _FIRST.with_for_update(skip_locked=True)
_AWAITED: Final = _FIRST.with_for_update()
_CLAIMED: Final = ("lease", "lease_until", "attempts", "claim")
_CLAIM: Final = (
    update(JOB)
    # Unless a summary that was kept answers it.
    .where(JOB.c.id == bindparam("job"), JOB.c.state == JobState.QUEUED, ~KEPT.exists())
    .values({name: bindparam(name) for name in _CLAIMED} | {"state": JobState.RUNNING, "progress": 0.0, "error": None})
)


class Later(SessionsError):
    """Jobs wait, but their sessions are being written to; ask again in a moment."""


def claim(store: Store, queue: str, *, waits: bool = True) -> Claim | None:
    """The next job of a queue, by the database's order; None if none can run now.

    Its range is computed here. Jobs that have nothing left to do, or that a kept summary answers, end on the way. Each
    is looked at in a transaction of its own, so that one that cannot be worked with fails alone. If the sessions of all
    are being written to, the first one is waited for, for a moment, unless told otherwise.

    Raises:
        Later: there are jobs, and none could be looked at, or very many had ended.
    """
    for _ in range(ENDED_AT_ONCE):
        found = _look(store, queue, waits=waits)
        if not isinstance(found, str):
            return found
    raise Later


def _look(store: Store, queue: str, *, waits: bool) -> Claim | str | None:
    """The first job that can be looked at: as a claim, or its id if it ended instead; None if no job waits."""
    job_id = ""
    try:
        with store.write() as tx:
            wanted = {"queue": queue, "now": tx.now}
            row = tx.execute(_FREE, wanted).first() or _awaited(tx, wanted, waits=waits)
            if row is None:
                return None
            job_id = row.job_id
            return _take(tx, paths.path_of(row), row) or job_id
    except (Busy, IntegrityError) as error:
        # Its session is held for long, or another job of its branch was claimed between looking and locking.
        raise Later from error
    except UNWORKABLE as error:
        if not job_id:
            raise
        with store.write() as tx:
            end(tx, job_id, JobState.FAILED, f"this session cannot be worked with: {error}")
        return job_id


def _awaited(tx: Transaction, wanted: Mapping[str, Any], *, waits: bool) -> Any:
    """The first job of all, though its session is being written to: it may always be. None if no job waits.

    Raises:
        Later: another worker was faster, or it may not be waited for.
        Busy: the session was not let go in time.
    """
    if tx.execute(_WAITING, wanted).first() is None:
        return None
    row = None
    if waits:
        tx.wait_at_most(PATIENCE_MILLISECONDS)
        row = tx.execute(_AWAITED, wanted).first()
    if row is None:
        raise Later
    return row


def _take(tx: Transaction, path: Path, row: Any) -> Claim | None:
    before = path.leaf_seq
    kind, ask = JOB_KINDS[row.kind], request_from_json(row.parameters)
    outline = entry_log.outline(tx, path)
    wanted = kind.find(tx, path, ask, outline)
    if wanted is None:
        end(tx, row.job_id, JobState.SUPERSEDED, NOTHING_LEFT)
        trigger.run_trigger(tx, path)
        paths.save_edited(tx, path, before)
        return None
    lease, key = Lease(row.job_id, tx.new_id("lease")), kept_key(path, wanted, ask)
    claimed = {
        "job": lease.job_id,
        "lease": lease.token,
        "lease_until": tx.now + tx.limits.lease_seconds * 1000,
        "attempts": row.attempts + 1,
        "claim": dumps({"first": wanted.covered.first, "last": wanted.covered.last, "base": path.edits_at}),
    }
    if tx.execute(_CLAIM, claimed | key).rowcount:
        # If it is, the job waits as before, for any worker.
        tx.may_be_forgotten()
        about = _preparation(tx, path, row.job_id, outline, wanted=wanted, ask=ask)
        return Claim(lease, path.session.pk, path.branch, about, wanted, row.is_followed, row.traceparent)
    summary = kept(tx, key)
    if summary is not None and not finish(tx, path, row.job_id, Made(wanted, summary, ask), outline):
        end(tx, row.job_id, JobState.FAILED, NO_ROOM)
    paths.save_edited(tx, path, before)
    return None


def _preparation(
    tx: Transaction, path: Path, job_id: str, outline: Outline, *, wanted: Wanted, ask: SummaryRequest
) -> Preparation:
    kind, covered = JOB_KINDS[ask.kind], wanted.covered
    kept = next((item.first for item in outline.items if item.first > covered.last), None) if kind.is_edit else None
    return Preparation(
        kind=HOOK_KINDS[ask.kind],
        session_id=path.session.id,
        job_id=job_id,
        policy=to_json(requested_policy(path, ask)),
        reason="asked" if ask.is_asked else "trigger",
        first_entry_id=wanted.ends[0],
        last_entry_id=wanted.ends[1],
        first_kept_entry_id=None if kept is None else segments.id_at(segments.segments(tx, path), kept),
        left_entry_id=ask.subject or None,
        original_tokens=covered.original_tokens,
        tokens_before=path.used,
        max_tokens=text_tokens(wanted),
        details=details(wanted.files),
        request=kind.material(tx, path, wanted, ask, outline),
    )
