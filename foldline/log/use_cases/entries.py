"""Reads entries as they were appended, also those out of view, with tags that name the edit that covers them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import select

from foldline.engine.edits import LiveEdits, edits_from_json, within
from foldline.engine.messages import Message, result_text
from foldline.engine.wire import loads
from foldline.log.compaction import summaries
from foldline.log.errors import NotFound
from foldline.log.sealing.pages import LIST_BYTES, fitting
from foldline.log.storage import entry_log, paths, segments
from foldline.log.storage.passages import BODY_BYTES
from foldline.log.storage.rows import Session
from foldline.log.storage.segments import Segment
from foldline.log.storage.store import Transaction
from foldline.log.storage.tables import ENTRY

_COLUMNS = (ENTRY.c.branch, ENTRY.c.seq, ENTRY.c.kind, ENTRY.c.format, ENTRY.c.created_at, ENTRY.c.body)


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of any kind; a message's `body` has the format in which it was appended.

    `parent` is the id of the entry before it. `tags` are those of the API (`docs/use-the-service.md`). `summary` is the
    text that a compaction or branch summary shows in the view.
    """

    id: str
    seq: int
    kind: str
    format: str
    created_at: int
    body: Any
    tags: dict[str, Any]
    parent: str | None
    summary: str | None = None

    @property
    def summary_facts(self) -> Mapping[str, Any]:
        """The facts that the log keeps with `summary`: its `details` and `from_hook`."""
        facts: Mapping[str, Any] = (
            self.body if self.kind == entry_log.BRANCH_SUMMARY else self.body.get(entry_log.SUMMARY_FACTS_KEY, {})
        )
        return facts


class EntryPage(NamedTuple):
    """Some entries, and the seq after which others follow, if there are any."""

    items: list[Entry]
    next_position: int | None


def entries(tx: Transaction, tenant: str, session_id: str, after_seq: int, limit: int) -> EntryPage:
    """Up to `limit` entries of the head's path after `after_seq`, oldest first: fewer where they are large."""
    path = paths.open_head(tx, tenant, session_id)
    live = entry_log.live_edits(tx, path)
    whole = segments.segments(tx, path)
    parts = segments.clipped(whole, [(after_seq + 1, path.leaf_seq)])
    # The database is asked how large they are before this process reads them.
    sized = entry_log.rows_in(tx, path.session, parts, (ENTRY.c.seq, BODY_BYTES), kinds=None, limit=limit + 1)
    number = min(limit, fitting((size for _, size in sized), LIST_BYTES))
    rows = entry_log.rows_in(tx, path.session, parts, _COLUMNS, kinds=None, limit=number)
    return EntryPage(_entries(tx, rows, live, whole), sized[number - 1].seq if number < len(sized) else None)


def entry(tx: Transaction, tenant: str, session_id: str, entry_id: str) -> Entry:
    """One entry of any branch; its tags are those on the head's path, none if it is not on that path.

    Raises:
        NotFound: no such session or entry.
    """
    path = paths.open_head(tx, tenant, session_id)
    row = _row(tx, path.session, entry_id)
    parts = segments.segments(tx, path)
    if segments.holds(parts, row.branch, row.seq):
        return _entries(tx, [row], entry_log.live_edits(tx, path), parts)[0]
    # Another branch may have entries with the same seqs, and this path's edits are not about those.
    own = segments.segments(tx, paths.branch_path(tx, path.session, row.branch))
    return _entries(tx, [row], LiveEdits(), own)[0]


def text_at(tx: Transaction, session: Session, entry_id: str) -> str:
    """The text of an entry: of a message, of a tool result's content, or of a summary.

    Raises:
        NotFound: no such entry, or it has no text.
    """
    row = _row(tx, session, entry_id)
    if row.kind == entry_log.MESSAGE:
        text = _text(entry_log.message_of(row.format, row.body))
    else:
        text = _summaries(tx, [row.kind], [loads(row.body)])[0] or ""
    if not text:
        raise NotFound("entry with a text", entry_id)
    return text


def _text(message: Message) -> str:
    return result_text(message.result) if message.result else message.text


def _row(tx: Transaction, session: Session, entry_id: str) -> Any:
    branch, seq = segments.parse_entry_id(entry_id)
    statement = select(*_COLUMNS).where(ENTRY.c.session_pk == session.pk, ENTRY.c.branch == branch, ENTRY.c.seq == seq)
    row = tx.execute(statement).first()
    if row is None:
        raise NotFound("entry", entry_id)
    return row


def _entries(tx: Transaction, rows: Sequence[Any], live: LiveEdits, parts: Sequence[Segment]) -> list[Entry]:
    """The entries of these rows, on the path with these segments."""
    bodies = [loads(row.body) for row in rows]
    texts = _summaries(tx, [row.kind for row in rows], bodies)
    found = zip(rows, bodies, texts, strict=True)
    return [_entry(row, body, live, segments.id_before(parts, row.seq), text) for row, body, text in found]


def _entry(row: Any, body: Any, live: LiveEdits, parent: str | None, summary: str | None) -> Entry:
    branch, seq, kind, format_name, created_at, _ = row
    tags = (
        _message_tags(seq, live) if kind in entry_log.SHOWN else _edit_tags(body) if kind in entry_log.EDITING else {}
    )
    return Entry(segments.entry_id(branch, seq), seq, kind, format_name, created_at, body, tags, parent, summary)


def _summaries(tx: Transaction, kinds: Sequence[str], bodies: Sequence[Any]) -> list[str | None]:
    """The text of the summary that each entry shows in the view, or None."""
    condensed = list(map(_condensed_by, kinds, bodies))
    texts = summaries.shown_summaries(tx, list(filter(None, condensed)))
    left = [
        body["summary"] if kind == entry_log.BRANCH_SUMMARY else None for kind, body in zip(kinds, bodies, strict=True)
    ]
    return [texts[name].text if name else text for name, text in zip(condensed, left, strict=True)]


def _condensed_by(kind: str, body: Any) -> str | None:
    edits = edits_from_json(body["edits"]) if kind == "compaction" else ()
    return next((edit.summary for edit in edits if edit.kind == "condense"), None)


def _message_tags(seq: int, live: LiveEdits) -> dict[str, Any]:
    condensed = next((edit.summary for edit in live.condensed if edit.first <= seq <= edit.last), None)
    if condensed is not None:
        return {"condense_parent": condensed}
    hidden = next((span for span in live.hidden if within(seq, seq, [span])), None)
    return {} if hidden is None else {"truncation_parent": _truncation_id(*hidden)}


def _edit_tags(body: dict[str, Any]) -> dict[str, Any]:
    tags: dict[str, Any] = {}
    for kind, first, last, _, summary, *_ in body.get("edits", ()):
        if kind == "condense":
            tags |= {"is_summary": True, "condense_id": summary}
        elif kind == "hide":
            tags |= {"is_truncation_marker": True, "truncation_id": _truncation_id(first, last)}
    return tags


def _truncation_id(first: int, last: int) -> str:
    return f"t{first}-{last}"
