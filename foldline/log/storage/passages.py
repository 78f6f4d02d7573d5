"""The index that recall searches: a row for each passage of a message, in SQLite's FTS5 or PostgreSQL's full text.

Each term of a row begins with the number of its session, so that a search reads nothing of other sessions. Which
entries of the session it may show is for the caller to say. A row is written with its entry, or at the first recall
that misses it; `entry.passages` says how many an entry has, and is NULL until they are written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Integer,
    MetaData,
    String,
    Table,
    bindparam,
    cast,
    delete,
    func,
    insert,
    literal_column,
    select,
    tuple_,
    update,
)
from sqlalchemy.dialects.postgresql import TSQUERY, TSVECTOR
from sqlalchemy.sql import Delete, Insert, Select

from foldline.engine.recall.passages import IndexText
from foldline.engine.recall.ranking import PassageAt
from foldline.log.storage.rows import Session
from foldline.log.storage.segments import Segment, holds
from foldline.log.storage.store import Transaction
from foldline.log.storage.tables import ENTRY

# More passages with one term are not read: such a term says little.
MOST_HITS: Final = 2_000
# A virtual table on SQLite, so it is not in the metadata of the others. `terms` is text there.
PASSAGE: Final = Table(
    "passage",
    MetaData(),
    Column("session_pk", BigInteger),
    Column("branch", Integer),
    Column("seq", Integer),
    Column("number", Integer),
    Column("kinds", Integer),
    Column("terms", String().with_variant(TSVECTOR(), "postgresql")),
)
_KEY: Final = (PASSAGE.c.branch, PASSAGE.c.seq, PASSAGE.c.number)
_ROWID: Final[ColumnElement[int]] = literal_column("rowid")
_PLACES: Final[dict[str, Any]] = {column.name: bindparam(column.name) for column in PASSAGE.c if column.name != "terms"}
_TERMS: Final = bindparam("terms", type_=String())


class _Statements(NamedTuple):
    """What is written differently for each database. `hits` and `gone` take the query for a term as `query`."""

    insert: Insert
    hits: Select[Any]
    gone: Delete
    quote: str


def _hits(condition: Any) -> Select[Any]:
    # A plan for the first rows alone might read the whole table for a term that few rows have.
    found = select(*_KEY, PASSAGE.c.session_pk, PASSAGE.c.kinds).where(condition).cte("found")
    found = found.prefix_with("MATERIALIZED", dialect="postgresql")
    is_of_kind = (bindparam("kinds", type_=Integer()) == 0) | (
        found.c.kinds.op("&")(bindparam("kinds", type_=Integer())) != 0
    )
    chosen = found.c.session_pk == bindparam("pk", type_=BigInteger())
    return select(found.c.branch, found.c.seq, found.c.number).where(chosen, is_of_kind).limit(MOST_HITS)


_MATCHES: Final = literal_column("passage").op("MATCH")(bindparam("query", type_=String()))
_MATCHES_ON_POSTGRESQL: Final = PASSAGE.c.terms.op("@@")(cast(bindparam("query", type_=String()), TSQUERY))
_BATCH: Final = bindparam("rows", type_=Integer())
_OF_SESSION: Final = PASSAGE.c.session_pk == bindparam("pk", type_=BigInteger())
_SQLITE: Final = _Statements(
    insert(PASSAGE).values(**_PLACES, terms=_TERMS),
    _hits(_MATCHES),
    delete(PASSAGE).where(_ROWID.in_(select(_ROWID).select_from(PASSAGE).where(_MATCHES).limit(_BATCH))),
    '"',
)
_POSTGRESQL: Final = _Statements(
    insert(PASSAGE).values(**_PLACES, terms=func.array_to_tsvector(func.string_to_array(_TERMS, " "))),
    _hits(_MATCHES_ON_POSTGRESQL),
    delete(PASSAGE).where(_OF_SESSION, tuple_(*_KEY).in_(select(*_KEY).where(_OF_SESSION).limit(_BATCH))),
    "'",
)
_MARK_INDEXED: Final = (
    update(ENTRY)
    .where(
        ENTRY.c.session_pk == bindparam("pk"),
        ENTRY.c.branch == bindparam("at_branch"),
        ENTRY.c.seq == bindparam("at_seq"),
        ENTRY.c.passages.is_(None),
    )
    .values(passages=bindparam("number_of"))
)
_UNINDEXED: Final = (
    select(ENTRY.c.branch, ENTRY.c.seq)
    .where(ENTRY.c.session_pk == bindparam("pk"), ENTRY.c.passages.is_(None))
    .limit(bindparam("most"))
)


def _statements(tx: Transaction) -> _Statements:
    return _SQLITE if tx.is_only_writer else _POSTGRESQL


def _scope(session_pk: int) -> str:
    """What each term of a session's rows begins with; it stands alone in each row, too."""
    return f"{session_pk}_"


def rows_of(session_pk: int, branch: int, seq: int, indexed: IndexText) -> list[dict[str, Any]]:
    """The rows of an entry's passages."""
    scope = _scope(session_pk)
    between = f" {scope}"
    return [
        {
            "session_pk": session_pk,
            "branch": branch,
            "seq": seq,
            "number": number,
            "kinds": indexed.kinds,
            "terms": f"{scope}{between}{terms.replace(' ', between)}",
        }
        for number, terms in enumerate(indexed.passages)
        if terms
    ]


def add(tx: Transaction, rows: Sequence[dict[str, Any]]) -> None:
    """Insert the rows of passages."""
    if rows:
        tx.execute(_statements(tx).insert, rows)


def hits(
    tx: Transaction, session: Session, parts: Sequence[Segment], terms: Iterable[str], kinds: int = 0
) -> dict[str, list[PassageAt]]:
    """The passages on a path that have each of these terms; at most `MOST_HITS` are read for each.

    `kinds` are bits: only entries with an item of one of these kinds are searched; 0 searches all.
    """
    statements, scope = _statements(tx), _scope(session.pk)
    quote = statements.quote
    found = {}
    for term in terms:
        query = {"query": f"{quote}{scope}{term}{quote}", "pk": session.pk, "kinds": kinds}
        rows = tx.execute(statements.hits, query)
        found[term] = [PassageAt(seq, number) for branch, seq, number in rows if holds(parts, branch, seq)]
    return found


def unindexed(tx: Transaction, session: Session, most: int) -> list[tuple[int, int]]:
    """Up to `most` entries of a session, by branch and seq, whose rows are not written yet."""
    return [(branch, seq) for branch, seq in tx.execute(_UNINDEXED, {"pk": session.pk, "most": most})]


def add_missing(tx: Transaction, session: Session, branch: int, seq: int, indexed: IndexText) -> None:
    """Write the rows of an entry, if nobody has meanwhile. The caller has locked the session."""
    at = {"pk": session.pk, "at_branch": branch, "at_seq": seq, "number_of": len(indexed.passages)}
    if tx.execute(_MARK_INDEXED, at).rowcount:
        add(tx, rows_of(session.pk, branch, seq, indexed))


def remove(tx: Transaction, session_pk: int, most: int) -> int:
    """Remove up to `most` rows of a session; how many were removed."""
    statements = _statements(tx)
    query = f"{statements.quote}{_scope(session_pk)}{statements.quote}"
    gone: int = tx.execute(statements.gone, {"query": query, "pk": session_pk, "rows": most}).rowcount
    return gone
