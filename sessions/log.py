"""The log itself: adding entries to a path, and reading facts, edits and messages along it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, and_, bindparam, insert, or_, select

from compaction import edits as edits_module
from compaction import facts as facts_module
from compaction.edits import LiveEdits
from compaction.facts import Facts
from compaction.formats import FORMATS
from compaction.messages import JsonObject, Message
from compaction.outline import Outline, outline_of
from compaction.wire import dumps, loads
from sessions.paths import Path, Session, state_columns
from sessions.segments import Segment, entry_id, segments, uncovered
from sessions.store import Transaction
from sessions.tables import ENTRY

_FACTS_COLUMNS: Final = (ENTRY.c.role, ENTRY.c.tokens, ENTRY.c.seq, ENTRY.c.unit, ENTRY.c.is_late, ENTRY.c.facts)
# A session that was rewound very often has many runs, and SQLite refuses an expression of more than a thousand.
RUNS_AT_ONCE: Final = 500
UNLIMITED: Final = 2**31 - 1
INSERT_ENTRY: Final = insert(ENTRY)
_LIVE: Final = select(ENTRY.c.live).where(
    ENTRY.c.session_pk == bindparam("pk"), ENTRY.c.branch == bindparam("branch"), ENTRY.c.seq == bindparam("seq")
)


def message_columns(tx: Transaction, path: Path, facts: Facts, message: Message, body: bytes) -> dict[str, Any]:
    """The row of a message that is the path's new leaf."""
    extra = facts_module.to_json(facts)
    return {
        **_entry_columns(tx, path, "message", body),
        "role": facts.role,
        "tokens": facts.tokens,
        "unit": facts.unit,
        "is_late": facts.is_late,
        "is_joined": message.joined,
        "format": message.format or "native",
        "facts": dumps(extra) if extra else None,
        "live": None,
    }


def _entry_columns(tx: Transaction, path: Path, kind: str, body: bytes) -> dict[str, Any]:
    return {
        "session_pk": path.session.pk,
        "branch": path.branch,
        "seq": path.leaf_seq,
        "tenant": path.session.tenant,
        "kind": kind,
        "version": path.session.version + 1,
        "created_at": tx.now,
        "body": body,
        **state_columns(path),
    }


def insert_entries(tx: Transaction, rows: list[dict[str, Any]]) -> None:
    """Write new entries."""
    tx.execute(INSERT_ENTRY, rows)


def add_edits(tx: Transaction, path: Path, kind: str, body: JsonObject, live: LiveEdits) -> str:
    """Add a compaction, undo or redo after which these edits are in force; its id.

    The path has the totals after it already.
    """
    path.leaf_seq += 1
    path.edits_at = (path.branch, path.leaf_seq)
    columns = _entry_columns(tx, path, kind, dumps(body))
    unused = {"role": "", "tokens": 0, "unit": 0, "is_late": False, "is_joined": False, "format": "", "facts": None}
    insert_entries(tx, [{**columns, **unused, "live": dumps(edits_module.to_json(live))}])
    return entry_id(path.branch, path.leaf_seq)


def _in_segments(session: Session, parts: Sequence[Segment]) -> ColumnElement[bool]:
    runs = (and_(ENTRY.c.branch == part.branch, ENTRY.c.seq.between(part.first, part.last)) for part in parts)
    return and_(ENTRY.c.session_pk == session.pk, or_(*runs))


def rows_in(
    tx: Transaction,
    session: Session,
    parts: Sequence[Segment],
    columns: Sequence[Any],
    *,
    kind: str | None = "message",
    limit: int | None = None,
) -> list[Any]:
    """Rows of the entries in these runs, oldest first; `kind=None` reads every kind, `"edits"` all but messages."""
    if len(parts) == 1:
        (part,) = parts
        run = {"pk": session.pk, "branch": part.branch, "first": part.first, "last": part.last}
        found = tx.execute(_one_run(tuple(columns), kind), {**run, "most": UNLIMITED if limit is None else limit})
        return list(found)
    rows: list[Any] = []
    for start in range(0, len(parts), RUNS_AT_ONCE):
        chosen = and_(_in_segments(session, parts[start : start + RUNS_AT_ONCE]), *_of_kind(kind))
        left = None if limit is None else limit - len(rows)
        rows += tx.execute(select(*columns).where(chosen).order_by(ENTRY.c.seq).limit(left))
    return rows


@lru_cache(maxsize=32)
def _one_run(columns: tuple[Any, ...], kind: str | None) -> Select[Any]:
    """Almost every path is one run. The statement is kept: building one costs as much as running it."""
    run = and_(
        ENTRY.c.session_pk == bindparam("pk"),
        ENTRY.c.branch == bindparam("branch"),
        ENTRY.c.seq.between(bindparam("first"), bindparam("last")),
    )
    return select(*columns).where(run, *_of_kind(kind)).order_by(ENTRY.c.seq).limit(bindparam("most"))


def _of_kind(kind: str | None) -> list[ColumnElement[bool]]:
    if kind is None:
        return []
    return [ENTRY.c.kind != "message" if kind == "edits" else ENTRY.c.kind == kind]


def live_edits(tx: Transaction, path: Path) -> LiveEdits:
    """The edits in force at the leaf."""
    return live_edits_at(tx, path.session, path.edits_at)


def live_edits_at(tx: Transaction, session: Session, at: tuple[int, int] | None) -> LiveEdits:
    """The edits in force after the compaction, undo or redo at this place; none if there is none."""
    if at is None:
        return LiveEdits()
    live = tx.execute(_LIVE, {"pk": session.pk, "branch": at[0], "seq": at[1]}).scalar_one()
    return edits_module.from_json(loads(live))


def outline(tx: Transaction, path: Path, live: LiveEdits | None = None) -> Outline:
    """The outline at the leaf, under the edits in force or the given ones."""
    live = live_edits(tx, path) if live is None else live
    parts = list(uncovered(segments(tx, path), live))
    return outline_of([_facts(row) for row in rows_in(tx, path.session, parts, _FACTS_COLUMNS)], live)


def _facts(row: Sequence[Any]) -> Facts:
    role, tokens, seq, unit, is_late, extra = row
    facts = Facts(role, tokens, seq, unit, is_late)
    return facts_module.from_json(facts, loads(extra)) if extra else facts


def messages_in(tx: Transaction, session: Session, parts: Sequence[Segment]) -> dict[int, Message]:
    """The original messages in these runs, by seq."""
    columns = (ENTRY.c.seq, ENTRY.c.format, ENTRY.c.body, ENTRY.c.is_joined)
    rows = rows_in(tx, session, parts, columns)
    return {seq: message_of(format_name, body, is_joined=joined) for seq, format_name, body, joined in rows}


def message_of(format_name: str, body: bytes, *, is_joined: bool = False) -> Message:
    """A message as it was appended."""
    (message,) = FORMATS[format_name].parse([loads(body)])
    return replace(message, joined=True) if is_joined else message
