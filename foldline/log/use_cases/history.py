"""The compaction history of a path: compactions as they are listed, and which of them are undone; one with its summary.

An undo or redo names the compactions that it changes. Whether one is live follows from these entries alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from foldline.engine.edits import Edit, edits_from_json
from foldline.engine.wire import loads
from foldline.log.compaction import summaries
from foldline.log.compaction.compactions import PRICE_KEY, Compaction
from foldline.log.errors import NotFound
from foldline.log.jobs.queries import Job
from foldline.log.storage import entry_log, paths, segments
from foldline.log.storage.rows import Path, Session
from foldline.log.storage.segments import Segment
from foldline.log.storage.store import Transaction
from foldline.log.storage.tables import ENTRY

COMPACTION: Final = "compaction"
UNDO: Final = "undo"
REDO: Final = "redo"
_COLUMNS: Final = (ENTRY.c.branch, ENTRY.c.seq, ENTRY.c.kind, ENTRY.c.body)


@dataclass(frozen=True, slots=True)
class Record:
    """A compaction, undo or redo on a path."""

    id: str
    seq: int
    kind: str
    body: dict[str, Any]

    @property
    def edits(self) -> tuple[Edit, ...]:
        """A compaction's edits."""
        return edits_from_json(self.body["edits"])

    @property
    def condensed(self) -> list[tuple[int, int]]:
        """The ranges that a compaction condensed."""
        return [(edit.first, edit.last) for edit in self.edits if edit.kind == "condense"]


class EntryLine(NamedTuple):
    """A line of a summary without its bullet, the kind of its item, and the id of the newest entry that says it."""

    text: str
    kind: str
    entry_id: str


@dataclass(frozen=True, slots=True)
class MadeSummary:
    """The summary of a compaction, and whether the view shows it, not another one in its place.

    `lines` are in its order. `kinds` are the numbers of items kept, recallable and replaced, by kind. Both are None if
    it was not made of the ledger, or by an earlier version.
    """

    text: str
    is_in_view: bool
    lines: Sequence[EntryLine] | None = None
    kinds: Mapping[str, Mapping[str, int]] | None = None


@dataclass(frozen=True, slots=True)
class Reversals:
    """The effect of the undos and redos on a path.

    `undone` are the ids of the compactions that are not live. `redoable` are the undos that were not redone, oldest
    first.
    """

    undone: frozenset[str]
    redoable: tuple[Record, ...]


def records(
    tx: Transaction,
    session: Session,
    parts: Sequence[Segment],
    kinds: tuple[str, ...],
    limit: int | None = None,
) -> list[Record]:
    """The first `limit` entries of these kinds in these runs, oldest first."""
    rows = entry_log.rows_in(tx, session, parts, _COLUMNS, kinds=kinds, limit=limit)
    return [Record(segments.entry_id(branch, seq), seq, kind, loads(body)) for branch, seq, kind, body in rows]


def reversals(tx: Transaction, session: Session, parts: Sequence[Segment]) -> Reversals:
    """The effect of the undos and redos in these runs. Compactions are not read."""
    found = records(tx, session, parts, (UNDO, REDO))
    undos: list[Record] = []
    for record in found:
        if record.kind == UNDO:
            undos.append(record)
        else:
            undos = [undo for undo in undos if undo.id != record.body["undo"]]
    return Reversals(undone_after(frozenset(), found), tuple(undos))


def undone_after(before: frozenset[str], reversals: Sequence[Record]) -> frozenset[str]:
    """The ids of the compactions that are not live after these undos and redos, where `before` were not live before."""
    if not reversals:
        return before
    undone = set(before)
    for record in reversals:
        undone.update(record.body["undone"])
        undone.difference_update(record.body.get("redone", ()))
    return frozenset(undone)


def compactions(
    tx: Transaction, tenant: str, session_id: str, after_seq: int = 0, limit: int | None = None
) -> list[Compaction]:
    """Up to `limit` compactions on the head's path after `after_seq`, oldest first.

    Only these compactions are read, and the undos and redos after `after_seq`: earlier ones cannot name them.

    Raises:
        NotFound: no such session.
    """
    path = paths.open_head(tx, tenant, session_id)
    later = segments.clipped(segments.segments(tx, path), [(after_seq + 1, path.leaf_seq)])
    found = records(tx, path.session, later, (COMPACTION,), limit)
    undone = reversals(tx, path.session, later).undone if found else frozenset()
    return [_listed(record, is_live=record.id not in undone) for record in found]


def compaction(
    tx: Transaction, tenant: str, session_id: str, compaction_id: str
) -> tuple[Compaction, MadeSummary | None]:
    """A compaction on the head's path, and its summary if it has one.

    Raises:
        NotFound: no such session, or no such compaction on the path.
    """
    path = paths.open_head(tx, tenant, session_id)
    parts = segments.segments(tx, path)
    later = segments.clipped(parts, [(seq_of(compaction_id), path.leaf_seq)])
    record = next(iter(records(tx, path.session, later, (COMPACTION,), limit=1)), None)
    if record is None or record.id != compaction_id:
        raise NotFound("compaction", compaction_id)
    is_live = record.id not in reversals(tx, path.session, later).undone
    texts = (edit.summary for edit in record.edits if edit.kind in {"condense", "interim"} and edit.summary)
    name = next(texts, None)
    return _listed(record, is_live=is_live), None if name is None else _made(tx, path, parts, name)


def _made(tx: Transaction, path: Path, parts: Sequence[Segment], summary_id: str) -> MadeSummary:
    text, found = summaries.shown_text(tx, summary_id), summaries.provenance_of(tx, summary_id)
    live = entry_log.live_edits(tx, path)
    is_in_view = any(edit.summary == summary_id for edit in (*live.condensed, *live.interims))
    if found is None:
        return MadeSummary(text, is_in_view)
    lines = [EntryLine(line.text, line.kind, segments.id_at(parts, line.place)) for line in found.lines]
    return MadeSummary(text, is_in_view, lines, found.by_kind)


def compaction_of_job(tx: Transaction, tenant: str, job: Job) -> Compaction | None:
    """The compaction that a job made, if it is on the head's path.

    Raises:
        NotFound: no such session.
    """
    name = job.result.get("compaction_id")
    if name is None:
        return None
    found = compactions(tx, tenant, job.session_id, seq_of(name) - 1, limit=1)
    return next((compaction for compaction in found if compaction.id == name), None)


def seq_of(compaction_id: str) -> int:
    """The seq in a compaction's id.

    Raises:
        NotFound: the text is not an id of an entry.
    """
    try:
        return segments.parse_entry_id(compaction_id)[1]
    except NotFound as error:
        raise NotFound("compaction", compaction_id) from error


def _listed(record: Record, *, is_live: bool) -> Compaction:
    body = record.body
    return Compaction(
        record.id,
        body["reason"],
        body["stages_used"],
        body["tokens_before"],
        body["tokens_after"],
        is_live,
        # Compactions of earlier versions have no figures.
        body.get("report", {}),
        body.get(entry_log.SUMMARY_FACTS_KEY, {}),
        body.get(PRICE_KEY),
    )
