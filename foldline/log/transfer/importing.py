"""Imports a session file of pi: its tree becomes branches, its entries entries, its summaries compactions.

The import is one transaction and compacts nothing: the session begins as the file has it. Entries that pi would hide
without a summary that covers them are shown (`foldline.engine.session_files.trees.in_view`).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from operator import attrgetter
from typing import Any, Final

from sqlalchemy import insert, update

from foldline.engine.edits import Edit
from foldline.engine.errors import InvalidPolicy
from foldline.engine.facts import Facts
from foldline.engine.messages import BRANCH_ROLE
from foldline.engine.outline import Item, Outline, Summarized, Unit, outline_of
from foldline.engine.planning.batches import Placed, place
from foldline.engine.planning.cut_points import SummaryRange
from foldline.engine.session_files.pi import PiEntry, PiSession, details_of, reported_tokens
from foldline.engine.session_files.pi_messages import NAME
from foldline.engine.summaries.prompt import SummaryDraft
from foldline.engine.wire import dumps
from foldline.log.compaction import ranges, summaries
from foldline.log.compaction.compactions import add_compaction, summary_facts_of
from foldline.log.compaction.summaries import HOOK, Summary, Wanted
from foldline.log.errors import LimitExceeded
from foldline.log.storage import entry_log, ids, paths, segments
from foldline.log.storage.rows import Path
from foldline.log.storage.segments import Segment
from foldline.log.storage.store import Transaction
from foldline.log.storage.tables import BRANCH, SESSION, BranchRow
from foldline.log.transfer.prepared import Prepared, PreparedEntry
from foldline.log.use_cases import branches, lifecycle
from foldline.log.use_cases.branches import Leaving
from foldline.log.use_cases.lifecycle import NewSession
from foldline.log.use_cases.session_size import check_size

PRESET: Final = "pi"
REASON: Final = "imported"
# The end of the year 9999 in milliseconds, the last time that `datetime` can represent.
END_OF_TIME: Final = 253_402_300_800_000
# A seq before all entries.
BEFORE_ALL: Final = 0
_SEQ: Final = attrgetter("seq")
EXTENSION: Final = f"{HOOK}extension"
# The largest count of a provider that is stored: counts of later entries are added in the same column.
MOST_REPORTED: Final = ids.LARGEST // 2


@dataclass(frozen=True, slots=True)
class Imported:
    """The head's path of the new session, and the numbers of entries, messages, branches and compactions."""

    path: Path
    entries: int
    messages: int
    branches: int
    compactions: int


def import_session(tx: Transaction, tenant: str, new: Mapping[str, Any], prepared: Prepared) -> Imported:
    """Create a session from a file. Values missing in `new` are the file's, or those of the preset `pi`.

    Raises:
        MalformedLine: the file's id or model is not valid for a session, or an entry cannot be stored.
        UnknownModel, InvalidPolicy, FixedPartsDoNotFit, Conflict, TenantLimitReached: as for `lifecycle.create`.
        LimitExceeded: the file has more entries than a session may have.
        InvalidPolicy: the summaries at the head do not fit the budget.
    """
    file = prepared.file
    named = {"id": new.get("id") or prepared.id, "model": new.get("model") or prepared.model}
    head = lifecycle.create(tx, tenant, NewSession(**{"policy": {"preset": PRESET}, **new, **named}))
    check_size(tx, head, len(prepared.drafts), sum(len(draft.body) for draft in prepared.drafts))
    importing = _Importing(tx, head)
    for draft in prepared.drafts:
        importing.add(draft)
    path = importing.finish(file)
    counted = [sum(entry.kind == kind for entry in file.entries) for kind in ("message", "compaction")]
    return Imported(path, len(file.entries), counted[0], path.session.branches, counted[1])


def _check_room(tx: Transaction, path: Path) -> None:
    """Check that the summaries at the head fit the budget: no compaction could remove one to make a view fit.

    Raises:
        InvalidPolicy: they do not; the error has both figures.
    """
    limit = path.session.budget.limit
    used = path.session.used(sum(edit.tokens for edit in entry_log.live_edits(tx, path).condensed))
    if used > limit:
        detail = f"the summaries at the head and the fixed parts take {used} tokens, and the budget is {limit}"
        raise InvalidPolicy("context_window", detail)


@dataclass(frozen=True, slots=True)
class _Place(Leaving):
    """An imported entry, with the state of the path that a branch from there begins with."""

    reported: int | None
    reported_seq: int


