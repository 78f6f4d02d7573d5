"""The session log: adds entries to a path, and reads facts, edits and messages along it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from sqlalchemy import ColumnElement, Select, and_, bindparam, insert, or_, select

from foldline.engine import edits as edits_module
from foldline.engine import facts as facts_module
from foldline.engine.edits import LiveEdits
from foldline.engine.facts import Facts
from foldline.engine.formats import FORMATS
from foldline.engine.formats.contract import Parse
from foldline.engine.ledger.find import items_of
from foldline.engine.ledger.items import Item, ItemAt, items_from_json
from foldline.engine.messages import JsonObject, Message, Role, answering
from foldline.engine.outline import Outline, outline_of
from foldline.engine.planning.batches import Placed
from foldline.engine.session_files import pi_messages
from foldline.engine.view import branch_message
from foldline.engine.wire import dumps, loads
from foldline.log.storage import segments
from foldline.log.storage.known_entries import ENTRY_BYTES, KnownEntry
from foldline.log.storage.paths import state_columns
from foldline.log.storage.rows import Path, Session
from foldline.log.storage.segments import Segment, entry_id, uncovered
from foldline.log.storage.store import Transaction
from foldline.log.storage.tables import ENTRY, one_of

_FACTS_COLUMNS: Final = (ENTRY.c.role, ENTRY.c.tokens, ENTRY.c.seq, ENTRY.c.unit, ENTRY.c.is_late, ENTRY.c.facts)
_TEXT_COLUMNS: Final = (ENTRY.c.kind, ENTRY.c.format, ENTRY.c.body, ENTRY.c.is_joined)
_MESSAGE_COLUMNS: Final = (ENTRY.c.seq, ENTRY.c.is_late, ENTRY.c.facts, *_TEXT_COLUMNS)
# A parsed message takes up to so many times the bytes of its body: a text of one wide character takes four bytes each.
PARSED_SIZE: Final = 2
# A path through very many branches has many segments, and SQLite refuses an expression with more than a thousand.
RUNS_AT_ONCE: Final = 500
UNLIMITED: Final = 2**31 - 1
# The parser of each format in which a message may be stored: those of the API, and that of imported files.
STORED: Final[Mapping[str, Parse]] = MappingProxyType(
    {name: wire_format.parse for name, wire_format in FORMATS.items()} | {pi_messages.NAME: pi_messages.parse}
)
MESSAGE: Final = "message"
BRANCH_SUMMARY: Final = "branch_summary"
OTHER: Final = "other"
# The key in a compaction's body for the facts of its summary, as version 0.1 wrote it.
SUMMARY_FACTS_KEY: Final = "told"
# The kinds of entries that a view shows, and those that edit what it shows.
SHOWN: Final = (MESSAGE, BRANCH_SUMMARY)
EDITING: Final = ("compaction", "undo", "redo")
INSERT_ENTRY: Final = insert(ENTRY)
_LIVE: Final = select(ENTRY.c.live).where(
    ENTRY.c.session_pk == bindparam("pk"), ENTRY.c.branch == bindparam("branch"), ENTRY.c.seq == bindparam("seq")
)
_IN_BRANCH: Final = and_(ENTRY.c.session_pk == bindparam("pk"), ENTRY.c.branch == bindparam("branch"))
_VERSION: Final = select(ENTRY.c.version).where(_IN_BRANCH, ENTRY.c.seq == bindparam("seq")).scalar_subquery()
# An append and the compactions that it led to have one version.
_KEPT_AFTER: Final = (
    select(ENTRY.c.kept)
    .where(_IN_BRANCH, ENTRY.c.seq.between(bindparam("seq"), bindparam("last")), ENTRY.c.version == _VERSION)
    .order_by(ENTRY.c.seq.desc())
    .limit(1)
)


def message_columns(
    tx: Transaction, path: Path, facts: Facts, message: Message, body: bytes, *, ledger: bytes | None = None
) -> dict[str, Any]:
    """The columns of a message's row; the path is advanced to it already."""
    columns = shown_columns(tx, path, MESSAGE, facts, body)
    return {**columns, "is_joined": message.joined, "format": message.format or "native", "ledger": ledger}


