"""The index that recall searches: a row for each passage of a message, in SQLite's FTS5 or PostgreSQL's full text.

Each term of a row begins with the number of its session, so that a search reads nothing of other sessions. Which
entries of the session it may show is for the caller to say. A service that encrypts hides the terms. Rows are written
some time after their entry; its `entry.passages` says how many it has, and is NULL until they are written, as is
`entry.ledger`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from sys import maxsize
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    BigInteger,
    Column,
    Integer,
    MetaData,
    String,
    Table,
    bindparam,
    func,
    select,
    text,
    tuple_,
    update,
)
from sqlalchemy.dialects.postgresql import TSVECTOR
from sqlalchemy.sql.elements import TextClause

from foldline.engine.recall.passages import IndexText
from foldline.engine.recall.ranking import PassageAt
from foldline.log.sealing.terms import hiding
from foldline.log.storage.rows import Session
from foldline.log.storage.store import Transaction
from foldline.log.storage.tables import ENTRY, SESSION

# Terms that more passages have do not choose among them, unless the question has no others.
MOST_HITS: Final = 2_000
FEWEST_TERMS: Final = 3
# About 30 ms of work.
MERGED_PAGES: Final = 100
MERGING_CHANGES: Final = 2
_CHANGES: Final = text("SELECT total_changes()")
_MERGE: Final = text("INSERT INTO passage(passage, rank) VALUES ('merge', :pages)")
# Else a merge of fewer than four parts is begun and never continued.
_MERGE_ANY: Final = text("INSERT INTO passage(passage, rank) VALUES ('usermerge', 2)")
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


class _Dialect(NamedTuple):
    """What each database writes differently; `{}` in `matches` is the name of a parameter with a query.

    `key` names a row in a group, and `place` finds it again.
    """

    quote: str
    matches: str
    terms: str
    key: str
    place: str
    gone: str


_SQLITE: Final = _Dialect(
    quote='"',
    matches="passage MATCH :{}",
    terms=":terms",
    key="rowid",
    place="JOIN passage ON passage.rowid = best.rowid",
    gone="DELETE FROM passage WHERE rowid IN (SELECT rowid FROM passage WHERE passage MATCH :query LIMIT :most)",
)
_POSTGRESQL: Final = _Dialect(
    quote="'",
    matches="terms @@ CAST(:{} AS tsquery)",
    terms="array_to_tsvector(string_to_array(:terms, ' '))",
    key="session_pk, branch, seq, number",
    place="JOIN passage USING (session_pk, branch, seq, number)",
    gone="DELETE FROM passage WHERE (session_pk, branch, seq, number) IN "
    "(SELECT session_pk, branch, seq, number FROM passage WHERE session_pk = ANY(:pks) LIMIT :most)",
)


class Place(NamedTuple):
    """Where an entry is in its session."""

    branch: int
    seq: int


class Indexed(NamedTuple):
    """What an index has of an entry, and the items of its ledger as they are stored.

    There is nothing to find in an entry that no view shows, or that this version cannot read.
    """

    place: Place
    text: IndexText = IndexText((), 0)
    items: bytes | None = None


class Unindexed(NamedTuple):
    """An entry whose rows are not written yet, and the bytes of its body."""

    place: Place
    size: int


class Hit(NamedTuple):
    """A passage, its branch, and the terms of a question that it has."""

    branch: int
    at: PassageAt
    terms: frozenset[str]


@lru_cache(maxsize=4)
def _insert(dialect: _Dialect) -> TextClause:
    columns = "session_pk, branch, seq, number, kinds"
    values = ", ".join(f":{column}" for column in columns.split(", "))
    return text(f"INSERT INTO passage ({columns}, terms) VALUES ({values}, {dialect.terms})")


@lru_cache(maxsize=64)
def _count(dialect: _Dialect, number: int) -> TextClause:
    counts = (f"(SELECT count(*) FROM passage WHERE {dialect.matches.format(f'q{n}')})" for n in range(number))
    return text(f"SELECT {', '.join(counts)}")


@lru_cache(maxsize=128)
def _best(dialect: _Dialect, number: int, *, of_kinds: bool) -> TextClause:
    """The passages with the weightiest terms; `bits` has a bit for each term, as no passage has one twice."""
    kinds = " AND (kinds & :kinds) <> 0" if of_kinds else ""
    hits = " UNION ALL ".join(
        f"SELECT {dialect.key}, CAST(:w{n} AS float) AS weight, {1 << n} AS bit FROM passage "
        f"WHERE {dialect.matches.format(f'q{n}')}{kinds}"
        for n in range(number)
    )
    return text(
        f"WITH best AS (SELECT {dialect.key}, sum(weight) AS score, sum(bit) AS bits FROM ({hits}) AS hits "
        f"GROUP BY {dialect.key} ORDER BY score DESC LIMIT :most) "
        f"SELECT branch, seq, number, bits FROM best {dialect.place} "
        "WHERE passage.session_pk = :pk ORDER BY score DESC, seq DESC, number"
    )


_MARK_INDEXED: Final = (
    update(ENTRY)
    .where(
        ENTRY.c.session_pk == bindparam("pk"),
        ENTRY.c.branch == bindparam("at_branch"),
        ENTRY.c.seq == bindparam("at_seq"),
        ENTRY.c.passages.is_(None),
    )
    .values(
        passages=bindparam("number_of"),
        ledger=func.coalesce(ENTRY.c.ledger, bindparam("items", type_=ENTRY.c.ledger.type)),
    )
)
BODY_BYTES: Final = func.length(ENTRY.c.body)
_PLACE_AND_SIZE: Final = (ENTRY.c.branch, ENTRY.c.seq, BODY_BYTES.label("size"))
_UNINDEXED_IN: Final = (
    select(*_PLACE_AND_SIZE)
    .where(
        ENTRY.c.session_pk == bindparam("pk"),
        ENTRY.c.passages.is_(None),
        bindparam("largest") >= BODY_BYTES,
    )
    .limit(bindparam("most"))
)
_UNINDEXED: Final = (
    select(SESSION.c.tenant, SESSION.c.id, *_PLACE_AND_SIZE)
    .join_from(ENTRY, SESSION, ENTRY.c.session_pk == SESSION.c.pk)
    .where(ENTRY.c.passages.is_(None), SESSION.c.deleted_at.is_(None))
    .limit(bindparam("most"))
)


def _dialect(tx: Transaction) -> _Dialect:
    return _SQLITE if tx.is_only_writer else _POSTGRESQL


def _scope(session_pk: int) -> str:
    """What each term of a session's rows begins with; it stands alone in each row, too."""
    return f"{session_pk}_"


