"""The backlog over all tenants: the jobs of each queue, how long the oldest has waited, and the pending tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import and_, case, func, select

from foldline.log.compaction.enqueue import BACKGROUND, INTERACTIVE
from foldline.log.job_state import ACTIVE, JobState
from foldline.log.jobs.claims import IS_DUE
from foldline.log.storage.store import Transaction
from foldline.log.storage.tables import BRANCH, JOB, SESSION, one_of

# A job that was held back starts to wait when it may run.
_WAITS_SINCE: Final = case((JOB.c.not_before > JOB.c.created_at, JOB.c.not_before), else_=JOB.c.created_at)
_JOBS: Final = (
    select(
        JOB.c.queue,
        JOB.c.state,
        func.count().label("jobs"),
        func.count(case((IS_DUE, 1))).label("due"),
        func.min(case((IS_DUE, _WAITS_SINCE))).label("since"),
    )
    .where(one_of(JOB.c.state, ACTIVE))
    .group_by(JOB.c.queue, JOB.c.state)
)
_PENDING: Final = (
    select(func.coalesce(func.sum(BRANCH.c.pending_tokens), 0))
    .join_from(BRANCH, SESSION, and_(SESSION.c.pk == BRANCH.c.session_pk, SESSION.c.head == BRANCH.c.branch))
    .where(BRANCH.c.pending_tokens > 0, SESSION.c.deleted_at.is_(None))
)

_ANY_JOB: Final = select(JOB.c.number).limit(1)


@dataclass(frozen=True, slots=True)
class Queue:
    """The unfinished jobs of a queue.

    `queued` counts all waiting jobs, also those held back after a failure or behind another job of their branch. `load`
    counts the running jobs and the waiting ones that a worker could claim now. `oldest_seconds` is how long the oldest
    of the claimable jobs has waited.
    """

    queued: int = 0
    running: int = 0
    load: int = 0
    oldest_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Backlog:
    """All queues by name, and the sum of the pending tokens of all sessions, unscaled."""

    queues: Mapping[str, Queue]
    pending_tokens: int


def backlog(tx: Transaction) -> Backlog:
    """The backlog now."""
    rows = {(row.queue, row.state): row for row in tx.execute(_JOBS, {"now": tx.now})}
    names = dict.fromkeys((INTERACTIVE, BACKGROUND, *(queue for queue, _ in rows)))
    queues = {
        name: _queue(rows.get((name, JobState.QUEUED)), rows.get((name, JobState.RUNNING)), tx.now) for name in names
    }
    return Backlog(queues, int(tx.execute(_PENDING).scalar()))


def check_tables(tx: Transaction) -> None:
    """Check that the database answers and has Foldline's tables.

    Raises:
        Unavailable: it does not.
    """
    tx.execute(_ANY_JOB)


def _queue(queued: Any, running: Any, now: int) -> Queue:
    at_work = running.jobs if running else 0
    if queued is None:
        return Queue(running=at_work, load=at_work)
    waited = 0.0 if queued.since is None else (now - queued.since) / 1000
    return Queue(queued.jobs, at_work, queued.due + at_work, max(0.0, waited))
