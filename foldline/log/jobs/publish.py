"""The life of a claimed job: publish, fail, cancel, hand back. Every change of state depends on the lease."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from sqlalchemy import Float, and_, bindparam, func, select, update

from foldline.engine.errors import CompactionError
from foldline.engine.outline import Outline
from foldline.engine.summaries.prompt import SummaryDraft, SummaryInput
from foldline.engine.wire import dumps, loads
from foldline.engine.wording import summary_frame_tokens, summary_tokens
from foldline.log.compaction import trigger
from foldline.log.compaction.enqueue import NO_ROOM
from foldline.log.compaction.summaries import Made, Wanted, keep, with_appendix
from foldline.log.compaction.summary_request import request_from_json
from foldline.log.errors import Conflict, NotFound
from foldline.log.jobs.kinds import JOB_KINDS
from foldline.log.jobs.preparation import Preparation
from foldline.log.storage import entry_log, paths, segments
from foldline.log.storage.events import JobEnded, JobWaits
from foldline.log.storage.rows import Path
from foldline.log.storage.segments import Segment
from foldline.log.storage.store import Store, Transaction
from foldline.log.storage.tables import ENTRY, JOB, SESSION

BASE_MOVED: Final = "the session was edited while the summary was written"
# What a row that this version cannot read raises: a preset or model that is gone, a value of another shape.
UNWORKABLE: Final = (CompactionError, LookupError, TypeError, ValueError)
# A pause is up to so much longer, by chance, so that sessions which failed together do not come back together.
JITTER: Final = 0.25
# One session that is being written to must not keep the jobs of all others waiting.
PATIENCE_MILLISECONDS: Final = 500
LEASE_LAPSED: Final = "the worker's lease lapsed"

# Statements are built once: building one costs as much as running it.
_IS_HELD: Final = and_(JOB.c.id == bindparam("job"), JOB.c.state == "running", JOB.c.lease == bindparam("token"))
_HELD: Final = select(JOB).where(_IS_HELD).with_for_update()
_LEASES: Final = select(JOB.c.id, JOB.c.lease).where(
    JOB.c.id.in_(bindparam("jobs", expanding=True)), JOB.c.state == "running"
)
_FREE_LEASES: Final = _LEASES.with_for_update(skip_locked=True)
_EXTEND: Final = update(JOB).where(_IS_HELD).values(lease_until=bindparam("until"), progress=bindparam("share"))
_ENDED: Final = ("state", "error", "superseded_by", "ended_at", "result")
_END: Final = (
    update(JOB)
    .where(JOB.c.id == bindparam("job"), JOB.c.ended_at.is_(None))
    .values({name: bindparam(name) for name in _ENDED} | {"lease": None})
    .values(progress=func.coalesce(bindparam("share", type_=Float), JOB.c.progress))
    .returning(JOB.c.kind, select(SESSION.c.id).where(SESSION.c.pk == JOB.c.session_pk).scalar_subquery())
)
_STATE: Final = select(JOB.c.state).where(JOB.c.id == bindparam("job"))


class Lease(NamedTuple):
    """The hold on a job: only who has the token may report on it."""

    job_id: str
    token: str


@dataclass(frozen=True, slots=True)
class Claim:
    """A job in this worker's hands: what to summarize, and the lease that every report must carry.

    `is_followed`: more jobs of its queue could be claimed. `traceparent`: the trace it was asked for in.
    """

    lease: Lease
    session_pk: int
    branch: int
    preparation: Preparation
    wanted: Wanted
    is_followed: bool = False
    traceparent: str | None = None

    @property
    def request(self) -> SummaryInput:
        """What a summarizer gets."""
        return self.preparation.request

    @property
    def job_id(self) -> str:
        """The job's id."""
        return self.lease.job_id


def publish(store: Store, done: Claim, draft: SummaryDraft) -> str:
    """Put a summary in its place, in one transaction; the state the job ended in.

    It applies if the lease is current, the session lives, and its path gained only inline compactions since the claim.
    Doing it twice changes nothing.

    Raises:
        Busy: the session is being written to for long; try again.
    """
    with store.write() as tx:
        tx.wait_at_most(PATIENCE_MILLISECONDS)
        path, job = _open(tx, done)
        if path is None or job is None:
            return state_of(tx, done.job_id)
        kind = JOB_KINDS[job.kind]
        if kind.is_edit and _has_moved(tx, path, loads(job.claim)["base"]):
            before = path.leaf_seq
            end(tx, done.job_id, "superseded", BASE_MOVED)
            trigger.run_trigger(tx, path)
            paths.save_edited(tx, path, before)
            return "superseded"
        return _publish(tx, path, done, draft, job)


def _publish(tx: Transaction, path: Path, done: Claim, draft: SummaryDraft, job: Any) -> str:
    before = path.leaf_seq
    state = "failed"
    tokens = summary_tokens(with_appendix(draft.text, done.wanted.appendix))
    if not draft.text.strip() or tokens > done.wanted.covered.max_tokens + summary_frame_tokens():
        _fail(tx, path, job, f"the summary takes {tokens} tokens, more than its range allows")
    else:
        made = Made(done.wanted, keep(tx, path, done.wanted, draft), request_from_json(job.parameters))
        if finish(tx, path, done.job_id, made, entry_log.outline(tx, path), facts={"usage": draft.usage}):
            state = "succeeded"
            if JOB_KINDS[job.kind].is_edit:
                path.failures = 0
        else:
            _fail(tx, path, job, NO_ROOM)
    paths.save_edited(tx, path, before)
    return state


