"""Undo takes compactions back, redo restores them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import select

from foldline.log.compaction import trigger
from foldline.log.compaction.compactions import REASONING
from foldline.log.errors import Conflict, NotFound, RedoSuperseded
from foldline.log.storage import entry_log, paths, segments
from foldline.log.storage.rows import Path
from foldline.log.storage.segments import Segment
from foldline.log.storage.store import Transaction
from foldline.log.storage.tables import ENTRY
from foldline.log.use_cases import history
from foldline.log.use_cases.history import COMPACTION, REDO, UNDO, Record
from foldline.log.use_cases.preconditions import open_to_change


def undo(
    tx: Transaction,
    tenant: str,
    session_id: str,
    compaction_id: str,
    *,
    parent: str | None = None,
    if_match: int | None = None,
) -> tuple[list[str], Path]:
    """Take back a compaction and all later live ones: their ids, oldest first, and the path.

    Undoing a summary also takes back the compactions whose hides it absorbed; otherwise their ranges would be pending
    again. Undo reads the compactions that it takes back and those that may have hidden a part of what these condensed.

    Raises:
        NotFound: no such session, or no such compaction on this path.
        StaleVersion, UnknownParent: the session has changed since the caller read it.
        Conflict: the compaction is not live.
    """
    path = open_to_change(tx, tenant, session_id, parent=parent, if_match=if_match)
    parts = segments.segments(tx, path)
    undone = history.reversals(tx, path.session, parts).undone
    if compaction_id in undone:
        raise Conflict(f"the compaction {compaction_id!r} is undone already")
    chosen = _live(tx, path, parts, (history.seq_of(compaction_id), path.leaf_seq), undone)
    if not chosen or chosen[0].id != compaction_id:
        raise NotFound("compaction", compaction_id)
    taken = _with_absorbed(tx, path, parts, chosen, undone)
    before = _state_before(tx, path, parts, taken[0].seq)
    at_compaction = _state_at(tx, path, parts, taken[0].seq)
    current = entry_log.live_edits(tx, path)
    spans = {*current.barred, *(span for record in taken for span in record.condensed)}
    restored = entry_log.live_edits_at(tx, path.session, _edits_at(before)).barring(sorted(spans))
    if taken[0].body["reason"] != REASONING:
        # What a provider refused stays left out, unless it is that report which is taken back.
        restored = replace(restored, reasoning_from=max(restored.reasoning_from, current.reasoning_from))
    path.kept = (before.kept if before else 0) + path.raw - at_compaction.raw
    path.pending_tokens = before.pending_tokens if before else 0
    path.estimated = path.reported = path.images = None
    ids = [record.id for record in taken]
    entry_log.add_edits(tx, path, UNDO, {"undone": ids}, restored)
    trigger.request_pending(tx, path)
    paths.save(tx, path)
    return ids, path


def _live(
    tx: Transaction, path: Path, parts: Sequence[Segment], span: tuple[int, int], undone: Collection[str]
) -> list[Record]:
    """The live compactions in a range of seqs, oldest first."""
    found = history.records(tx, path.session, segments.clipped(parts, [span]), (COMPACTION,))
    return [record for record in found if record.id not in undone]


def _with_absorbed(
    tx: Transaction, path: Path, parts: Sequence[Segment], taken: list[Record], undone: Collection[str]
) -> list[Record]:
    """These compactions after the earlier ones that they absorbed, oldest first."""
    while True:
        spans = [span for record in taken for span in record.condensed]
        if not spans:
            return taken
        # A compaction edits earlier entries only, so those before the first of these ranges hid nothing in any.
        earlier = _live(tx, path, parts, (min(spans)[0] + 1, taken[0].seq - 1), undone)
        absorbed = [record.seq for record in earlier if _hides_within(record, spans)]
        if not absorbed:
            return taken
        taken = [record for record in earlier if record.seq >= absorbed[0]] + taken


def _hides_within(record: Record, spans: list[tuple[int, int]]) -> bool:
    return any(
        edit.kind == "hide" and edit.first <= last and first <= edit.last
        for edit in record.edits
        for first, last in spans
    )


def redo(
    tx: Transaction, tenant: str, session_id: str, *, parent: str | None = None, if_match: int | None = None
) -> tuple[list[str], Path]:
    """Restore what the last undo took back, and take back the inline compactions since: the restored ids, and the path.

    Redo reads the compactions from the first that it restores on, and no earlier ones.

    Raises:
        NotFound: no such session.
        StaleVersion, UnknownParent: the session has changed since the caller read it.
        Conflict: there is nothing to redo.
        RedoSuperseded: another summary was published since the undo.
    """
    path = open_to_change(tx, tenant, session_id, parent=parent, if_match=if_match)
    parts = segments.segments(tx, path)
    reversals = history.reversals(tx, path.session, parts)
    if not reversals.redoable:
        raise Conflict("there is nothing to redo")
    last = reversals.redoable[-1]
    redone: list[str] = last.body["undone"]
    span = history.seq_of(redone[0]), path.leaf_seq
    found = history.records(tx, path.session, segments.clipped(parts, [span]), (COMPACTION,))
    since = [record for record in found if record.seq > last.seq]
    if any(not record.body["is_inline"] for record in since):
        raise RedoSuperseded
    before = _state_before(tx, path, parts, last.seq)
    returning = {span for record in found if record.id in redone for span in record.condensed}
    current = entry_log.live_edits(tx, path)
    barred = [span for span in current.barred if span not in returning]
    restored = entry_log.live_edits_at(tx, path.session, _edits_at(before)).barring(barred)
    restored = replace(restored, reasoning_from=max(restored.reasoning_from, current.reasoning_from))
    path.kept = before.kept + path.raw - before.raw
    path.pending_tokens = before.pending_tokens
    path.estimated = path.reported = path.images = None
    undone = [record.id for record in since if record.id not in reversals.undone]
    entry_log.add_edits(tx, path, REDO, {"undo": last.id, "redone": redone, "undone": undone}, restored)
    trigger.request_pending(tx, path)
    paths.save(tx, path)
    return redone, path


def _state_before(tx: Transaction, path: Path, parts: Sequence[Segment], seq: int) -> Any:
    return _state_at(tx, path, parts, seq - 1) if seq > 1 else None


def _state_at(tx: Transaction, path: Path, parts: Sequence[Segment], seq: int) -> Any:
    branch = segments.branch_at(parts, seq)
    columns = (ENTRY.c.kept, ENTRY.c.raw, ENTRY.c.pending_tokens, ENTRY.c.edits_branch, ENTRY.c.edits_seq)
    statement = select(*columns).where(
        ENTRY.c.session_pk == path.session.pk, ENTRY.c.branch == branch, ENTRY.c.seq == seq
    )
    return tx.execute(statement).one()


def _edits_at(row: Any) -> tuple[int, int] | None:
    return None if row is None or row.edits_branch is None else (row.edits_branch, row.edits_seq)
