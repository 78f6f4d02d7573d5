"""Claiming: which job a worker gets next, and what it is to summarize."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import bindparam, select, update

from compaction.cuts import SummaryRange
from compaction.edits import LiveEdits
from compaction.summary import SummaryInput
from compaction.wire import dumps
from sessions import log, paths, planning, requests, segments
from sessions.compacting import Summary, apply_summary
from sessions.errors import SessionsError
from sessions.jobs import UNWORKABLE, Claim, end, summary_text
from sessions.paths import Path
from sessions.requests import NO_ROOM, Ask
from sessions.store import Store, Transaction
from sessions.tables import JOB

NOTHING_LEFT: Final = "nothing left to summarize"
# Jobs that may end without work in one claim.
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
# More than workers look at in the same moment.
_CANDIDATES: Final = _RUNNABLE.limit(20)
# A job can be cancelled without its session being held.
_CANDIDATE: Final = _RUNNABLE.where(JOB.c.id == bindparam("id")).with_for_update(of=JOB)
_CLAIMED: Final = ("lease", "lease_until", "attempts", "claim")
_CLAIM: Final = (
    update(JOB)
    .where(JOB.c.id == bindparam("job"), JOB.c.state == "queued")
    .values({name: bindparam(name) for name in _CLAIMED} | {"state": "running", "progress": 0.0, "error": None})
)


class Later(SessionsError):
    """Jobs wait, but their sessions are being written to; ask again in a moment."""


def claim(store: Store, queue: str) -> Claim | None:
    """The next job of a queue, by the database's order; None if none can run now.

    Its range is computed here. Jobs that have nothing left to do, or that a kept summary answers, end on the way. Each
    is looked at in a transaction of its own, so that one that cannot be worked with fails alone.

    Raises:
        Later: there are jobs, and none could be looked at, or very many had ended.
    """
    for _ in range(ENDED_AT_ONCE):
        found = _look(store, queue)
        if not isinstance(found, str):
            return found
    raise Later


def _look(store: Store, queue: str) -> Claim | str | None:
    """The first job that can be looked at: as a claim, or its id if it ended instead; None if no job waits."""
    job_id = ""
    try:
        with store.write() as tx:
            candidates = tx.execute(_CANDIDATES, {"queue": queue, "now": tx.now}).all()
            if not candidates:
                return None
            path, row = _first_free(tx, queue, candidates)
            job_id = row.id
            return _take(tx, path, row, is_followed=len(candidates) > 1) or job_id
    except UNWORKABLE as error:
        with store.write() as tx:
            end(tx, job_id, "failed", f"this session cannot be worked with: {error}")
        return job_id


def _first_free(tx: Transaction, queue: str, candidates: Sequence[Any]) -> tuple[Path, Any]:
    """The first job whose session nobody is writing to, both locked: one session must not keep the others waiting.

    Raises:
        Later: there is none.
    """
    for candidate in candidates:
        # The session first, as in every other transaction: whoever holds it may go on to its jobs.
        path = paths.open_branch(tx, candidate.session_pk, candidate.branch, waits=False)
        row = path and tx.execute(_CANDIDATE, {"queue": queue, "now": tx.now, "id": candidate.id}).first()
        if path is not None and row is not None:
            return path, row
    raise Later


def _take(tx: Transaction, path: Path, row: Any, *, is_followed: bool) -> Claim | None:
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
        _CLAIM,
        {
            "job": row.id,
            "lease": lease,
            "lease_until": tx.now + tx.limits.lease_seconds * 1000,
            "attempts": row.attempts + 1,
            "claim": dumps(claimed),
        },
    )
    request = _input(tx, path, wanted, outline.live, ask)
    return Claim(row.id, path.session.pk, path.branch, lease, request, wanted, is_followed)


def _publish_kept(tx: Transaction, path: Path, job_id: str, wanted: SummaryRange, *, kept: Summary, ask: Ask) -> None:
    outline = log.outline(tx, path)
    applied = apply_summary(tx, path, outline, path.goals(), covered=wanted, summary=kept, is_asked=ask.is_asked)
    if applied is None:
        end(tx, job_id, "failed", NO_ROOM)
    else:
        compaction, after = applied
        end(tx, job_id, "succeeded", result={"compaction_id": compaction.id, "degraded": kept.is_degraded})
        planning.request_rest(tx, path, ask, after)


def _input(tx: Transaction, path: Path, covered: SummaryRange, live: LiveEdits, ask: Ask) -> SummaryInput:
    """The texts of the summaries that are replaced, and the originals that are not under one of them."""
    parts = segments.clipped(
        list(segments.uncovered(segments.segments(tx, path), live)), [(covered.first, covered.last)]
    )
    messages = log.messages_in(tx, path.session, parts)
    return SummaryInput(
        previous=tuple(summary_text(tx, summary) for summary in covered.replaces),
        messages=tuple(messages.values()),
        max_tokens=covered.max_tokens,
        instructions=ask.instructions,
    )
