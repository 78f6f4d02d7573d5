"""The life of a job: claim, publish, fail, cancel. Every change of state depends on the lease."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Select, insert, select, update

from compaction.cuts import SummaryRange
from compaction.edits import LiveEdits
from compaction.errors import CompactionError
from compaction.summary import Draft, SummaryInput
from compaction.wire import dumps, loads
from compaction.wording import summary_frame_tokens, summary_tokens
from sessions import log, paths, planning, requests, segments
from sessions.compacting import Summary, apply_summary
from sessions.errors import Conflict, NotFound
from sessions.paths import Path
from sessions.requests import NO_ROOM, Ask
from sessions.segments import Segment
from sessions.store import Store, Transaction
from sessions.tables import ENTRY, JOB, SUMMARY

NOTHING_LEFT: Final = "nothing left to summarize"
BASE_MOVED: Final = "the session was edited while the summary was written"
# What a row that this version cannot read raises: a preset or model that is gone, a value of another shape.
UNWORKABLE: Final = (CompactionError, LookupError, TypeError, ValueError)
CANDIDATES: Final = 20
LEASE_LAPSED: Final = "the worker's lease lapsed"


@dataclass(frozen=True, slots=True)
class Claim:
    """A job in this worker's hands: what to summarize, and the lease that every report must carry."""

    job_id: str
    lease: str
    request: SummaryInput
    covered: SummaryRange


@dataclass(frozen=True, slots=True)
class _Work:
    """What is decided in the claiming transaction and read after it."""

    job_id: str
    lease: str
    path: Path
    covered: SummaryRange
    live: LiveEdits
    parts: list[Segment]
    ask: Ask


def claim(store: Store, queue: str) -> Claim | None:
    """The next job of a queue, by the database's order; None if none can run now.

    Its range is computed here. Jobs that have nothing left to do, or that a kept summary answers, end on the way. Each
    is looked at in a transaction of its own, so that one that cannot be worked with fails alone.
    """
    with store.read() as tx:
        candidates = tx.execute(_runnable(tx, queue).limit(CANDIDATES)).all()
    for candidate in candidates:
        work = _try(store, queue, candidate)
        if work is not None:
            with store.read() as tx:
                return Claim(work.job_id, work.lease, _input(tx, work), work.covered)
    return None


def _runnable(tx: Transaction, queue: str) -> Select[Any]:
    running = JOB.alias("running")
    is_busy = (
        select(running.c.id)
        .where(running.c.session_pk == JOB.c.session_pk, running.c.branch == JOB.c.branch)
        .where(running.c.kind == JOB.c.kind, running.c.state == "running")
        .exists()
    )
    return (
        select(JOB.c.id, JOB.c.session_pk, JOB.c.branch, JOB.c.attempts, JOB.c.parameters)
        .where(JOB.c.state == "queued", JOB.c.queue == queue, JOB.c.not_before <= tx.now, ~is_busy)
        .order_by(JOB.c.number)
    )


def _try(store: Store, queue: str, candidate: Any) -> _Work | None:
    try:
        with store.write() as tx:
            # The session first, as in every other transaction: whoever holds it may go on to its jobs.
            path = paths.open_branch(tx, candidate.session_pk, candidate.branch)
            row = tx.execute(_runnable(tx, queue).where(JOB.c.id == candidate.id)).first()
            return None if row is None else _take(tx, path, row)
    except UNWORKABLE as error:
        with store.write() as tx:
            end(tx, candidate.id, "failed", f"this session cannot be worked with: {error}")
        return None


def _take(tx: Transaction, path: Path | None, row: Any) -> _Work | None:
    if path is None:
        end(tx, row.id, "cancelled")
        return None
    before = path.leaf_seq
    ask = requests.ask_of(row.parameters)
    outline = log.outline(tx, path)
    wanted = requests.range_of(path, outline, ask, tx.limits.summarizer_tokens)
    if wanted is None:
        end(tx, row.id, "superseded", NOTHING_LEFT)
        planning.run_trigger(tx, path)
        paths.save_edited(tx, path, before)
        return None
    kept = requests.kept_summary(tx, path, wanted, ask)
    if kept is not None:
        _publish_kept(tx, path, row.id, wanted, kept=kept, ask=ask)
        paths.save_edited(tx, path, before)
        return None
    lease = tx.new_id("lease")
    claimed = {"first": wanted.first, "last": wanted.last, "base": path.edits_at}
    tx.execute(
        update(JOB)
        .where(JOB.c.id == row.id, JOB.c.state == "queued")
        .values(
            state="running",
            lease=lease,
            lease_until=tx.now + tx.limits.lease_seconds * 1000,
            attempts=row.attempts + 1,
            progress=0.0,
            error=None,
            claim=dumps(claimed),
        )
    )
    return _Work(row.id, lease, path, wanted, outline.live, segments.segments(tx, path), ask)