def _rows(session: Session, entry: Indexed, scope: str, hide: Callable[[str, str], str]) -> list[dict[str, Any]]:
    return [
        {
            "session_pk": session.pk,
            **entry.place._asdict(),
            "number": number,
            "kinds": entry.text.kinds,
            "terms": " ".join((scope, *sorted(hide(scope, term) for term in terms.split(" ")))),
        }
        for number, terms in enumerate(entry.text.passages)
        if terms
    ]


def _queries(tx: Transaction, session: Session, terms: Iterable[str]) -> dict[str, str]:
    scope, quote, hide = _scope(session.pk), _dialect(tx).quote, hiding(tx)
    return {f"q{number}": f"{quote}{hide(scope, term)}{quote}" for number, term in enumerate(terms)}


def counts(tx: Transaction, session: Session, terms: Sequence[str]) -> dict[str, int]:
    """How many passages of a session have each of these terms, whatever branch they are on."""
    if not terms:
        return {}
    dialect = _dialect(tx)
    row = tx.execute(_count(dialect, len(terms)), _queries(tx, session, terms)).one()
    return dict(zip(terms, row, strict=True))


def best(
    tx: Transaction,
    session: Session,
    weights: Mapping[str, float],
    found: Mapping[str, int],
    most: int,
    *,
    kinds: int = 0,
) -> list[Hit]:
    """Up to `most` passages of a session that have the weightiest terms, best first, of equal ones the newest.

    `found` are the counts of the terms. `kinds` are bits: only entries with an item of one of these kinds are searched;
    0 searches all.
    """
    terms = _choosing(found)
    if not terms:
        return []
    dialect = _dialect(tx)
    parameters: dict[str, Any] = {"pk": session.pk, "most": most, **_queries(tx, session, terms)}
    parameters |= {f"w{number}": weights[term] for number, term in enumerate(terms)}
    if kinds:
        parameters["kinds"] = kinds
    rows = tx.execute(_best(dialect, len(terms), of_kinds=bool(kinds)), parameters)
    return [Hit(branch, PassageAt(seq, number), _with_bits(terms, bits)) for branch, seq, number, bits in rows]


