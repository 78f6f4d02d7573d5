"""Lists compactions, and takes them back or restores them: undo and redo."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from foldline.engine.edits import Edit, edits_from_json
from foldline.engine.wire import loads
from foldline.log.compaction import trigger
from foldline.log.compaction.compactions import Compaction
from foldline.log.errors import Conflict, NotFound, RedoSuperseded
from foldline.log.storage import entry_log, paths, segments
from foldline.log.storage.rows import Path
from foldline.log.storage.store import Transaction
from foldline.log.storage.tables import ENTRY


@dataclass(frozen=True, slots=True)
class Record:
    """A compaction, undo or redo on a path."""

    id: str
    seq: int
    kind: str
    body: dict[str, Any]

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The edits of a compaction."""
        return edits_from_json(self.body["edits"])

    @property
    def condensed(self) -> list[tuple[int, int]]:
        """The ranges of seqs that the compaction condensed."""
        return [(edit.first, edit.last) for edit in self.edits if edit.kind == "condense"]


def records(tx: Transaction, path: Path) -> list[Record]:
    """The compactions, undos and redos on a path, oldest first."""
    columns = (ENTRY.c.branch, ENTRY.c.seq, ENTRY.c.kind, ENTRY.c.body)
    rows = entry_log.rows_in(tx, path.session, segments.segments(tx, path), columns, kinds=entry_log.EDITING)
    return [Record(segments.entry_id(branch, seq), seq, kind, loads(body)) for branch, seq, kind, body in rows]


def fold(found: list[Record]) -> tuple[list[Record], list[Record]]:
    """The live compactions, oldest first, and the undos that can still be redone, oldest first."""
    by_id = {record.id: record for record in found}
    live: list[Record] = []
    undos: list[Record] = []
    for record in found:
        if record.kind == "compaction":
            live.append(record)
        else:
            live = [other for other in live if other.id not in record.body["undone"]]
        if record.kind == "undo":
            undos.append(record)
        elif record.kind == "redo":
            live.extend(by_id[name] for name in record.body["redone"])
            live.sort(key=_seq)
            undos = [undo for undo in undos if undo.id != record.body["undo"]]
    return live, undos


def _seq(record: Record) -> int:
    return record.seq


def compactions(tx: Transaction, tenant: str, session_id: str) -> list[Compaction]:
    """The compactions on the head's path, oldest first."""
    found = records(tx, paths.open_head(tx, tenant, session_id))
    live = {record.id for record in fold(found)[0]}
    return [listed(record, is_live=record.id in live) for record in found if record.kind == "compaction"]


def listed(record: Record, *, is_live: bool) -> Compaction:
    """A compaction as the API lists it."""
    body = record.body
    return Compaction(
        record.id,
        body["reason"],
        body["stages_used"],
        body["tokens_before"],
        body["tokens_after"],
        is_live,
        # Compactions from before there were figures have none.
        body.get("report", {}),
        body.get(entry_log.SUMMARY_FACTS_KEY, {}),
    )


def undo(
    tx: Transaction, tenant: str, session_id: str, compaction_id: str, *, if_match: int | None = None
) -> tuple[list[str], Path]:
    """Take back a compaction and all later live ones: their ids, oldest first, and the path.

    Undoing a summary also takes back the compactions whose hides it absorbed; otherwise their ranges would be pending
    again.

    Raises:
        NotFound: no such compaction on this path.
        Conflict: it is not live.
    """
    path = paths.open_head(tx, tenant, session_id, lock=True, if_match=if_match)
    found = records(tx, path)
    live, _ = fold(found)
    chosen = next((record for record in found if record.id == compaction_id and record.kind == "compaction"), None)
    if chosen is None:
        raise NotFound("compaction", compaction_id)
    if chosen not in live:
        raise Conflict(f"the compaction {compaction_id!r} is undone already")
    start = _with_absorbed(live, chosen.seq)
    taken = [record for record in live if record.seq >= start]
    before = _state_before(tx, path, taken[0].seq)
    at_compaction = _entry(tx, path, taken[0].seq)
    current = entry_log.live_edits(tx, path)
    spans = {*current.barred, *(span for record in taken for span in record.condensed)}
    restored = entry_log.live_edits_at(tx, path.session, _edits_at(before)).barring(sorted(spans))
    path.kept = (before.kept if before else 0) + path.raw - at_compaction.raw
    path.pending_tokens = before.pending_tokens if before else 0
    path.estimated = path.reported = None
    undone = [record.id for record in taken]
    entry_log.add_edits(tx, path, "undo", {"undone": undone}, restored)
    trigger.request_pending(tx, path)
    paths.save(tx, path)
    return undone, path


def _with_absorbed(live: list[Record], start: int) -> int:
    """The seq where the undo has to begin, so that each summary goes with the compactions it absorbed."""
    while True:
        spans = [span for record in live if record.seq >= start for span in record.condensed]
        absorbed = [record.seq for record in live if record.seq < start and _hides_within(record, spans)]
        if not absorbed:
            return start
        start = min(absorbed)


def _hides_within(record: Record, spans: list[tuple[int, int]]) -> bool:
    return any(
        edit.kind == "hide" and edit.first <= last and first <= edit.last
        for edit in record.edits
        for first, last in spans
    )


def redo(tx: Transaction, tenant: str, session_id: str, *, if_match: int | None = None) -> tuple[list[str], Path]:
    """Restore what the last undo took back, and take back the inline compactions since: the restored ids, and the path.

    Raises:
        NotFound: no such session.
        Conflict: there is nothing to redo.
        RedoSuperseded: another summary was published since the undo.
    """
    path = paths.open_head(tx, tenant, session_id, lock=True, if_match=if_match)
    found = records(tx, path)
    live, undos = fold(found)
    if not undos:
        raise Conflict("there is nothing to redo")
    last = undos[-1]
    since = [record for record in found if record.seq > last.seq and record.kind == "compaction"]
    if any(not record.body["is_inline"] for record in since):
        raise RedoSuperseded
    by_id = {record.id: record for record in found}
    redone: list[str] = last.body["undone"]
    before = _state_before(tx, path, last.seq)
    returning = {span for name in redone for span in by_id[name].condensed}
    barred = [span for span in entry_log.live_edits(tx, path).barred if span not in returning]
    restored = entry_log.live_edits_at(tx, path.session, _edits_at(before)).barring(barred)
    path.kept = before.kept + path.raw - before.raw
    path.pending_tokens = before.pending_tokens
    path.estimated = path.reported = None
    undone = [record.id for record in live if record.seq > last.seq]
    entry_log.add_edits(tx, path, "redo", {"undo": last.id, "redone": redone, "undone": undone}, restored)
    trigger.request_pending(tx, path)
    paths.save(tx, path)
    return redone, path


def _state_before(tx: Transaction, path: Path, seq: int) -> Any:
    return _entry(tx, path, seq - 1) if seq > 1 else None


def _entry(tx: Transaction, path: Path, seq: int) -> Any:
    branch = segments.branch_at(segments.segments(tx, path), seq)
    columns = (ENTRY.c.kept, ENTRY.c.raw, ENTRY.c.pending_tokens, ENTRY.c.edits_branch, ENTRY.c.edits_seq)
    statement = select(*columns).where(
        ENTRY.c.session_pk == path.session.pk, ENTRY.c.branch == branch, ENTRY.c.seq == seq
    )
    return tx.execute(statement).one()


def _edits_at(row: Any) -> tuple[int, int] | None:
    return None if row is None or row.edits_branch is None else (row.edits_branch, row.edits_seq)