def shown_columns(tx: Transaction, path: Path, kind: str, facts: Facts, body: bytes) -> dict[str, Any]:
    """The columns of the row of a message or branch summary; the path is advanced to it already."""
    extra = facts_module.to_json(facts)
    return {
        **_entry_columns(tx, path, kind, body),
        "role": facts.role,
        "tokens": facts.tokens,
        "unit": facts.unit,
        "is_late": facts.is_late,
        "is_joined": False,
        "format": "",
        "facts": dumps(extra) if extra else None,
        "ledger": None,
        "passages": None,
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


def advance(path: Path, placed: Placed) -> None:
    """Move the path's leaf to a new message or branch summary, and add its tokens to the totals.

    `path.estimated` is left to the caller.
    """
    path.leaf_seq += 1
    path.kept += placed.added_tokens
    path.raw += placed.added_tokens
    if placed.facts.images and path.images is not None:
        path.images = path.session.image_limits.adding(path.images, placed.facts.images)
    path.tail = placed.tail


def add_branch_summary(tx: Transaction, path: Path, placed: Placed, body: JsonObject) -> str:
    """Add a branch summary at the leaf; the new entry's id."""
    advance(path, placed)
    if path.estimated is not None:
        path.estimated += path.aims().gauge.measure.added(placed.facts, placed.stubs)
    columns = shown_columns(tx, path, BRANCH_SUMMARY, placed.facts, dumps(body))
    insert_entries(tx, [columns])
    return entry_id(path.branch, path.leaf_seq)


def insert_entries(tx: Transaction, rows: list[dict[str, Any]]) -> None:
    """Insert the rows of new entries."""
    tx.change(INSERT_ENTRY, *rows)


def add_edits(tx: Transaction, path: Path, kind: str, body: JsonObject, live: LiveEdits) -> str:
    """Add a compaction, undo or redo with the edits in force after it; the new entry's id.

    The caller has set the path's totals to those after it.
    """
    path.leaf_seq += 1
    path.edits_at = (path.branch, path.leaf_seq)
    columns = {
        **_entry_columns(tx, path, kind, dumps(body)),
        **_WITHOUT_FACTS,
        "live": dumps(edits_module.to_json(live)),
    }
    insert_entries(tx, [columns])
    return entry_id(path.branch, path.leaf_seq)


def other_columns(tx: Transaction, path: Path, format_name: str, body: bytes) -> dict[str, Any]:
    """The columns of the row of an entry that no view shows; the path is advanced to it already."""
    return {**_entry_columns(tx, path, OTHER, body), **_WITHOUT_FACTS, "format": format_name}


_WITHOUT_FACTS: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "role": "",
        "tokens": 0,
        "unit": 0,
        "is_late": False,
        "is_joined": False,
        "format": "",
        "facts": None,
        "ledger": None,
        # There is nothing in it for a recall.
        "passages": 0,
        "live": None,
    }
)


def _in_segments(session: Session, parts: Sequence[Segment]) -> ColumnElement[bool]:
    runs = (and_(ENTRY.c.branch == part.branch, ENTRY.c.seq.between(part.first, part.last)) for part in parts)
    return and_(ENTRY.c.session_pk == session.pk, or_(*runs))


def rows_in(
    tx: Transaction,
    session: Session,
    parts: Sequence[Segment],
    columns: Sequence[Any],
    *,
    kinds: tuple[str, ...] | None = SHOWN,
    limit: int | None = None,
) -> list[Any]:
    """The rows of the entries in these segments, oldest first; `kinds=None` reads every kind."""
    if len(parts) == 1:
        (part,) = parts
        run = {"pk": session.pk, "branch": part.branch, "first": part.first, "last": part.last}
        found = tx.execute(_one_run(tuple(columns), kinds), {**run, "most": UNLIMITED if limit is None else limit})
        return list(found.all())
    batches = (parts[start : start + RUNS_AT_ONCE] for start in range(0, len(parts), RUNS_AT_ONCE))
    if limit is None and all(part.first == part.last for part in parts):
        return [row for batch in batches for row in _rows_at(tx, session, batch, columns, kinds)]
    rows: list[Any] = []
    for batch in batches:
        chosen = and_(_in_segments(session, batch), *_of_kinds(kinds))
        left = None if limit is None else limit - len(rows)
        if left == 0:
            break
        rows += tx.execute(select(*columns).where(chosen).order_by(ENTRY.c.seq).limit(left)).all()
    return rows


# As `rows_in`, of the kinds that a view shows.
ReadRows: TypeAlias = Callable[[Transaction, Session, Sequence[Segment], Sequence[Any]], list[Any]]


def _rows_at(
    tx: Transaction, session: Session, parts: Sequence[Segment], columns: Sequence[Any], kinds: tuple[str, ...] | None
) -> list[Any]:
    """The rows of single entries: one statement for each branch, which is not built anew for other entries."""
    seqs: dict[int, list[int]] = {}
    for part in parts:
        seqs.setdefault(part.branch, []).append(part.first)
    statement = _some_entries(tuple(columns), kinds)
    at = ({"pk": session.pk, "branch": branch, "seqs": found} for branch, found in seqs.items())
    return [row for parameters in at for row in tx.execute(statement, parameters).all()]


