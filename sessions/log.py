"""The log itself: sessions and paths as they are in a transaction, and reading and adding entries along a path."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import ColumnElement, Row, and_, bindparam, insert, or_, select, update

from compaction import edits as edits_module
from compaction import facts as facts_module
from compaction.budget import Budget, Goals, budget_of, goals_of
from compaction.edits import LiveEdits
from compaction.facts import Facts, call_from_json
from compaction.formats import FORMATS
from compaction.messages import JsonObject, Message
from compaction.outline import Outline, outline_of
from compaction.pairs import Tail
from compaction.policy import Policy, policy_of
from compaction.presets import PRESETS
from compaction.tokens import scaled
from compaction.windows import window_of
from compaction.wire import dumps, loads
from sessions.errors import NotFound, StaleVersion
from sessions.store import Transaction
from sessions.tables import BRANCH, ENTRY, SESSION


@dataclass(slots=True)
class Session:
    """A session's row, for the length of a transaction."""

    pk: int
    tenant: str
    id: str
    model: str
    context_window: int | None
    max_output_tokens: int | None
    auto_compact: bool
    head: int
    branches: int
    version: int
    multiplier: int
    fixed_tokens: int
    tools_tokens: int
    pins_tokens: int
    created_at: int
    policy_json: bytes
    system_json: bytes | None
    tools_json: bytes

    @property
    def policy(self) -> Policy:
        """The policy in force."""
        return _policy(self.policy_json)

    @property
    def system(self) -> str | None:
        """The system prompt."""
        return None if self.system_json is None else loads(self.system_json)

    @property
    def tools(self) -> list[JsonObject]:
        """The tool definitions."""
        tools: list[JsonObject] = loads(self.tools_json)
        return tools

    @property
    def budget(self) -> Budget:
        """What the model leaves for input."""
        return budget_of(window_of(self.model, self.context_window), self.max_output_tokens)

    @property
    def overhead_tokens(self) -> int:
        """Unscaled tokens of system prompt, tools and pins."""
        return self.fixed_tokens + self.pins_tokens

    def used(self, history_tokens: int) -> int:
        """Scaled tokens of a view whose history takes these unscaled tokens."""
        return scaled(history_tokens + self.overhead_tokens, self.multiplier)

    def goals(self, policy: Policy | None = None) -> Goals:
        """What plans aim at."""
        return goals_of(policy or self.policy, self.budget.limit, self.overhead_tokens, self.multiplier)


