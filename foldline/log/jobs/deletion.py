"""Deletion: a session is gone for callers at once, and its rows are removed batch by batch later."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from sqlalchemy import delete, exists, select, tuple_, update

from foldline.log.events import JobEnded
from foldline.log.job_state import ACTIVE, JobState
from foldline.log.storage import idempotency, passages
from foldline.log.storage.store import Store, Transaction
from foldline.log.storage.tables import (
    BRANCH,
    CHUNK_TEXT,
    DISMISSAL,
    ENTRY,
    FINGERPRINT,
    JOB,
    PIN,
    SESSION,
    SUMMARY,
    one_of,
)

PURGE_ROWS: Final = 500

_IS_DELETED: Final = SESSION.c.deleted_at.is_not(None)
_IS_EMPTIED: Final = ~exists().where(BRANCH.c.session_pk == SESSION.c.pk)


def delete_sessions(tx: Transaction, tenant: str, sessions: Mapping[int, str]) -> None:
    """Delete sessions of one tenant, by primary key with their ids; the caller has locked them.

    Their ids are free at once, their jobs are cancelled, and the sweeper removes their rows later.
    """
    tx.execute(update(SESSION).where(SESSION.c.pk.in_(sessions)).values(deleted_at=tx.now, due_at=None))
    cancelled = tx.execute(
        update(JOB)
        .where(JOB.c.session_pk.in_(sessions), one_of(JOB.c.state, ACTIVE))
        .values(state=JobState.CANCELLED, lease=None, ended_at=tx.now)
        .returning(JOB.c.kind, JOB.c.session_pk, JOB.c.id)
    )
    tx.events += [JobEnded(kind, JobState.CANCELLED, sessions[pk], job_id) for kind, pk, job_id in cancelled]
    idempotency.forget(tx, tenant, [*sessions.values()])


def remove_session(tx: Transaction) -> bool:
    """Remove a batch of rows of a deleted session; whether there may be more."""
    # A worker may still be reading the session for a job that was cancelled with it.
    leased = select(JOB.c.session_pk).where(JOB.c.state == JobState.CANCELLED, JOB.c.lease_until > tx.now)
    deleted = select(SESSION.c.pk).where(_IS_DELETED, ~_IS_EMPTIED, SESSION.c.pk.not_in(leased)).limit(1)
    # Two sweepers that delete the same rows could deadlock, so a locked session is skipped.
    session_pk = tx.execute(deleted.with_for_update(skip_locked=True)).scalar()
    if session_pk is None:
        return False
    if passages.remove(tx, session_pk, PURGE_ROWS):
        return True
    batch = select(ENTRY.c.branch, ENTRY.c.seq).where(ENTRY.c.session_pk == session_pk).limit(PURGE_ROWS)
    gone = tx.execute(
        delete(ENTRY).where(ENTRY.c.session_pk == session_pk, tuple_(ENTRY.c.branch, ENTRY.c.seq).in_(batch))
    )
    if gone.rowcount < PURGE_ROWS:
        for table in (JOB, SUMMARY, PIN, DISMISSAL, CHUNK_TEXT, FINGERPRINT, BRANCH):
            tx.execute(delete(table).where(table.c.session_pk == session_pk))
        if not tx.is_only_writer:  # There the index keeps the terms until `remove_terms`.
            tx.execute(delete(SESSION).where(SESSION.c.pk == session_pk))
    return True


def remove_terms(store: Store, rest: Callable[[float], object]) -> None:
    """Have the index forget the terms of sessions whose rows are removed; only then their own rows are.

    The whole index is written anew for that, in short transactions. `rest` is called after each, with its seconds.
    """
    with store.read() as tx:
        emptied = tx.execute(select(SESSION.c.pk).where(_IS_DELETED, _IS_EMPTIED)).scalars().all()
    is_begin = has_more = bool(emptied)
    while has_more:
        began = store.stopwatch()
        with store.write() as tx:
            has_more = passages.forget_removed(tx, is_begin=is_begin)
            if not has_more:
                tx.execute(delete(SESSION).where(SESSION.c.pk.in_(emptied)))
        is_begin = False
        rest(store.stopwatch() - began)