@lru_cache(maxsize=32)
def _some_entries(columns: tuple[Any, ...], kinds: tuple[str, ...] | None) -> Select[Any]:
    places = and_(
        ENTRY.c.session_pk == bindparam("pk"),
        ENTRY.c.branch == bindparam("branch"),
        ENTRY.c.seq.in_(bindparam("seqs", expanding=True)),
    )
    return select(*columns).where(places, *_of_kinds(kinds)).order_by(ENTRY.c.seq)


@lru_cache(maxsize=32)
def _one_run(columns: tuple[Any, ...], kinds: tuple[str, ...] | None) -> Select[Any]:
    """The statement for one segment, as almost every path has. Cached: building one costs as much as running it."""
    run = and_(
        ENTRY.c.session_pk == bindparam("pk"),
        ENTRY.c.branch == bindparam("branch"),
        ENTRY.c.seq.between(bindparam("first"), bindparam("last")),
    )
    return select(*columns).where(run, *_of_kinds(kinds)).order_by(ENTRY.c.seq).limit(bindparam("most"))


def _of_kinds(kinds: tuple[str, ...] | None) -> list[ColumnElement[bool]]:
    if kinds is None:
        return []
    # The partial index needs exactly this condition.
    are_others = [] if MESSAGE in kinds else [ENTRY.c.kind != MESSAGE]
    return [*are_others, one_of(ENTRY.c.kind, kinds)]


def live_edits(tx: Transaction, path: Path) -> LiveEdits:
    """The edits in force at the leaf."""
    return live_edits_at(tx, path.session, path.edits_at)


def live_edits_at(tx: Transaction, session: Session, at: tuple[int, int] | None) -> LiveEdits:
    """The edits in force after the compaction, undo or redo at `at` (branch and seq); no edits if it is None."""
    if at is None:
        return LiveEdits()
    live = tx.execute(_LIVE, {"pk": session.pk, "branch": at[0], "seq": at[1]}).scalar_one()
    return edits_module.from_json(loads(live))


def history_after(tx: Transaction, path: Path, seq: int) -> int:
    """The unscaled tokens of the history after the append of the path's entry at `seq`; 0 before the first entry.

    What that append compacted is gone from it; later edits are not.
    """
    if seq < 1:
        return 0
    part = segments.segment_at(segments.segments(tx, path), seq)
    place = {"pk": path.session.pk, "branch": part.branch, "seq": seq, "last": part.last}
    kept: int = tx.execute(_KEPT_AFTER, place).scalar_one()
    return kept


def outline(tx: Transaction, path: Path, live: LiveEdits | None = None, *, since: int = 0) -> Outline:
    """The outline at the leaf, under `live` or else the edits in force; only of the entries from seq `since` on."""
    live = live_edits(tx, path) if live is None else live
    runs = segments.segments(tx, path)
    runs = segments.clipped(runs, [(since, path.leaf_seq)]) if since else runs
    return outline_of(_facts_in(tx, path, uncovered(runs, live.condensed)), live)


def outline_in_view(tx: Transaction, path: Path) -> Outline:
    """The outline at the leaf without the facts of what is hidden: it costs what is in view, however much is hidden."""
    live = live_edits(tx, path)
    out_of_view = sorted((*live.condensed, *live.interims), key=attrgetter("first"))
    parts = uncovered(segments.segments(tx, path), out_of_view)
    return outline_of(_facts_in(tx, path, parts), live, unread=live.interims)


def added_after(tx: Transaction, path: Path, seq: int) -> tuple[Outline, dict[int, Message]]:
    """The outline of the entries after `seq`, which no edit may touch, and their messages by seq: read at once."""
    parts = segments.clipped(segments.segments(tx, path), [(seq + 1, path.leaf_seq)])
    # What is known among them is read again: a statement less for what is not, as almost all is.
    rows = rows_in(tx, path.session, parts, (*_FACTS_COLUMNS, *_TEXT_COLUMNS))

    def read(*_: Any) -> list[Any]:
        return rows

    facts = _facts_in(tx, path, parts, read)
    return outline_of(facts, LiveEdits()), known_messages_in(tx, path.session, parts, read)


def facts_after(tx: Transaction, path: Path, seq: int) -> list[Facts]:
    """The facts of the entries after `seq`."""
    return _facts_in(tx, path, segments.clipped(segments.segments(tx, path), [(seq + 1, path.leaf_seq)]))


def whole_outline(tx: Transaction, path: Path, outline_: Outline | None) -> Outline:
    """This outline at the leaf if it is a whole one, else that."""
    return outline_ if outline_ and outline_.is_whole else outline(tx, path)