def _publish_kept(tx: Transaction, path: Path, job_id: str, wanted: SummaryRange, *, kept: Summary, ask: Ask) -> None:
    outline = log.outline(tx, path)
    compaction = apply_summary(tx, path, outline, path.goals(), covered=wanted, summary=kept, is_asked=ask.is_asked)
    if compaction is None:
        end(tx, job_id, "failed", NO_ROOM)
    else:
        end(tx, job_id, "succeeded", result={"compaction_id": compaction.id, "degraded": kept.is_degraded})
        planning.request_rest(tx, path, ask)


def _input(tx: Transaction, work: _Work) -> SummaryInput:
    """The texts of the summaries that are replaced, and the originals that are not under one of them."""
    parts = segments.clipped(list(segments.uncovered(work.parts, work.live)), [(work.covered.first, work.covered.last)])
    messages = log.messages_in(tx, work.path.session, parts)
    return SummaryInput(
        previous=tuple(summary_text(tx, summary) for summary in work.covered.replaces),
        messages=tuple(messages.values()),
        max_tokens=work.covered.max_tokens,
        instructions=work.ask.instructions,
    )


def summary_text(tx: Transaction, summary_id: str) -> str:
    """The text of a summary."""
    text: str = loads(tx.execute(select(SUMMARY.c.text).where(SUMMARY.c.id == summary_id)).scalar_one())
    return text


def publish(store: Store, done: Claim, draft: Draft) -> str:
    """Put a summary in its place, in one transaction; the state the job ended in.

    It applies if the lease is current, the session lives, and its path gained only inline compactions since the claim.
    Doing it twice changes nothing.
    """
    with store.write() as tx:
        job = _held(tx, done)
        if job is None:
            return state_of(tx, done.job_id)
        path = paths.open_branch(tx, job.session_pk, job.branch)
        if path is None:
            end(tx, done.job_id, "cancelled")
        elif _has_moved(tx, path, loads(job.claim)["base"]):
            before = path.leaf_seq
            end(tx, done.job_id, "superseded", BASE_MOVED)
            planning.run_trigger(tx, path)
            paths.save_edited(tx, path, before)
        else:
            _publish(tx, path, done, draft, requests.ask_of(job.parameters))
        return state_of(tx, done.job_id)


def _publish(tx: Transaction, path: Path, done: Claim, draft: Draft, ask: Ask) -> None:
    before = path.leaf_seq
    tokens = summary_tokens(draft.text)
    if not draft.text.strip() or tokens > done.covered.max_tokens + summary_frame_tokens():
        _fail(tx, path, done.job_id, f"the summary takes {tokens} tokens, more than its range allows")
    else:
        summary = _keep(tx, path, done, draft, tokens=tokens, ask=ask)
        compaction = apply_summary(
            tx,
            path,
            log.outline(tx, path),
            path.goals(),
            covered=done.covered,
            summary=summary,
            is_asked=ask.is_asked,
        )
        if compaction is None:
            _fail(tx, path, done.job_id, NO_ROOM)
        else:
            result = {"compaction_id": compaction.id, "degraded": draft.degraded, "usage": draft.usage}
            end(tx, done.job_id, "succeeded", result=result)
            planning.request_rest(tx, path, ask)
    paths.save_edited(tx, path, before)


def _keep(tx: Transaction, path: Path, done: Claim, draft: Draft, *, tokens: int, ask: Ask) -> Summary:
    """Keep the text, in place of a larger one made for the same range."""
    key = requests.key_of(tx, path, done.covered, ask)
    tx.execute(
        update(SUMMARY)
        .where(SUMMARY.c.session_pk == path.session.pk, SUMMARY.c.key == key)
        .values(key=SUMMARY.c.key + "/" + SUMMARY.c.id)
    )
    summary = Summary(tx.new_id("sum"), tokens, draft.degraded)
    tx.execute(
        insert(SUMMARY).values(
            id=summary.id,
            session_pk=path.session.pk,
            tenant=path.session.tenant,
            key=key,
            tokens=tokens,
            original_tokens=done.covered.original_tokens,
            summarizer=draft.summarizer,
            model=draft.model,
            is_degraded=draft.degraded,
            created_at=tx.now,
            usage=dumps(draft.usage),
            text=dumps(draft.text),
        )
    )
    return summary


