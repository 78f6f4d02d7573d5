"""Exports a session as a session file of pi. Entries that came from such a file are written as they were.

pi has no entries for inline compactions, undos, redos, compactions that were undone, and summaries that do not begin at
the start of the path. They are written as custom entries, which pi keeps and does not show a model. So a model sees in
the file what it sees here, or more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import count
from typing import Any, Final, NamedTuple

from sqlalchemy import select

from foldline.engine.edits import edits_from_json
from foldline.engine.session_files.pi import write
from foldline.engine.session_files.pi_messages import CUSTOM_TYPE, NAME, UNKNOWN_TOOL, wire_entry
from foldline.engine.wire import loads
from foldline.log.compaction import summaries
from foldline.log.storage import entry_log, paths, segments
from foldline.log.storage.rows import Path
from foldline.log.storage.store import Transaction
from foldline.log.storage.tables import BRANCH, ENTRY, SESSION
from foldline.log.use_cases import history
from foldline.log.use_cases.history import Record

VERSION: Final = 3
HEAD: Final = "head"
_WITH_ORIGIN: Final = (entry_log.BRANCH_SUMMARY, "compaction")
_COLUMNS: Final = (
    ENTRY.c.branch,
    ENTRY.c.seq,
    ENTRY.c.kind,
    ENTRY.c.format,
    ENTRY.c.is_joined,
    ENTRY.c.version,
    ENTRY.c.created_at,
    ENTRY.c.facts,
    ENTRY.c.body,
)


class EntryPlace(NamedTuple):
    """The branch and seq of an entry."""

    branch: int
    seq: int


def export_session(tx: Transaction, tenant: str, session_id: str) -> str:
    """The text of a session file (JSON lines) with all branches of a session.

    Raises:
        NotFound: no such session.
    """
    head = paths.open_head(tx, tenant, session_id)
    pk = head.session.pk
    kept = tx.execute(select(SESSION.c.origin).where(SESSION.c.pk == pk)).scalar()
    origin = loads(kept) if kept else {"header": {}, "runs": []}
    rows = _in_order(tx.execute(select(*_COLUMNS).where(ENTRY.c.session_pk == pk)), origin["runs"])
    sources = [_source(row) for row in rows]
    leaf = _leaf(tx, head)
    if origin["header"] and all(sources) and leaf == _last(rows):
        return write(origin["header"], filter(None, sources))
    exporting = _Exporting(tx, head, rows, sources)
    entries = [*map(exporting.entry, rows), *exporting.head(leaf)]
    return write({**_header(head), **origin["header"], "version": VERSION}, entries)


def _in_order(rows: Iterable[Any], runs: Iterable[Sequence[int]]) -> list[Any]:
    """The rows with each entry after its parent: in the order of the imported file, the others in order of arrival."""
    numbers = count()
    places = {(branch, seq): next(numbers) for branch, first, last in runs for seq in range(first, last + 1)}
    unknown = len(places)
    return sorted(rows, key=lambda row: (row.version, places.get((row.branch, row.seq), unknown), row.branch, row.seq))


def _source(row: Any) -> dict[str, Any] | None:
    """The entry as the imported file had it; None if it was not imported."""
    body: dict[str, Any] = loads(row.body)
    if row.format == NAME:
        return body
    # The body of a message may have a key `origin` of the client's.
    return body.get("origin") if row.kind in _WITH_ORIGIN else None


def _leaf(tx: Transaction, head: Path) -> EntryPlace | None:
    """The last entry of the head's path; None if the session is empty."""
    parts = segments.segments(tx, head)
    return EntryPlace(parts[-1].branch, parts[-1].last) if parts else None


def _last(rows: Sequence[Any]) -> EntryPlace | None:
    return EntryPlace(rows[-1].branch, rows[-1].seq) if rows else None


def _header(head: Path) -> dict[str, Any]:
    provider, _, model = head.session.model.partition("/")
    about = {"id": head.session.id, "timestamp": timestamp(head.session.created_at), "cwd": ""}
    return {"type": "session", **about, "provider": provider, "modelId": model}


