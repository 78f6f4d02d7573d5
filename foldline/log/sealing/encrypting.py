"""Encrypts what a database holds with the first key, while the service goes on: after keys were set, or changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from sqlalchemy import Column, ColumnElement, LargeBinary, Table, bindparam, func, select, tuple_, type_coerce, update
from sqlmodel import SQLModel

from foldline.log.errors import DamagedValue
from foldline.log.sealing.cipher import Cipher, is_sealed
from foldline.log.sealing.listed_keys import listed_keys, strike_key
from foldline.log.sealing.pages import pages, sealed_columns
from foldline.log.storage import passages, paths
from foldline.log.storage.store import Store, Transaction
from foldline.log.storage.tables import ENTRY, SESSION

# Rows of a transaction: appends wait no longer than for one of them.
AT_ONCE: Final = 100
INDEX_ROWS: Final = 1_000
_INDEXED: Final = select(ENTRY.c.branch, ENTRY.c.seq).where(
    ENTRY.c.session_pk == bindparam("pk"), ENTRY.c.passages.is_not(None)
)

Advance = Callable[[int], object]


def rows_of(store: Store) -> int:
    """How many rows `encrypt_all` looks at, about."""
    with store.read() as tx:
        return sum(tx.execute(select(func.count()).select_from(table)).scalar_one() for table in _tables())


def encrypt_all(store: Store, cipher: Cipher, advance: Advance) -> int:
    """Encrypt all values that are not encrypted with the first key; how many rows had some.

    Other processes have to have that key already. It may run again, and while others write. `advance` is called with
    numbers of rows. Afterwards the list of keys has that one alone. What recall searches is made anew where it was
    readable. A damaged value stays as it is: no key opens it.

    Raises:
        SealingKeyMissing: a value is of a key that the cipher does not have.
        Unavailable: the database does not answer.
    """
    done = 0
    hidden: set[int] = set()
    for table in _tables():
        stored = [_stored(column).label(column.name) for column in sealed_columns(table)]
        for rows in pages(store, table, [*table.primary_key.columns, *stored], newest_first=True):
            if table is ENTRY:
                readable = {row.session_pk for row in rows if not is_sealed(row.body)} - hidden
                _hide_terms(store, readable)
                hidden |= readable
            stale = [(row, values) for row in rows if (values := _stale(cipher, table, row))]
            if stale:
                with store.write() as tx:
                    done += sum(_encrypt(tx, cipher, table, row, values) for row, values in stale)
            advance(len(rows))
    # Also of a run that was broken off.
    forget_terms(store)
    with store.write() as tx:
        for name in listed_keys(tx) - {cipher.first}:
            strike_key(tx, name)
    return done


def _tables() -> list[Table]:
    """The tables with sealed columns. Sessions come last: `check_keys` looks at some of them."""
    tables = [table for table in SQLModel.metadata.sorted_tables if sealed_columns(table)]
    return sorted(tables, key=lambda table: table is SESSION)


def _stored(column: Column[Any]) -> ColumnElement[Any]:
    """A column as it is stored."""
    return type_coerce(column, LargeBinary)


def _stale(cipher: Cipher, table: Table, row: Any) -> dict[str, bytes]:
    """The values of a row that are not encrypted with the first key and can be read, as they are stored."""
    stored = {column.name: getattr(row, column.name) for column in sealed_columns(table)}
    older = {name: value for name, value in stored.items() if value is not None and not cipher.is_newest(value)}
    return {name: value for name, value in older.items() if not _is_damaged(cipher, value)}


def _is_damaged(cipher: Cipher, value: bytes) -> bool:
    try:
        cipher.opened(value)
    except DamagedValue:
        return True
    return False


def _encrypt(tx: Transaction, cipher: Cipher, table: Table, row: Any, values: Mapping[str, bytes]) -> int:
    """Encrypt values of a row, unless somebody has changed them meanwhile, who has encrypted them then; 1 or 0."""
    key = [column == getattr(row, column.name) for column in table.primary_key.columns]
    same = [_stored(table.c[name]) == value for name, value in values.items()]
    opened = {name: cipher.opened(value) for name, value in values.items()}
    done: int = tx.execute(update(table).where(*key, *same).values(opened)).rowcount
    return done


def _hide_terms(store: Store, session_pks: Iterable[int]) -> None:
    """Have these sessions indexed anew, as the terms of some entries can be read."""
    for session_pk in session_pks:
        places = None
        while places is None:
            places = _remove_rows(store, session_pk)
        _index_again(store, session_pk, places)


def forget_terms(store: Store) -> None:
    """Have nothing of removed terms in the index, which is written anew for that in short transactions."""
    is_begin = is_more = True
    while is_more:
        with store.write() as tx:
            is_more = passages.forget_removed(tx, is_begin=is_begin)
        is_begin = False


def _remove_rows(store: Store, session_pk: int) -> set[tuple[int, int]] | None:
    """Remove some of a session's rows from the index; None if there may be more.

    Once there are none, the places of the entries that had some: only these may be indexed again, others are anyway.
    """
    with store.write() as tx:
        # Not while somebody indexes.
        paths.hold(tx, session_pk)
        if passages.remove(tx, [session_pk], INDEX_ROWS):
            return None
        return {(branch, seq) for branch, seq in tx.execute(_INDEXED, {"pk": session_pk})}


def _index_again(store: Store, session_pk: int, places: Iterable[tuple[int, int]]) -> None:
    ordered = sorted(places)
    for start in range(0, len(ordered), AT_ONCE):
        chunk = ordered[start : start + AT_ONCE]
        here = tuple_(ENTRY.c.branch, ENTRY.c.seq).in_(chunk)
        with store.write() as tx:
            paths.hold(tx, session_pk)
            tx.execute(update(ENTRY).where(ENTRY.c.session_pk == session_pk, here).values(passages=None))
