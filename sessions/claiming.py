"""Claiming: which job a worker gets next, and what it is to summarize."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import bindparam, select, update

from compaction.cuts import SummaryRange
from compaction.edits import LiveEdits
from compaction.summary import SummaryInput
from compaction.wire import dumps
from sessions import log, paths, planning, requests, segments
from sessions.compacting import Summary, apply_summary
from sessions.jobs import UNWORKABLE, Claim, end, summary_text
from sessions.paths import Path
from sessions.requests import NO_ROOM, Ask
from sessions.segments import Segment
from sessions.store import Store, Transaction
from sessions.tables import JOB

NOTHING_LEFT: Final = "nothing left to summarize"
# Jobs that end without work in one claim; for the others the queue is rung again.
ENDED_AT_ONCE: Final = 100

_RUNNING: Final = JOB.alias("running")
_IS_BUSY: Final = (
    select(_RUNNING.c.id)
    .where(_RUNNING.c.session_pk == JOB.c.session_pk, _RUNNING.c.branch == JOB.c.branch)
    .where(_RUNNING.c.kind == JOB.c.kind, _RUNNING.c.state == "running")
    .exists()
)
_RUNNABLE: Final = (
    select(JOB.c.id, JOB.c.session_pk, JOB.c.branch, JOB.c.attempts, JOB.c.parameters)
    .where(JOB.c.state == "queued", JOB.c.queue == bindparam("queue"), JOB.c.not_before <= bindparam("now"), ~_IS_BUSY)
    .order_by(JOB.c.number)
)
# One, and whether there are more.
_CANDIDATES: Final = _RUNNABLE.limit(2)
_CANDIDATE: Final = _RUNNABLE.where(JOB.c.id == bindparam("id"))
_CLAIMED: Final = ("lease", "lease_until", "attempts", "claim")
_CLAIM: Final = (
    update(JOB)
    .where(JOB.c.id == bindparam("job"), JOB.c.state == "queued")
    .values({name: bindparam(name) for name in _CLAIMED} | {"state": "running", "progress": 0.0, "error": None})
)


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
    is_followed: bool = False


def claim(store: Store, queue: str) -> Claim | None:
    """The next job of a queue, by the database's order; None if none can run now.

    Its range is computed here. Jobs that have nothing left to do, or that a kept summary answers, end on the way. Each
    is looked at in a transaction of its own, so that one that cannot be worked with fails alone.
    """
    for _ in range(ENDED_AT_ONCE):
        found = _look(store, queue)
        if found is None:
            return None
        if isinstance(found, _Work):
            with store.read() as tx:
                return _claim(tx, found)
    return None


def _claim(tx: Transaction, work: _Work) -> Claim:
    path = work.path
    request = _input(tx, work)
    return Claim(work.job_id, path.session.pk, path.branch, work.lease, request, work.covered, work.is_followed)


def _look(store: Store, queue: str) -> _Work | str | None:
    """The first job that waits: as work, or its id if it ended, or went to another worker; None if none waits."""
    first = None
    try:
        with store.write() as tx:
            first, *others = tx.execute(_CANDIDATES, {"queue": queue, "now": tx.now}).all() or [None]
            if first is None:
                return None
            # The session first, as in every other transaction: whoever holds it may go on to its jobs.
            path = paths.open_branch(tx, first.session_pk, first.branch)
            row = tx.execute(_CANDIDATE, {"queue": queue, "now": tx.now, "id": first.id}).first()
            work = None if row is None else _take(tx, path, row)
            return first.id if work is None else replace(work, is_followed=bool(others))
    except UNWORKABLE as error:
        if first is None:
            raise
        with store.write() as tx:
            end(tx, first.id, "failed", f"this session cannot be worked with: {error}")
        return str(first.id)


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
    taken = tx.execute(
        _CLAIM,
        {
            "job": row.id,
            "lease": lease,
            "lease_until": tx.now + tx.limits.lease_seconds * 1000,
            "attempts": row.attempts + 1,
            "claim": dumps(claimed),
        },
    )
    # A job can be cancelled without its session being held.
    if not taken.rowcount:
        return None
    return _Work(row.id, lease, path, wanted, outline.live, segments.segments(tx, path), ask)


def _publish_kept(tx: Transaction, path: Path, job_id: str, wanted: SummaryRange, *, kept: Summary, ask: Ask) -> None:
    outline = log.outline(tx, path)
    applied = apply_summary(tx, path, outline, path.goals(), covered=wanted, summary=kept, is_asked=ask.is_asked)
    if applied is None:
        end(tx, job_id, "failed", NO_ROOM)
    else:
        compaction, after = applied
        end(tx, job_id, "succeeded", result={"compaction_id": compaction.id, "degraded": kept.is_degraded})
        planning.request_rest(tx, path, ask, after)


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