def timestamp(milliseconds: int) -> str:
    """A time as RFC 3339, UTC."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class _Exporting:
    """Turns the entries of a session into entries of a file, each with an id and its parent's."""

    def __init__(
        self, tx: Transaction, head: Path, rows: Sequence[Any], sources: Sequence[Mapping[str, Any] | None]
    ) -> None:
        self._tx = tx
        self._head = head
        places = [EntryPlace(row.branch, row.seq) for row in rows]
        self._source_by_place = dict(zip(places, sources, strict=True))
        found = tx.execute(
            select(BRANCH.c.branch, BRANCH.c.parent, BRANCH.c.left_seq).where(BRANCH.c.session_pk == head.session.pk)
        )
        self._left = {branch: (parent, left_seq) for branch, parent, left_seq in found}
        said = [place for place, row in zip(places, rows, strict=True) if row.kind in entry_log.SHOWN]
        self._first_shown = _first_shown(self._left, said)
        self._undone = _undone(self._left, rows)
        self._id_by_place = _ids(self._source_by_place)

    def entry(self, row: Any) -> dict[str, Any]:
        """The file's entry for a row."""
        place = EntryPlace(row.branch, row.seq)
        source = None if segments.entry_id(*place) in self._undone else self._source_by_place[place]
        written = _WRITERS[row.kind](self, row) if source is None else {**source, **self._upgraded(row, source)}
        at = {"id": self._id(place), "parentId": self._parent_id(place)}
        return {"type": written["type"], **at, "timestamp": timestamp(row.created_at), **written, **at}

    def head(self, leaf: EntryPlace | None) -> list[dict[str, Any]]:
        """A custom entry after the session's leaf, unless the leaf is last: pi continues from a file's last entry."""
        if leaf is None or leaf == next(reversed(self._source_by_place)):
            return []
        name = _unused(f"{HEAD}-{self._id(leaf)}", self._id_by_place.values())
        at = {"id": name, "parentId": self._id(leaf)}
        made = timestamp(self._head.session.created_at)
        return [{"type": "custom", **at, "timestamp": made, "customType": f"{CUSTOM_TYPE}.{HEAD}", "data": {}}]

    def _upgraded(self, row: Any, source: Mapping[str, Any]) -> dict[str, Any]:
        """The id of the first entry that a compaction keeps, which version 1 of the format gave as an index."""
        if source["type"] != "compaction" or "firstKeptEntryIndex" not in source:
            return {}
        kept = loads(row.body)[entry_log.SUMMARY_FACTS_KEY]["first_kept_entry_id"]
        return {} if kept is None else {"firstKeptEntryId": self._id(EntryPlace(*segments.parse_entry_id(kept)))}

    def message(self, row: Any) -> dict[str, Any]:
        written = wire_entry(entry_log.message_in(row))
        if written["type"] != "message":
            return written
        said = {**written["message"], "timestamp": row.created_at}
        if said["role"] == "assistant":
            provider, _, model = self._head.session.model.partition("/")
            said |= {"provider": provider, "model": model}
        elif said.get("toolName") == UNKNOWN_TOOL:
            # Some formats do not name the tool of a result; the facts know it from the call.
            said["toolName"] = loads(row.facts or b"{}").get("tool") or UNKNOWN_TOOL
        return {**written, "message": said}

    def branch_summary(self, row: Any) -> dict[str, Any]:
        body = loads(row.body)
        left = self._parent_id(EntryPlace(row.branch, row.seq)) or "root"
        return {"type": "branch_summary", "fromId": left, "summary": body["summary"], **_summary_facts(body)}

    def compaction(self, row: Any) -> dict[str, Any]:
        """A compaction of pi's, if it is live on all branches and begins where the path does; else a custom entry."""
        body = loads(row.body)
        facts = body.get(entry_log.SUMMARY_FACTS_KEY) or {}
        kept = facts.get("first_kept_entry_id")
        found = next((edit for edit in edits_from_json(body["edits"]) if edit.kind == "condense"), None)
        is_whole = found is not None and found.first <= self._first_shown[row.branch]
        if found is None or kept is None or not is_whole or segments.entry_id(row.branch, row.seq) in self._undone:
            return self.custom(row)
        return {
            "type": "compaction",
            "summary": summaries.shown_text(self._tx, found.summary),
            "firstKeptEntryId": self._id(EntryPlace(*segments.parse_entry_id(kept))),
            "tokensBefore": body["tokens_before"],
            **_summary_facts(facts),
        }

    def custom(self, row: Any) -> dict[str, Any]:
        return {"type": "custom", "customType": f"{CUSTOM_TYPE}.{row.kind}", "data": loads(row.body)}

    def _id(self, place: EntryPlace) -> str:
        return self._id_by_place[place]

    def _parent_id(self, place: EntryPlace) -> str | None:
        parent, left_seq = self._left[place.branch]
        if place.seq - 1 > left_seq:
            return self._id(EntryPlace(place.branch, place.seq - 1))
        return None if parent is None else self._id(EntryPlace(parent, left_seq))