def _choosing(found: Mapping[str, int]) -> list[str]:
    """The terms that choose: those that a passage has, without the common ones if there are rarer ones."""
    rarest = sorted((term for term, count in found.items() if count), key=lambda term: found[term])
    return [term for number, term in enumerate(rarest) if found[term] <= MOST_HITS or number < FEWEST_TERMS]


def _with_bits(terms: Sequence[str], bits: int) -> frozenset[str]:
    return frozenset(term for number, term in enumerate(terms) if int(bits) & 1 << number)


def unindexed_in(tx: Transaction, session: Session, most: int, largest: int = maxsize) -> list[Unindexed]:
    """Up to `most` entries of a session whose rows are not written yet; none of more than `largest` bytes."""
    parameters = {"pk": session.pk, "most": most, "largest": largest}
    return [_unindexed(row) for row in tx.execute(_UNINDEXED_IN, parameters)]


def unindexed(tx: Transaction, most: int) -> list[tuple[str, str, Unindexed]]:
    """The same of all sessions, with tenant and session, those of a session together."""
    return sorted((row.tenant, row.id, _unindexed(row)) for row in tx.execute(_UNINDEXED, {"most": most}))


def _unindexed(row: Any) -> Unindexed:
    return Unindexed(Place(row.branch, row.seq), row.size)


def add_missing(tx: Transaction, session: Session, entries: Iterable[Indexed]) -> int:
    """Write the rows of entries and the items of their ledger, unless somebody has meanwhile; of how many nobody had.

    The caller sees to it that the session stays (`paths.lives`).
    """
    scope, hide = _scope(session.pk), hiding(tx)
    added = [entry for entry in entries if _mark(tx, session, entry)]
    if rows := [row for entry in added for row in _rows(session, entry, scope, hide)]:
        tx.execute(_insert(_dialect(tx)), rows)
    return len(added)


def _mark(tx: Transaction, session: Session, entry: Indexed) -> bool:
    """Mark an entry as indexed; False if it was already."""
    at = {"pk": session.pk, "at_branch": entry.place.branch, "at_seq": entry.place.seq}
    values = {"number_of": len(entry.text.passages), "items": entry.items}
    return bool(tx.execute(_MARK_INDEXED, {**at, **values}).rowcount)


def give_up(tx: Transaction, tenant: str, session_id: str, places: Iterable[Place]) -> None:
    """Have entries of a session that cannot be read count as indexed, with nothing to find."""
    of_session = select(SESSION.c.pk).where(
        SESSION.c.tenant == tenant, SESSION.c.id == session_id, SESSION.c.deleted_at.is_(None)
    )
    here = tuple_(ENTRY.c.branch, ENTRY.c.seq).in_([tuple(place) for place in places])
    not_yet = ENTRY.c.passages.is_(None)
    tx.execute(update(ENTRY).where(ENTRY.c.session_pk.in_(of_session), here, not_yet).values(passages=0))


def remove(tx: Transaction, session_pks: Sequence[int], most: int) -> int:
    """Remove up to `most` rows of these sessions; how many were removed."""
    dialect = _dialect(tx)
    scopes = " OR ".join(f"{dialect.quote}{_scope(pk)}{dialect.quote}" for pk in session_pks)
    which = {"query": scopes} if dialect is _SQLITE else {"pks": [*session_pks]}
    gone: int = tx.execute(text(dialect.gone), {**which, "most": most}).rowcount
    return gone


def forget_removed(tx: Transaction, *, is_begin: bool) -> bool:
    """Rewrite some of the index without what was removed from it; whether there is more. `is_begin`: all of it anew.

    SQLite marks terms as removed, and they stay in its pages until those are merged with others. On PostgreSQL, vacuum
    does as much.
    """
    if not tx.is_only_writer:
        return False
    if is_begin:
        tx.execute(_MERGE_ANY)
    before = tx.execute(_CHANGES).scalar()
    tx.execute(_MERGE, {"pages": -MERGED_PAGES if is_begin else MERGED_PAGES})
    # From the manual of FTS5: with a difference below 2, nothing was left to merge.
    return bool(tx.execute(_CHANGES).scalar() - before >= MERGING_CHANGES)
