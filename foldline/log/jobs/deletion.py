"""Deletion: a session is gone for callers at once, and its rows are removed batch by batch later."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from sqlalchemy import Table, delete, exists, select, tuple_, update

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

# What one transaction removes, of so many sessions at the most.
PURGE_ROWS: Final = 500
SESSIONS_AT_ONCE: Final = 100
# What one sweep removes, and for how long: with its rests, it is done before the next one is due.
BATCHES_AT_ONCE: Final = 200
SECONDS_AT_ONCE: Final = 5.0
# For so long removed terms may stay in SQLite's index, while more sessions wait to be removed.
TERMS_MILLISECONDS: Final = 3_600_000

# Emptied sessions have the time of that, negated: so the index on it parts them from those that wait.
_IS_WAITING: Final = SESSION.c.deleted_at > 0
_IS_EMPTIED: Final = SESSION.c.deleted_at < 0
# The branches last, as a session without them is emptied.
_OF_SESSIONS: Final = (ENTRY, JOB, SUMMARY, PIN, DISMISSAL, CHUNK_TEXT, FINGERPRINT, BRANCH)


def delete_sessions(tx: Transaction, tenant: str, sessions: Mapping[int, str]) -> None:
    """Delete sessions of one tenant, by primary key with their ids; the caller has locked them.

    Their ids are free at once, their jobs are cancelled, and the sweeper removes their rows later.
    """
    tx.execute(
        update(SESSION).where(SESSION.c.pk.in_(sessions)).values(deleted_at=tx.now, due_at=None, expires_at=None)
    )
    cancelled = tx.execute(
        update(JOB)
        .where(JOB.c.session_pk.in_(sessions), one_of(JOB.c.state, ACTIVE))
        .values(state=JobState.CANCELLED, lease=None, ended_at=tx.now)
        .returning(JOB.c.kind, JOB.c.session_pk, JOB.c.id)
    )
    tx.events += [JobEnded(kind, JobState.CANCELLED, sessions[pk], job_id) for kind, pk, job_id in cancelled]
    idempotency.forget(tx, tenant, [*sessions.values()])


def remove_deleted(store: Store, rest: Callable[[float], object]) -> None:
    """Remove some of what was deleted; SQLite's index is written anew once no more waits, or an hour later.

    `rest` is called after each transaction that leaves more, with the seconds that it took.
    """
    if not _remove_some(store, rest) or _is_overdue(store):
        remove_terms(store, rest)


def _remove_some(store: Store, rest: Callable[[float], object]) -> bool:
    """Remove rows for a few seconds; whether there may be more."""
    first = store.stopwatch()
    for _ in range(BATCHES_AT_ONCE):
        began = store.stopwatch()
        if began - first > SECONDS_AT_ONCE:
            break
        with store.write() as tx:
            has_more = remove_batch(tx)
        if not has_more:
            return False
        rest(store.stopwatch() - began)
    return True


def remove_batch(tx: Transaction) -> bool:
    """Remove a batch of rows of deleted sessions; whether there may be more."""
    # A worker may still be reading a session for a job that was cancelled with it.
    leased = select(JOB.c.session_pk).where(JOB.c.state == JobState.CANCELLED, JOB.c.lease_until > tx.now)
    waiting = select(SESSION.c.pk).where(_IS_WAITING, SESSION.c.pk.not_in(leased)).limit(SESSIONS_AT_ONCE)
    # Two sweepers that delete the same rows could deadlock, so a locked session is skipped.
    pks = tx.execute(waiting.with_for_update(skip_locked=True)).scalars().all()
    if not pks:
        return False
    room = PURGE_ROWS - passages.remove(tx, pks, PURGE_ROWS)
    for table in _OF_SESSIONS:
        if room > 0:
            room -= _remove_rows(tx, table, pks, room)
    _let_go(tx, pks)
    return room == 0 or len(pks) == SESSIONS_AT_ONCE


def _remove_rows(tx: Transaction, table: Table, pks: Sequence[int], most: int) -> int:
    key = [*table.primary_key.columns]
    found = select(*key).where(table.c.session_pk.in_(pks)).limit(most)
    removed: int = tx.execute(delete(table).where(tuple_(*key).in_(found))).rowcount
    return removed


def _let_go(tx: Transaction, pks: Sequence[int]) -> None:
    """Remove those of the sessions that have no rows; on SQLite, the index keeps their terms until `remove_terms`."""
    empty = (SESSION.c.pk.in_(pks), ~exists().where(BRANCH.c.session_pk == SESSION.c.pk))
    if tx.is_only_writer:
        tx.execute(update(SESSION).where(*empty).values(deleted_at=-tx.now))
    else:
        tx.execute(delete(SESSION).where(*empty))


def _is_overdue(store: Store) -> bool:
    with store.read() as tx:
        oldest = TERMS_MILLISECONDS - tx.now
        overdue = select(SESSION.c.pk).where(_IS_EMPTIED, SESSION.c.deleted_at >= oldest).limit(1)
        return tx.execute(overdue).first() is not None


def remove_terms(store: Store, rest: Callable[[float], object]) -> None:
    """Have SQLite's index forget the terms of emptied sessions; only then their own rows are removed.

    The whole index is written anew for that, in short transactions. `rest` is called after each, with its seconds.
    """
    with store.read() as tx:
        emptied = tx.execute(select(SESSION.c.pk).where(_IS_EMPTIED)).scalars().all()
    is_begin = has_more = bool(emptied)
    while has_more:
        began = store.stopwatch()
        with store.write() as tx:
            has_more = passages.forget_removed(tx, is_begin=is_begin)
        is_begin = False
        rest(store.stopwatch() - began)
    for first in range(0, len(emptied), PURGE_ROWS):
        began = store.stopwatch()
        with store.write() as tx:
            tx.execute(delete(SESSION).where(SESSION.c.pk.in_(emptied[first : first + PURGE_ROWS])))
        rest(store.stopwatch() - began)