_WRITERS: Final[Mapping[str, Callable[[_Exporting, Any], dict[str, Any]]]] = {
    entry_log.MESSAGE: _Exporting.message,
    entry_log.BRANCH_SUMMARY: _Exporting.branch_summary,
    "compaction": _Exporting.compaction,
    "undo": _Exporting.custom,
    "redo": _Exporting.custom,
}


def _ids(source_by_place: Mapping[EntryPlace, Mapping[str, Any] | None]) -> dict[EntryPlace, str]:
    """The id of each entry in the file: the imported one, or ours, made unique among them."""
    ids = {place: source["id"] for place, source in source_by_place.items() if source and "id" in source}
    taken = {*ids.values()}
    for place in source_by_place:
        if place not in ids:
            ids[place] = _unused(segments.entry_id(*place), taken)
            taken.add(ids[place])
    return ids


def _unused(name: str, taken: Collection[str]) -> str:
    return next(longer for number in count() if (longer := name + "+" * number) not in taken)


def _first_shown(left: Mapping[int, tuple[int | None, int]], said: Sequence[EntryPlace]) -> dict[int | None, int]:
    """By branch, the seq of the first entry on its path that a view shows; 0 if there is none."""
    own = {place.branch: place.seq for place in sorted(said, reverse=True)}
    first: dict[int | None, int] = {}
    # A branch has a higher number than its parent.
    for branch, (parent, left_seq) in sorted(left.items()):
        before = first.get(parent, 0)
        first[branch] = before if 0 < before <= left_seq else own.get(branch, 0)
    return first


def _undone(left: Mapping[int, tuple[int | None, int]], rows: Iterable[Any]) -> frozenset[str]:
    """The ids of the compactions that are not live at the leaf of some branch; rows of one branch are in order."""
    own: defaultdict[int | None, list[Record]] = defaultdict(list)
    for row in rows:
        if row.kind in {history.UNDO, history.REDO}:
            own[row.branch].append(Record(segments.entry_id(row.branch, row.seq), row.seq, row.kind, loads(row.body)))
    at_start: dict[int | None, frozenset[str]] = {None: frozenset()}
    # A branch has a higher number than its parent.
    for branch, (parent, left_seq) in sorted(left.items()):
        shared = [record for record in own[parent] if record.seq <= left_seq]
        at_start[branch] = history.undone_after(at_start[parent], shared)
    return frozenset[str]().union(*(history.undone_after(at_start[branch], own[branch]) for branch in left))


def _summary_facts(facts: Mapping[str, Any]) -> dict[str, Any]:
    details = facts.get("details") or {}
    files = {"readFiles": details.get("read_files", []), "modifiedFiles": details.get("modified_files", [])}
    hook = {"fromHook": True} if facts.get("from_hook") else {}
    return {"details": files, **hook}
