"""What the sweeper does: take back lapsed leases, run triggers that were held back, and remove what was deleted."""

from __future__ import annotations

from typing import Final

from sqlalchemy import delete, select

from sessions import paths, planning
from sessions.jobs import LEASE_LAPSED, requeue
from sessions.store import Store, Transaction
from sessions.tables import BRANCH, ENTRY, IDEMPOTENCY, JOB, PIN, SESSION, SUMMARY

PURGE_ROWS: Final = 500


def sweep(store: Store) -> list[str]:
    """One sweep, in one transaction; the queues in which jobs wait."""
    with store.write() as tx:
        lapsed = tx.execute(select(JOB).where(JOB.c.state == "running", JOB.c.lease_until <= tx.now)).all()
        for job in lapsed:
            requeue(tx, job, attempts=job.attempts, error=LEASE_LAPSED)
        _run_held_back(tx)
        _purge(tx)
        statement = select(JOB.c.queue).where(JOB.c.state == "queued", JOB.c.not_before <= tx.now)
        waiting: list[str] = list(tx.execute(statement).scalars())
        return waiting


def _run_held_back(tx: Transaction) -> None:
    due = tx.execute(
        select(BRANCH.c.session_pk, BRANCH.c.branch).where(
            BRANCH.c.next_summary_at > 0, BRANCH.c.next_summary_at <= tx.now
        )
    ).all()
    for session_pk, branch in due:
        path = paths.open_branch(tx, session_pk, branch)
        if path is not None:
            path.next_summary_at = 0
            planning.run_trigger(tx, path)
            paths.save(tx, path)


def _purge(tx: Transaction) -> None:
    """Remove a batch of rows of deleted sessions, and idempotency rows that are too old."""
    # A worker may still be reading for a job that was cancelled with its session.
    leased = select(JOB.c.session_pk).where(JOB.c.state == "cancelled", JOB.c.lease_until > tx.now)
    session_pk = tx.execute(
        select(SESSION.c.pk).where(SESSION.c.deleted_at.is_not(None), SESSION.c.pk.not_in(leased)).limit(1)
    ).scalar()
    tx.execute(delete(IDEMPOTENCY).where(IDEMPOTENCY.c.created_at < tx.now - tx.limits.idempotency_seconds * 1000))
    if session_pk is None:
        return
    entries = select(ENTRY.c.branch, ENTRY.c.seq).where(ENTRY.c.session_pk == session_pk).limit(PURGE_ROWS)
    rows = tx.execute(entries).all()
    for branch, seq in rows:
        tx.execute(delete(ENTRY).where(ENTRY.c.session_pk == session_pk, ENTRY.c.branch == branch, ENTRY.c.seq == seq))
    if len(rows) < PURGE_ROWS:
        for table in (JOB, SUMMARY, PIN, BRANCH):
            tx.execute(delete(table).where(table.c.session_pk == session_pk))
        tx.execute(delete(SESSION).where(SESSION.c.pk == session_pk))