@dataclass(slots=True)
class Path:
    """A branch and its leaf, for the length of a transaction; `edits_at` is the newest compaction, undo or redo."""

    session: Session
    branch: int
    parent: int | None
    left_seq: int
    leaf_seq: int
    last_message_seq: int
    messages: int
    kept: int
    raw: int
    owed_tokens: int
    edits_at: tuple[int, int] | None
    tail: Tail
    next_summary_at: int

    @property
    def used(self) -> int:
        """Scaled tokens of the view at the leaf."""
        return self.session.used(self.kept)


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of entries of one branch that belongs to a path."""

    branch: int
    first: int
    last: int


# Longer numbers than any column holds would be an error of the database instead of an unknown id.
LONGEST_NUMBER: Final = 9

_SESSION_COLUMNS: Final = (
    SESSION.c.pk,
    SESSION.c.tenant,
    SESSION.c.id,
    SESSION.c.model,
    SESSION.c.context_window,
    SESSION.c.max_output_tokens,
    SESSION.c.auto_compact,
    SESSION.c.head,
    SESSION.c.branches,
    SESSION.c.version,
    SESSION.c.multiplier,
    SESSION.c.fixed_tokens,
    SESSION.c.tools_tokens,
    SESSION.c.pins_tokens,
    SESSION.c.created_at,
    SESSION.c.policy,
    SESSION.c.system,
    SESSION.c.tools,
)
_BRANCH_COLUMNS: Final = (
    BRANCH.c.branch,
    BRANCH.c.parent,
    BRANCH.c.left_seq,
    BRANCH.c.leaf_seq,
    BRANCH.c.last_message_seq,
    BRANCH.c.messages,
    BRANCH.c.kept,
    BRANCH.c.raw,
    BRANCH.c.owed_tokens,
    BRANCH.c.edits_branch,
    BRANCH.c.edits_seq,
    BRANCH.c.tail_unit,
    BRANCH.c.open_calls,
    BRANCH.c.next_summary_at,
)
_FACTS_COLUMNS: Final = (ENTRY.c.role, ENTRY.c.tokens, ENTRY.c.seq, ENTRY.c.unit, ENTRY.c.is_late, ENTRY.c.facts)

# A session that was rewound very often has many runs, and SQLite refuses an expression of more than a thousand.
RUNS_AT_ONCE: Final = 500

# Statements are built once: building one costs as much as running it.
_BY_ID: Final = and_(
    SESSION.c.tenant == bindparam("tenant"), SESSION.c.id == bindparam("id"), SESSION.c.deleted_at.is_(None)
)
_HEAD: Final = select(*_SESSION_COLUMNS, *_BRANCH_COLUMNS).join_from(
    SESSION, BRANCH, and_(BRANCH.c.session_pk == SESSION.c.pk, BRANCH.c.branch == SESSION.c.head)
)
_HEAD_BY_ID: Final = _HEAD.where(_BY_ID)
_HEAD_BY_ID_LOCKED: Final = _HEAD_BY_ID.with_for_update()
_HEAD_BY_PK_LOCKED: Final = _HEAD.where(
    SESSION.c.pk == bindparam("pk"), SESSION.c.deleted_at.is_(None)
).with_for_update()
_BRANCH_BY_NUMBER: Final = select(*_BRANCH_COLUMNS).where(
    BRANCH.c.session_pk == bindparam("pk"), BRANCH.c.branch == bindparam("number")
)
_INSERT_ENTRY: Final = insert(ENTRY)
_UPDATE_BRANCH: Final = (
    update(BRANCH)
    .where(BRANCH.c.session_pk == bindparam("pk"), BRANCH.c.branch == bindparam("number"))
    .values(
        {
            name: bindparam(name)
            for name in (
                "leaf_seq",
                "last_message_seq",
                "messages",
                "kept",
                "raw",
                "owed_tokens",
                "edits_branch",
                "edits_seq",
                "tail_unit",
                "open_calls",
                "next_summary_at",
            )
        }
    )
)
_UPDATE_SESSION: Final = (
    update(SESSION)
    .where(SESSION.c.pk == bindparam("session_pk"))
    .values(
        {
            name: bindparam(name)
            for name in (
                "model",
                "context_window",
                "max_output_tokens",
                "auto_compact",
                "head",
                "branches",
                "version",
                "multiplier",
                "fixed_tokens",
                "tools_tokens",
                "pins_tokens",
                "policy",
                "system",
                "tools",
            )
        }
    )
)


def open_head(
    tx: Transaction, tenant: str, session_id: str, *, lock: bool = False, if_match: int | None = None
) -> Path:
    """The path in use of a session; `lock` makes this transaction its only writer.

    Raises:
        NotFound: this tenant has no such session.
        StaleVersion: `if_match` is given and is not its version.
    """
    statement = _HEAD_BY_ID_LOCKED if lock else _HEAD_BY_ID
    row = tx.execute(statement, {"tenant": tenant, "id": session_id}).first()
    if row is None:
        raise NotFound("session", session_id)
    path = _path(row)
    if if_match is not None and if_match != path.session.version:
        raise StaleVersion(if_match, path.session.version)
    return path


def open_branch(tx: Transaction, session_pk: int, branch: int) -> Path | None:
    """A branch's path, locked; None if the session was deleted."""
    row = tx.execute(_HEAD_BY_PK_LOCKED, {"pk": session_pk}).first()
    if row is None:
        return None
    head = _path(row)
    return head if head.branch == branch else branch_path(tx, head.session, branch)


def branch_path(tx: Transaction, session: Session, branch: int) -> Path:
    """The path of another branch of a session that is open already."""
    row = tx.execute(_BRANCH_BY_NUMBER, {"pk": session.pk, "number": branch}).one()
    return _path_of(session, row)


def _path(row: Row[Any]) -> Path:
    session = Session(*row[: len(_SESSION_COLUMNS)])
    return _path_of(session, row[len(_SESSION_COLUMNS) :])


def _path_of(session: Session, row: Sequence[Any]) -> Path:
    branch, parent, left_seq, leaf_seq, last_message_seq, messages, kept, raw, owed, edits_branch, edits_seq, *rest = (
        row
    )
    tail_unit, open_calls, next_summary_at = rest
    return Path(
        session,
        branch,
        parent,
        left_seq,
        leaf_seq,
        last_message_seq,
        messages,
        kept,
        raw,
        owed,
        None if edits_branch is None else (edits_branch, edits_seq),
        tail_of(tail_unit, open_calls),
        next_summary_at,
    )


@lru_cache(maxsize=256)
def _policy(policy_json: bytes) -> Policy:
    """The policy of a session's row: the same few come again and again."""
    return policy_of(loads(policy_json), PRESETS)


def tail_of(unit: int, open_calls: bytes | None) -> Tail:
    """A tail from its columns."""
    return Tail(unit, tuple(call_from_json(call) for call in loads(open_calls)) if open_calls else ())


def save(tx: Transaction, path: Path) -> None:
    """Write the path's leaf and its session; whatever changed it, the version moves on by one."""
    session = path.session
    session.version += 1
    tx.execute(_UPDATE_BRANCH, {"pk": session.pk, "number": path.branch, **_leaf_columns(path)})
    save_session(tx, session)


