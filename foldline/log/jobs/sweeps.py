"""The sweep: takes back lapsed leases, runs triggers that were held back, indexes, removes what expired or was deleted.

Each step is a short transaction of its own, so that a sweep does not keep appends waiting and one broken session does
not stop the others. Rows that another transaction has locked are left to the next sweep.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import Any, Final

from sqlalchemy import select

from foldline.log.access import audit
from foldline.log.compaction import trigger
from foldline.log.events import JobWaits, LeaseLapsed, SweepDone
from foldline.log.job_state import ACTIVE, JobState
from foldline.log.jobs import deletion, indexing, retention
from foldline.log.jobs.endings import LEASE_LAPSED, UNREADABLE, end, requeue
from foldline.log.storage import idempotency, paths
from foldline.log.storage.store import Store, Transaction
from foldline.log.storage.tables import (
    BRANCH,
    JOB,
    SESSION,
    one_of,
)

# The most that one sweep does of each kind; the rest waits for the next.
ITEMS_AT_ONCE: Final = 100
BATCHES_AT_ONCE: Final = 20
INDEXED_AT_ONCE: Final = 5_000

_OF_LAPSED: Final = (JOB.c.id, JOB.c.session_pk, JOB.c.branch, JOB.c.lease)


def no_rest(_seconds: float) -> None:
    """Go on at once: for a process that answers no requests."""


def sweep(store: Store, rest: Callable[[float], object] = no_rest) -> list[str]:
    """Sweep once, and publish a `JobWaits` for each queue with claimable jobs; those queues.

    `rest` is called after each piece of long work, with the seconds that it took.
    """
    with store.read() as tx:
        # Without what may be damaged: one job that cannot be read must not hold up the others.
        lapsed = tx.execute(_lapsed(tx).with_only_columns(*_OF_LAPSED).limit(ITEMS_AT_ONCE)).all()
        due = tx.execute(_due(tx).limit(ITEMS_AT_ONCE)).all()
    for job in lapsed:
        _take_back(store, job)
    for session_pk, branch in due:
        _run_held_back(store, session_pk, branch)
    for remove in (
        _remove_answers,
        _remove_trail,
        _delete_expired,
        retention.delete_of_their_own,
        retention.delete_of_service,
    ):
        for _ in range(BATCHES_AT_ONCE):
            with store.write() as tx:
                if not remove(tx):
                    break
    deletion.remove_deleted(store, rest)
    with store.read() as tx:
        waiting = select(JOB.c.queue).where(JOB.c.state == JobState.QUEUED, JOB.c.not_before <= tx.now).distinct()
        queues = list(tx.execute(waiting.order_by(JOB.c.queue)).scalars())
    for queue in queues:
        store.publish(JobWaits(queue))
    indexing.index_waiting(store, INDEXED_AT_ONCE, rest)
    store.empty_log()
    store.publish(SweepDone())
    return queues


def _lapsed(tx: Transaction) -> Any:
    return select(JOB).where(JOB.c.state == JobState.RUNNING, JOB.c.lease_until <= tx.now).order_by(JOB.c.number)


def _due(tx: Transaction) -> Any:
    held_back = select(BRANCH.c.session_pk, BRANCH.c.branch).join(SESSION, SESSION.c.pk == BRANCH.c.session_pk)
    # Those of deleted sessions stay until their rows are removed.
    return held_back.where(
        BRANCH.c.next_summary_at > 0, BRANCH.c.next_summary_at <= tx.now, SESSION.c.deleted_at.is_(None)
    )


def _take_back(store: Store, job: Any) -> None:
    try:
        with store.write() as tx:
            if paths.open_branch(tx, job.session_pk, job.branch, waits=False) is None:
                return
            still = _lapsed(tx).where(JOB.c.id == job.id, JOB.c.lease == job.lease).with_for_update()
            row = tx.execute(still).first()
            if row is not None:
                tx.events.append(LeaseLapsed(row.queue))
                requeue(tx, row, attempts=row.attempts, error=LEASE_LAPSED)
    except UNREADABLE as error:
        with store.write() as tx:
            end(tx, job.id, JobState.FAILED, f"this version cannot read the session: {error}")


def _run_held_back(store: Store, session_pk: int, branch: int) -> None:
    try:
        with store.write() as tx:
            path = paths.open_branch(tx, session_pk, branch, waits=False)
            # Another summary may have failed since the sweep read this row.
            if path is not None and 0 < path.next_summary_at <= tx.now:
                before = path.leaf_seq
                path.next_summary_at = 0
                trigger.run_trigger(tx, path)
                paths.save_edited(tx, path, before)
    except UNREADABLE:
        # The failed job has the error; the next append or compaction tries again.
        with store.write() as tx:
            tx.execute(_no_longer_held_back(session_pk, branch))


def _no_longer_held_back(session_pk: int, branch: int) -> Any:
    here = (BRANCH.c.session_pk == session_pk, BRANCH.c.branch == branch)
    return BRANCH.update().where(*here).values(next_summary_at=0)


def _remove_answers(tx: Transaction) -> bool:
    """Remove a batch of expired idempotency rows; whether there may be more."""
    return idempotency.remove_old(tx, deletion.PURGE_ROWS) == deletion.PURGE_ROWS


def _remove_trail(tx: Transaction) -> bool:
    """Remove a batch of the audit trail that is too old; whether there may be more."""
    return audit.remove_old(tx, deletion.PURGE_ROWS) == deletion.PURGE_ROWS


def _tenant_of(row: Any) -> str:
    tenant: str = row.tenant
    return tenant


def _delete_expired(tx: Transaction) -> bool:
    """Delete sessions that did not go on, except those with jobs; whether there may be more."""
    busy = select(JOB.c.session_pk).where(one_of(JOB.c.state, ACTIVE))
    expired = select(SESSION.c.pk, SESSION.c.tenant, SESSION.c.id).where(
        SESSION.c.expires_at <= tx.now, SESSION.c.deleted_at.is_(None), SESSION.c.pk.not_in(busy)
    )
    found = tx.execute(expired.limit(deletion.PURGE_ROWS).with_for_update(skip_locked=True)).all()
    for tenant, sessions in groupby(sorted(found, key=_tenant_of), key=_tenant_of):
        retention.delete(tx, tenant, {row.pk: row.id for row in sessions})
    return len(found) == deletion.PURGE_ROWS