def _facts_in(tx: Transaction, path: Path, parts: Iterable[Segment], read_rows: ReadRows = rows_in) -> list[Facts]:
    if tx.known is None:
        return [_facts(row) for row in read_rows(tx, path.session, list(parts), _FACTS_COLUMNS)]

    def read(lacking: list[Segment]) -> Iterator[KnownEntry[Facts]]:
        return (KnownEntry(row.seq, _facts(row)) for row in read_rows(tx, path.session, lacking, _FACTS_COLUMNS))

    return [facts for _, facts in tx.known.of("facts", path.session, parts, read)]


def _facts(row: Sequence[Any]) -> Facts:
    role, tokens, seq, unit, is_late, extra = row[: len(_FACTS_COLUMNS)]
    facts = Facts(role, tokens, seq, unit, is_late)
    return facts_module.from_json(facts, loads(extra)) if extra else facts


def messages_in(
    tx: Transaction, session: Session, parts: Sequence[Segment], read_rows: ReadRows = rows_in
) -> dict[int, Message]:
    """The original messages in these segments, by seq; branch summaries are messages of the user."""
    rows = read_rows(tx, session, parts, _MESSAGE_COLUMNS)
    return {row.seq: _message_shown(row) for row in rows}


def messages_and_items(
    tx: Transaction, session: Session, parts: Sequence[Segment], *, branch_role: Role = "user"
) -> tuple[dict[int, Message], list[ItemAt]]:
    """What `messages_in` and `items_in` give, read at once; branch summaries are messages of `branch_role`."""
    rows = rows_in(tx, session, parts, (*_MESSAGE_COLUMNS, ENTRY.c.ledger))
    messages = {row.seq: _message_shown(row, branch_role) for row in rows}
    items = ((row.seq, _message_shown(row) if row.ledger is None else row.ledger) for row in rows)
    return messages, [(seq, item) for seq, source in items for item in _items_from(source)]


def known_messages_in(
    tx: Transaction, session: Session, parts: Sequence[Segment], read_rows: ReadRows = rows_in
) -> dict[int, Message]:
    """The original messages in these segments, by seq, of which those that are known are not read."""
    if tx.known is None:
        return messages_in(tx, session, parts, read_rows)

    def read(lacking: list[Segment]) -> Iterator[KnownEntry[Message]]:
        rows = read_rows(tx, session, lacking, _MESSAGE_COLUMNS)
        return (KnownEntry(row.seq, _message_shown(row), ENTRY_BYTES + PARSED_SIZE * len(row.body)) for row in rows)

    return dict(tx.known.of("message", session, parts, read))


def items_in(tx: Transaction, session: Session, parts: Sequence[Segment]) -> list[ItemAt]:
    """The items of the ledger in these segments, each with its seq; those of entries without any are found now."""
    rows = rows_in(tx, session, parts, (ENTRY.c.seq, ENTRY.c.ledger))
    unknown = [(row.seq, row.seq) for row in rows if row.ledger is None]
    messages = messages_in(tx, session, segments.clipped(list(parts), unknown)) if unknown else {}
    items = ((row.seq, messages[row.seq] if row.ledger is None else row.ledger) for row in rows)
    return [(seq, item) for seq, source in items for item in _items_from(source)]


def _items_from(source: Message | bytes) -> Sequence[Item]:
    """The items of a message, or stored ones."""
    return items_of(source) if isinstance(source, Message) else items_from_json(loads(source))


def _message_shown(row: Any, branch_role: Role = "user") -> Message:
    if row.kind == BRANCH_SUMMARY:
        return replace(branch_message(loads(row.body)["summary"]), role=branch_role)
    return message_in(row)


def message_in(row: Any) -> Message:
    """The message of a row that has its format, body and facts; a result answers the call that it was placed with."""
    message = message_of(row.format, row.body)
    if message.result is not None and message.result.call_id is None:
        message = answering(message, loads(row.facts)["answers"])
    return replace(message, joined=True) if row.is_joined else message


def message_of(format_name: str, body: bytes) -> Message:
    """A stored message, parsed by its format; a result may lack the id of its call."""
    (message,) = STORED[format_name]([loads(body)])
    return message


def bodies_at(tx: Transaction, path: Path, seqs: Sequence[int]) -> list[JsonObject]:
    """The bodies of the entries of a path at these seqs."""
    parts = segments.clipped(segments.segments(tx, path), [(seq, seq) for seq in seqs])
    return [loads(row.body) for row in rows_in(tx, path.session, parts, (ENTRY.c.body,), kinds=None)]