def save_session(tx: Transaction, session: Session) -> None:
    """Write the session's row as it stands."""
    tx.execute(
        _UPDATE_SESSION,
        {
            "session_pk": session.pk,
            "model": session.model,
            "context_window": session.context_window,
            "max_output_tokens": session.max_output_tokens,
            "auto_compact": session.auto_compact,
            "head": session.head,
            "branches": session.branches,
            "version": session.version,
            "multiplier": session.multiplier,
            "fixed_tokens": session.fixed_tokens,
            "tools_tokens": session.tools_tokens,
            "pins_tokens": session.pins_tokens,
            "policy": session.policy_json,
            "system": session.system_json,
            "tools": session.tools_json,
        },
    )


def _leaf_columns(path: Path) -> dict[str, Any]:
    return {
        "leaf_seq": path.leaf_seq,
        "next_summary_at": path.next_summary_at,
        **_state_columns(path),
    }


def _state_columns(path: Path) -> dict[str, Any]:
    """What an entry and its branch both keep of the path after it."""
    edits_branch, edits_seq = path.edits_at or (None, 0)
    calls = [[call.id, call.read] for call in path.tail.open_calls]
    return {
        "last_message_seq": path.last_message_seq,
        "messages": path.messages,
        "kept": path.kept,
        "raw": path.raw,
        "owed_tokens": path.owed_tokens,
        "edits_branch": edits_branch,
        "edits_seq": edits_seq,
        "tail_unit": path.tail.unit,
        "open_calls": dumps(calls) if calls else None,
    }


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
        **_state_columns(path),
    }


def insert_entries(tx: Transaction, rows: list[dict[str, Any]]) -> None:
    """Write new entries."""
    tx.execute(_INSERT_ENTRY, rows)


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


def entry_id(branch: int, seq: int) -> str:
    """The public id of an entry."""
    return f"e{branch}-{seq}"


def parse_entry_id(name: str) -> tuple[int, int]:
    """The branch and seq of an entry's id.

    Raises:
        NotFound: it has not the form of one.
    """
    branch, dash, seq = name[1:].partition("-")
    if not (name.startswith("e") and dash and _is_number(branch) and _is_number(seq)):
        raise NotFound("entry", name)
    return int(branch), int(seq)


def _is_number(text: str) -> bool:
    return text.isdecimal() and len(text) <= LONGEST_NUMBER


def segments(tx: Transaction, path: Path) -> list[Segment]:
    """The path as runs of entries, oldest first."""
    found = [Segment(path.branch, path.left_seq + 1, path.leaf_seq)]
    parent, left_seq = path.parent, path.left_seq
    while parent is not None:
        row = tx.execute(_BRANCH_BY_NUMBER, {"pk": path.session.pk, "number": parent}).one()
        found.append(Segment(parent, row.left_seq + 1, left_seq))
        parent, left_seq = row.parent, row.left_seq
    return [segment for segment in reversed(found) if segment.first <= segment.last]


def branch_at(parts: Iterable[Segment], seq: int) -> int:
    """The branch of the path's entry at `seq`."""
    return next(part.branch for part in parts if part.first <= seq <= part.last)


def uncovered(parts: Iterable[Segment], live: LiveEdits) -> Iterator[Segment]:
    """The runs of the path that are not under a live summary."""
    for part in parts:
        first = part.first
        for edit in live.condensed:
            if edit.last < first or edit.first > part.last:
                continue
            if edit.first > first:
                yield Segment(part.branch, first, edit.first - 1)
            first = edit.last + 1
        if first <= part.last:
            yield Segment(part.branch, first, part.last)


def clipped(parts: Iterable[Segment], spans: Iterable[tuple[int, int]]) -> list[Segment]:
    """What of these runs lies within one of the seq ranges, both oldest first."""
    pairs = [(part, span) for span in spans for part in parts if part.first <= span[1] and span[0] <= part.last]
    return [Segment(part.branch, max(part.first, first), min(part.last, last)) for part, (first, last) in pairs]


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
    rows: list[Any] = []
    for start in range(0, len(parts), RUNS_AT_ONCE):
        chosen = and_(_in_segments(session, parts[start : start + RUNS_AT_ONCE]), *_of_kind(kind))
        left = None if limit is None else limit - len(rows)
        rows += tx.execute(select(*columns).where(chosen).order_by(ENTRY.c.seq).limit(left))
    return rows


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
    statement = select(ENTRY.c.live).where(
        ENTRY.c.session_pk == session.pk, ENTRY.c.branch == at[0], ENTRY.c.seq == at[1]
    )
    return edits_module.from_json(loads(tx.execute(statement).scalar_one()))


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