class _Importing:
    """A session during its import: a path for each branch, and the entries' places by their ids in the file."""

    def __init__(self, tx: Transaction, head: Path) -> None:
        self._tx = tx
        self._now = tx.now
        self._session = head.session
        self._path_by_branch = {head.branch: head}
        self._summarized = 0
        self._places: dict[str, _Place] = {}
        self._facts_by_branch: defaultdict[int, list[Facts]] = defaultdict(list)
        self._waiting: list[dict[str, Any]] = []
        self._runs: list[list[int]] = []

    def add(self, draft: PreparedEntry) -> None:
        entry = draft.entry
        self._tx.now = _time_of(entry.source, self._now)
        path = self._path_after(entry.parent)
        _ADDERS[entry.kind](self, path, draft)
        at = path.branch, path.leaf_seq
        self._places[entry.id] = _Place(*at, paths.state_columns(path), path.reported, path.reported_seq)
        self._note_place(*at)

    def _note_place(self, branch: int, seq: int) -> None:
        """Record the order of the file as runs of entries: branch, first and last seq."""
        if self._runs and self._runs[-1][0] == branch and self._runs[-1][2] == seq - 1:
            self._runs[-1][2] = seq
        else:
            self._runs.append([branch, seq, seq])

    def finish(self, file: PiSession) -> Path:
        """Write the rows that are left, and make the last entry of the file the head; the head's path."""
        tx, session = self._tx, self._session
        tx.now = self._now
        self._flush()
        session.head = self._places[file.leaf].branch if file.leaf else 0
        origin = {"header": file.header, "runs": self._runs}
        tx.execute(update(SESSION).where(SESSION.c.pk == session.pk).values(origin=dumps(origin)))
        for path in self._path_by_branch.values():
            # These are computed when they are needed.
            path.estimated = path.images = None
            paths.save_leaf(tx, path)
        paths.save(tx, self._path_by_branch[session.head])
        _check_room(tx, self._path_by_branch[session.head])
        return self._path_by_branch[session.head]

    def add_message(self, path: Path, draft: PreparedEntry) -> None:
        placed = self._place(path, draft.facts)
        entry_log.advance(path, placed)
        path.last_message_seq = path.leaf_seq
        path.messages += 1
        self._waiting.append(entry_log.message_columns(self._tx, path, placed.facts, draft.message, draft.body))
        if tokens := reported_tokens(draft.entry.source):
            path.reported, path.reported_seq = min(tokens, MOST_REPORTED), path.leaf_seq

    def add_other(self, path: Path, draft: PreparedEntry) -> None:
        path.leaf_seq += 1
        self._waiting.append(entry_log.other_columns(self._tx, path, NAME, draft.body))

    def add_branch_summary(self, path: Path, draft: PreparedEntry) -> None:
        entry = draft.entry
        left = self._places.get(entry.source.get("fromId") or "")
        body = {
            "summary": entry.source["summary"],
            "summary_id": None,
            "from": None if left is None else segments.entry_id(left.branch, left.seq),
            "details": summaries.details(details_of(entry.source)),
            "from_hook": "extension" if entry.source.get("fromHook") is True else None,
            "origin": entry.source,
        }
        placed = self._place(path, draft.facts._replace(role=BRANCH_ROLE))
        entry_log.add_branch_summary(self._tx, path, placed, body)

    def _place(self, path: Path, facts: Facts) -> Placed:
        placed = place(facts, path.leaf_seq + 1, path.tail)
        self._facts_by_branch[path.branch].append(placed.facts)
        return placed

    def add_compaction(self, path: Path, draft: PreparedEntry) -> None:
        """Condense the entries before the first one that the compaction keeps, and those under a summary already."""
        parts = self._segments(path)
        outline, covered = self._older(path, parts, draft.entry)
        self._count_summarized(len(parts) + sum(len(item.entries) for item in covered if isinstance(item, Unit)))
        edit, summary = self._condensed(path, outline, covered, draft)
        after = outline.edited([edit])
        add_compaction(
            self._tx,
            path,
            replace(after, tokens=path.kept - outline.tokens + after.tokens),
            [edit],
            reason=REASON,
            stages_used=("summarize",),
            report={},
            summary_facts=summary_facts_of(self._tx, path, parts, summary, after=after, last=edit.last),
            origin=draft.entry.source,
            is_inline=False,
        )

    def _segments(self, path: Path) -> list[Segment]:
        """The path's segments. No statement reads them: a file may have a branch for each compaction."""
        found, last = [], path.leaf_seq
        while True:
            found.append(Segment(path.branch, path.left_seq + 1, last))
            if path.parent is None:
                return [part for part in reversed(found) if part.first <= part.last]
            path, last = self._path_by_branch[path.parent], path.left_seq

    def _older(self, path: Path, parts: Sequence[Segment], entry: PiEntry) -> tuple[Outline, list[Item]]:
        """The outline up to the first entry in view that a compaction keeps, and the items before that.

        It costs what is condensed for the first time, however much the compaction keeps.
        """
        live = entry_log.live_edits(self._tx, path)
        start = max((edit.last for edit in live.condensed), default=BEFORE_ALL) + 1
        first_kept = max(self._first_kept(path, entry, parts), start)
        kept = next(self._facts_in(segments.parts_between(parts, first_kept, path.leaf_seq)), None)
        until = kept.unit if kept else path.leaf_seq
        outline = outline_of(self._facts_in(segments.parts_between(parts, start, until)), live)
        return outline, [item for item in outline.items if kept is None or item.last < until]

    def _count_summarized(self, number: int) -> None:
        """Count the entries that a compaction summarizes, and its path's segments: branches may repeat them many times.

        Raises:
            LimitExceeded: with them, the file's compactions summarize more than they may together.
        """
        self._summarized += number
        most = self._tx.limits.summarized_entries
        if self._summarized > most:
            what = f"the compactions of the file summarize more than {most} entries together"
            raise LimitExceeded(most, "max_summarized_entries", what)

    def _first_kept(self, path: Path, entry: PiEntry, parts: Sequence[Segment]) -> int:
        """The seq of the first entry that the compaction keeps; `BEFORE_ALL` if that entry is not in these segments."""
        at = self._places.get(entry.first_kept or "")
        if entry.first_kept == entry.id:
            first_kept = path.leaf_seq + 1
        else:
            first_kept = at.seq if at and segments.holds(parts, at.branch, at.seq) else BEFORE_ALL
        # An open batch stays in view: its results may still come.
        return min(first_kept, path.tail.unit) if path.tail.open_calls else first_kept

    def _facts_in(self, parts: Iterable[Segment]) -> Iterator[Facts]:
        """The facts of the entries in view in these segments, oldest first; none is touched before it is asked for."""
        for part in parts:
            facts = self._facts_by_branch[part.branch]
            start = bisect_left(facts, part.first, key=_SEQ)
            yield from (facts[index] for index in range(start, bisect_right(facts, part.last, key=_SEQ)))

    def _condensed(
        self, path: Path, outline: Outline, covered: Sequence[Item], draft: PreparedEntry
    ) -> tuple[Edit, Summary]:
        """The edit that condenses `covered` into the entry's summary, and that summary.

        If `covered` is empty, the summary stands before all entries, as in pi.
        """
        tx, entry, tokens = self._tx, draft.entry, draft.facts.tokens
        first, last = (covered[0].first, covered[-1].last) if covered else (BEFORE_ALL, BEFORE_ALL)
        replaces = tuple(item.edit.summary for item in covered if isinstance(item, Summarized))
        original_tokens = sum(item.original_tokens for item in covered)
        files = ranges.files_in(tx, path, outline, (first, last), replaces) | details_of(entry.source)
        own_id = segments.entry_id(path.branch, path.leaf_seq + 1)
        wanted = Wanted(
            SummaryRange(first, last, replaces, original_tokens, 0, is_pending=False, max_tokens=tokens),
            (own_id, own_id),
            f"{REASON}/{own_id}",
            files,
        )
        supplier = EXTENSION if entry.source.get("fromHook") is True else NAME
        text = SummaryDraft(entry.source["summary"], degraded=False, summarizer=supplier)
        summary = summaries.keep(tx, path, wanted, text, tokens)
        edit = Edit(
            "condense",
            first,
            last,
            summary=summary.id,
            tokens=summary.tokens,
            original_tokens=original_tokens,
            replaces=replaces,
        )
        return edit, summary

    def _path_after(self, parent: str | None) -> Path:
        """The path whose leaf is the parent, or the path of a new branch from there."""
        if parent is None:
            return self._new_root() if self._places else self._path_by_branch[0]
        at = self._places[parent]
        path = self._path_by_branch[at.branch]
        if path.leaf_seq == at.seq:
            return path
        path = branches.new_branch(self._tx, self._session, at)
        path.reported, path.reported_seq = at.reported, at.reported_seq
        self._path_by_branch[path.branch] = path
        return path

    def _new_root(self) -> Path:
        session = self._session
        row = BranchRow(session_pk=session.pk, branch=session.branches, tenant=session.tenant)
        self._tx.execute(insert(BRANCH).values(row.model_dump()))
        session.branches += 1
        path = paths.branch_path(self._tx, session, row.branch)
        self._path_by_branch[path.branch] = path
        return path

    def _flush(self) -> None:
        if self._waiting:
            entry_log.insert_entries(self._tx, self._waiting)
            self._waiting = []


_ADDERS: Final[Mapping[str, Callable[[_Importing, Path, PreparedEntry], None]]] = {
    "message": _Importing.add_message,
    "compaction": _Importing.add_compaction,
    "branch_summary": _Importing.add_branch_summary,
    "other": _Importing.add_other,
}


def _time_of(source: Mapping[str, Any], now: int) -> int:
    """The entry's timestamp in milliseconds since the epoch; `now` if it has none or an invalid one."""
    try:
        at = int(datetime.fromisoformat(source["timestamp"]).timestamp() * 1000)
    except (KeyError, TypeError, ValueError, OverflowError):
        return now
    return at if 0 <= at < END_OF_TIME else now