def finish(
    tx: Transaction, path: Path, job_id: str, made: Made, outline: Outline, *, facts: Mapping[str, Any] | None = None
) -> bool:
    """Put a summary where it belongs and end its job, which tells this too; False, and nothing done, without room."""
    kind = JOB_KINDS[made.ask.kind]
    applied = kind.apply(tx, path, made, outline)
    if applied is None:
        return False
    end(tx, job_id, "succeeded", result={**applied.result, **(facts or {})})
    kind.follow(tx, path, made.ask, applied.outline)
    return True


def _has_moved(tx: Transaction, path: Path, base: list[int] | None) -> bool:
    """Whether the path gained anything but messages and inline compactions after the base."""
    if path.edits_at == (tuple(base) if base else None):
        return False
    after = base[1] if base else 0
    parts = [Segment(p.branch, max(p.first, after + 1), p.last) for p in segments.segments(tx, path) if p.last > after]
    rows = entry_log.rows_in(tx, path.session, parts, (ENTRY.c.kind, ENTRY.c.body), kinds=entry_log.EDITING)
    return any(kind != "compaction" or not loads(body)["is_inline"] for kind, body in rows)


def fail(store: Store, done: Claim, error: str, retry_after_seconds: float | None = None) -> None:
    """End a job visibly; automatic ones on its branch are held back for a while, or for as long as was asked."""
    with store.write() as tx:
        path, job = _open(tx, done)
        if path is not None and job is not None:
            _fail(tx, path, job, error, retry_after_seconds)
            paths.save_edited(tx, path, path.leaf_seq)


def _fail(tx: Transaction, path: Path, job: Any, error: str, retry_after_seconds: float | None = None) -> None:
    _end_in_vain(tx, path, job, "failed", error, retry_after_seconds=retry_after_seconds)


def _end_in_vain(
    tx: Transaction, path: Path, job: Any, state: str, error: str, *, retry_after_seconds: float | None = None
) -> None:
    end(tx, job.id, state, error)
    if not JOB_KINDS[job.kind].is_edit:
        # Nothing that the trigger asks for is of its kind.
        return
    path.next_summary_at = tx.now + int(_pause_seconds(tx, path.failures, retry_after_seconds) * 1000)
    path.failures += 1
    tx.execute(
        update(JOB)
        .where(JOB.c.session_pk == path.session.pk, JOB.c.branch == path.branch, JOB.c.state == "queued")
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
        path, job = _open(tx, done)
        if path is not None and job is not None:
            _end_in_vain(tx, path, job, "cancelled", reason)
            paths.save_edited(tx, path, path.leaf_seq)


def beat(store: Store, progress_by_lease: Mapping[Lease, float]) -> set[Lease]:
    """Extend leases and note the progress (0 to 1) of their jobs; those of the leases that still hold."""
    with store.write() as tx:
        until = tx.now + tx.limits.lease_seconds * 1000
        # Jobs are locked in no order here, so none is waited for: what changes just now is extended the next time.
        free = _current(tx, _FREE_LEASES, progress_by_lease)
        if free:
            tx.execute(_EXTEND, [_held(lease) | {"until": until, "share": progress_by_lease[lease]} for lease in free])
        return free if len(free) == len(progress_by_lease) else _current(tx, _LEASES, progress_by_lease)


def _current(tx: Transaction, statement: Any, leases: Collection[Lease]) -> set[Lease]:
    found = tx.execute(statement, {"jobs": [lease.job_id for lease in leases]})
    return {Lease(*row) for row in found}.intersection(leases)


def release(store: Store, done: Claim) -> None:
    """Hand a job back at once; that was no attempt."""
    with store.write() as tx:
        _, job = _open(tx, done)
        if job is not None:
            requeue(tx, job, attempts=job.attempts - 1, error=None)


def _open(tx: Transaction, done: Claim) -> tuple[Path | None, Any]:
    """The path of a claimed job, and the job if it is still held; both locked.

    The session goes first, as everywhere: whoever holds it may go on to its jobs.
    """
    path = paths.open_branch(tx, done.session_pk, done.branch)
    return path, tx.execute(_HELD, _held(done.lease)).first()


def _held(lease: Lease) -> dict[str, str]:
    return {"job": lease.job_id, "token": lease.token}


def state_of(tx: Transaction, job_id: str) -> str:
    """The state a job is in."""
    state: str | None = tx.execute(_STATE, {"job": job_id}).scalar()
    return state or "cancelled"


def end(
    tx: Transaction,
    job_id: str,
    state: str,
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
    if not end(tx, job_id, "cancelled"):
        raise Conflict(f"the job has ended already: {state_of(tx, job_id)}")


def requeue(tx: Transaction, job: Any, *, attempts: int, error: str | None) -> None:
    """Back to the queue, merged with a job that waits meanwhile; too many attempts are a failure."""
    if attempts >= tx.limits.max_attempts:
        path = paths.open_branch(tx, job.session_pk, job.branch)
        if path is None:
            end(tx, job.id, "cancelled")
        else:
            _fail(tx, path, job, error or LEASE_LAPSED)
            paths.save_edited(tx, path, path.leaf_seq)
        return
    waiting = tx.execute(
        select(JOB).where(
            JOB.c.session_pk == job.session_pk,
            JOB.c.branch == job.branch,
            JOB.c.kind == job.kind,
            JOB.c.subject == job.subject,
            JOB.c.state == "queued",
        )
    ).first()
    values: dict[str, Any] = {"state": "queued", "lease": None, "attempts": attempts, "error": error}
    if waiting is not None:
        end(tx, waiting.id, "superseded", by=job.id)
        if waiting.is_asked:
            values |= {"is_asked": True, "queue": waiting.queue, "parameters": waiting.parameters}
    is_still_held = (JOB.c.state == "running", JOB.c.lease == job.lease)
    tx.execute(update(JOB).where(JOB.c.id == job.id, *is_still_held).values(values))
    tx.events.append(JobWaits(values.get("queue", job.queue)))