def _has_moved(tx: Transaction, path: Path, base: list[int] | None) -> bool:
    """Whether the path gained anything but messages and inline compactions after the base."""
    after = base[1] if base else 0
    parts = [Segment(p.branch, max(p.first, after + 1), p.last) for p in segments.segments(tx, path) if p.last > after]
    rows = log.rows_in(tx, path.session, parts, (ENTRY.c.kind, ENTRY.c.body), kind="edits")
    return any(kind != "compaction" or not loads(body)["is_inline"] for kind, body in rows)


def fail(store: Store, done: Claim, error: str) -> None:
    """End a job visibly; automatic ones on its branch are held back for a while."""
    with store.write() as tx:
        job = _held(tx, done)
        path = job and paths.open_branch(tx, job.session_pk, job.branch)
        if path is not None:
            _fail(tx, path, done.job_id, error)
            paths.save_edited(tx, path, path.leaf_seq)


def _fail(tx: Transaction, path: Path, job_id: str, error: str) -> None:
    end(tx, job_id, "failed", error)
    path.next_summary_at = tx.now + tx.limits.retry_seconds * 1000
    tx.execute(
        update(JOB)
        .where(JOB.c.session_pk == path.session.pk, JOB.c.branch == path.branch, JOB.c.state == "queued")
        .where(JOB.c.is_asked.is_(False))
        .values(not_before=path.next_summary_at)
    )


def beat(store: Store, done: Claim, progress: float) -> bool:
    """Extend the lease and note the progress (0 to 1); False if the job is no longer this worker's."""
    with store.write() as tx:
        if _held(tx, done) is None:
            return False
        until = tx.now + tx.limits.lease_seconds * 1000
        tx.execute(update(JOB).where(JOB.c.id == done.job_id).values(lease_until=until, progress=progress))
        return True


def release(store: Store, done: Claim) -> None:
    """Hand a job back at once; that was no attempt."""
    with store.write() as tx:
        job = _held(tx, done)
        if job is not None:
            requeue(tx, job, attempts=job.attempts - 1, error=None)


def _held(tx: Transaction, done: Claim) -> Any:
    statement = select(JOB).where(JOB.c.id == done.job_id, JOB.c.state == "running", JOB.c.lease == done.lease)
    return tx.execute(statement.with_for_update()).first()


def state_of(tx: Transaction, job_id: str) -> str:
    """The state a job is in."""
    state: str | None = tx.execute(select(JOB.c.state).where(JOB.c.id == job_id)).scalar()
    return state or "cancelled"


def end(
    tx: Transaction,
    job_id: str,
    state: str,
    error: str | None = None,
    *,
    by: str | None = None,
    result: dict[str, Any] | None = None,
) -> None:
    """End a job that has not ended yet; ended is ended."""
    values: dict[str, Any] = {"state": state, "error": error, "superseded_by": by, "ended_at": tx.now, "lease": None}
    if result is not None:
        values |= {"result": dumps(result), "progress": 1.0}
    tx.execute(update(JOB).where(JOB.c.id == job_id, JOB.c.state.in_(("queued", "running"))).values(values))


def cancel(tx: Transaction, tenant: str, job_id: str) -> None:
    """Cancel a job that is waiting or running.

    Raises:
        NotFound: no such job.
        Conflict: it has ended already.
    """
    job = tx.execute(select(JOB.c.state).where(JOB.c.tenant == tenant, JOB.c.id == job_id)).first()
    if job is None:
        raise NotFound("job", job_id)
    if job.state not in ("queued", "running"):
        raise Conflict(f"the job has ended already: {job.state}")
    end(tx, job_id, "cancelled")


def requeue(tx: Transaction, job: Any, *, attempts: int, error: str | None) -> None:
    """Back to the queue, merged with a job that waits meanwhile; too many attempts are a failure."""
    if attempts >= tx.limits.max_attempts:
        path = paths.open_branch(tx, job.session_pk, job.branch)
        if path is None:
            end(tx, job.id, "cancelled")
        else:
            _fail(tx, path, job.id, error or LEASE_LAPSED)
            paths.save_edited(tx, path, path.leaf_seq)
        return
    waiting = tx.execute(
        select(JOB).where(
            JOB.c.session_pk == job.session_pk,
            JOB.c.branch == job.branch,
            JOB.c.kind == job.kind,
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
    tx.rings.append(values.get("queue", job.queue))
