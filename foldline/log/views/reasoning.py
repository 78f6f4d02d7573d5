"""Which reasoning a view shows: a provider takes signed reasoning back only after what it had before it.

It is shown if model, system prompt, tools and pins are what they were in the view that the model saw, and if no edit
that came or went since then changes what is shown before it. Then all reasoning before it is shown as it was in that
view, too, because the same holds for it. (Anthropic, "Preserved thinking".) The block of a provider's own compaction
changes nothing: the provider takes it for what it stands for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from sqlalchemy import and_, bindparam, select

from foldline.engine.edits import LiveEdits
from foldline.engine.facts import Facts, Seen
from foldline.engine.messages import Message
from foldline.engine.outline import Outline
from foldline.engine.wire import loads
from foldline.log.storage import entry_log, segments
from foldline.log.storage.fixed_parts import FixedParts, pins_of
from foldline.log.storage.rows import Path
from foldline.log.storage.segments import Segment
from foldline.log.storage.store import Transaction
from foldline.log.storage.tables import BRANCH, ENTRY
from foldline.log.views.blocks import BlockShown, first_block, what_it_stands_for

# Why reasoning is left out.
COMPACTED: Final = "compacted"
FIXED_PARTS: Final = "fixed_parts"
UNKNOWN_VIEW: Final = "unknown_view"
REFUSED: Final = "refused"
ALONE: Final = "alone"

_EDITS_AT: Final = (ENTRY.c.seq, ENTRY.c.edits_branch, ENTRY.c.edits_seq)
UNKNOWN: Final = Seen()
# The digest of a message that arrived before digests were noted: its fixed parts count as unchanged.
UNNOTED: Final = "unnoted"
# A version that is more entries back than this is not looked for.
ENTRIES_LOOKED_AT: Final = 1000
_IS_LATER: Final = and_(
    ENTRY.c.session_pk == bindparam("pk"), ENTRY.c.branch == bindparam("branch"), ENTRY.c.seq > bindparam("seq")
)
_SINCE: Final = select(*_EDITS_AT, ENTRY.c.version, ENTRY.c.kind).where(_IS_LATER).order_by(ENTRY.c.seq)
_COMPACTIONS_SINCE: Final = select(ENTRY.c.version, ENTRY.c.body).where(_IS_LATER, ENTRY.c.kind == "compaction")
# Compactions in whose transaction model, system prompt, tools and pins cannot have changed.
_CHANGE_NOTHING_ELSE: Final = frozenset({"summary", "asked", "overflow", "reasoning"})
_LEAF_VERSIONS: Final = (
    select(ENTRY.c.version)
    .join_from(
        BRANCH,
        ENTRY,
        and_(
            ENTRY.c.session_pk == BRANCH.c.session_pk,
            ENTRY.c.branch == BRANCH.c.branch,
            ENTRY.c.seq == BRANCH.c.leaf_seq,
        ),
    )
    .where(BRANCH.c.session_pk == bindparam("pk"), ENTRY.c.version > bindparam("version"))
)


@dataclass(frozen=True, slots=True)
class ReasoningShown:
    """The reasoning of a view: the number of parts it shows, and why those of some messages (by seq) are left out.

    `parts_left_out` has the number of these parts for each reason.
    """

    parts: int = 0
    left_out: Mapping[int, str] = field(default_factory=dict)
    parts_left_out: Mapping[str, int] = field(default_factory=dict)


def shown(
    tx: Transaction,
    path: Path,
    outline: Outline,
    messages: Mapping[int, Message],
    fixed: FixedParts,
    *,
    block: BlockShown = BlockShown.NONE,
) -> ReasoningShown:
    """The reasoning that the view of this outline shows after these fixed parts, and after this block or none."""
    parts = {seq: number for seq, message in messages.items() if (number := message.bound_parts)}
    if not parts:
        return ReasoningShown()
    bound = [entry for entry in outline.entries_in_view() if entry.seq in parts]
    seen = _seen(tx, path, [entry for entry in bound if entry.tokens])
    lives = {view.edits_at: entry_log.live_edits_at(tx, path.session, view.edits_at) for view in seen.values()}
    now = Seen(fixed.digest, path.edits_at)
    lives = {**lives, now.edits_at: outline.live}
    stood_for = partial(_stood_for, tx, path, fixed) if block is BlockShown.AS_BLOCK else _nothing
    judge = _Judge(seen, lives, now, block, stood_for)
    # No provider takes a message of reasoning alone: no view ever had it.
    left_out = {entry.seq: ALONE for entry in bound if not entry.tokens}
    left_out |= {seq: reason for seq in seen if (reason := judge.reason(seq, now)) is not None}
    counts = Counter[str]()
    for seq, reason in left_out.items():
        counts[reason] += parts[seq]
    return ReasoningShown(sum(parts.values()) - counts.total(), left_out, counts)


@dataclass(frozen=True, slots=True)
class _Judge:
    """Judges the reasoning of messages, by the view that each is bound to and the live edits of these views.

    `block` is what `now` shows of a provider's block. `stood_for` gives the live edits of the views that a provider
    takes a view with these live edits for.
    """

    seen: Mapping[int, Seen]
    lives: Mapping[tuple[int, int] | None, LiveEdits]
    now: Seen
    block: BlockShown
    stood_for: Callable[[LiveEdits], Iterable[LiveEdits]]
    _equal: dict[Seen, list[LiveEdits]] = field(default_factory=dict)
    _known: dict[tuple[int, Seen], str | None] = field(default_factory=dict)

    def reason(self, seq: int, view: Seen) -> str | None:
        """Why a view leaves out the reasoning of the message `seq`; None if it shows it."""
        if (seq, view) not in self._known:
            self._known[seq, view] = self._reason(seq, view)
        return self._known[seq, view]

    def _reason(self, seq: int, view: Seen) -> str | None:
        seen, live = self.seen[seq], self.lives[view.edits_at]
        if seq < live.reasoning_from:
            return REFUSED
        if seen == UNKNOWN:
            return UNKNOWN_VIEW
        if seen.fixed != view.fixed and UNNOTED not in {seen.fixed, view.fixed}:
            return FIXED_PARTS
        then = self.lives[seen.edits_at]
        is_changed = live.changes(seq) or all(_differ(other, then, seq) for other in self._equal_to(view))
        if is_changed or (view == self.now and self._showed_another_form(then)):
            return COMPACTED
        return self._reason_before(seq, view)

    def _reason_before(self, seq: int, view: Seen) -> str | None:
        """Why a view leaves out the reasoning of a message because of what reasoning it shows before it."""
        seen, live = self.seen[seq], self.lives[view.edits_at]
        then = self.lives[seen.edits_at]
        is_refused = then.reasoning_from != live.reasoning_from
        if not is_refused and not _differ(live, then, seq):
            # Nothing was refused in between, and both views show the same: by induction the same reasoning, too.
            return None
        # What a block stands for is not looked at.
        is_hidden = is_refused and view == self.now and self.block is BlockShown.AS_BLOCK
        if is_hidden or self._before(seq, seen) != self._before(seq, view):
            return REFUSED if is_refused else COMPACTED
        return None

    def _equal_to(self, view: Seen) -> list[LiveEdits]:
        """The live edits of a view, and of those that a provider takes it for."""
        if view not in self._equal:
            live = self.lives[view.edits_at]
            self._equal[view] = [live, *self.stood_for(live)]
        return self._equal[view]

    def _showed_another_form(self, then: LiveEdits) -> bool:
        """Whether a former view had the first summary of `now` as a block and `now` has its text, or the other way."""
        live = self.lives[self.now.edits_at]
        if self.block is BlockShown.NONE or then.condensed[:1] != live.condensed[:1]:
            return False
        had_block = then.reasoning_from == live.reasoning_from
        return had_block != (self.block is BlockShown.AS_BLOCK)

    def _before(self, seq: int, view: Seen) -> list[int]:
        """The messages before this one whose reasoning the view shows."""
        return [other for other in self.seen if other < seq and self.reason(other, view) is None]


def _differ(live: LiveEdits, then: LiveEdits, seq: int) -> bool:
    """Whether the edits show something up to this seq differently."""
    first = None if live is then else live.first_difference(then)
    return first is not None and first <= seq


def _nothing(_live: LiveEdits) -> tuple[LiveEdits, ...]:
    return ()


def _stood_for(tx: Transaction, path: Path, fixed: FixedParts, live: LiveEdits) -> Iterator[LiveEdits]:
    """The live edits with what blocks stand for in their place, one block after another, the newest first.

    A block that was made after other fixed parts, or before reasoning was refused, stands for nothing here.
    """
    refused = live.reasoning_from
    while (found := what_it_stands_for(tx, path.session, live)) is not None:
        block, live = found
        if block.stands_for.view.fixed != fixed.digest or live.reasoning_from != refused:
            return
        yield live


def seen_view(tx: Transaction, path: Path, version: int | None) -> Seen:
    """The view that a model saw when it wrote a message that arrives now.

    `version` is the version of that view, if the caller said so. If not, it is the newest one, unless a job published a
    summary since the last message: then nobody knows which of the two it was.
    """
    fixed = FixedParts(path.session, path.session.model, pins_of(tx, path.session))
    now = Seen(fixed.digest, path.edits_at)
    if version is not None:
        return now if version >= path.session.version else _seen_at(tx, path, version, now)
    was_edited = path.edits_at is not None and path.edits_at > (path.branch, path.last_message_seq)
    return UNKNOWN if was_edited and _was_published(tx, path) else now


def _seen_at(tx: Transaction, path: Path, version: int, now: Seen) -> Seen:
    """The view of an older version; unknown if it is too old, or if something else than edits came since then, on the
    path or at another branch's leaf.
    """
    rows = tx.execute(_SINCE, _after(path, path.leaf_seq - ENTRIES_LOOKED_AT)).all()
    leaves = tx.execute(_LEAF_VERSIONS, {"pk": path.session.pk, "version": version}).scalars()
    versions = {*(row.version for row in rows if row.version > version), *leaves}
    known = [row for row in rows if row.version <= version]
    newer = [row for row in rows if row.version > version]
    if any(row.kind in entry_log.SHOWN for row in newer) or not _are_edits_alone(tx, path, newer):
        return UNKNOWN
    is_whole = path.leaf_seq - path.left_seq <= ENTRIES_LOOKED_AT
    if len(versions) != path.session.version - version or not (known or is_whole):
        return UNKNOWN
    return now._replace(edits_at=_edits_at(known[-1]) if known else _edits_where_it_began(tx, path))


def _edits_where_it_began(tx: Transaction, path: Path) -> tuple[int, int] | None:
    """The newest compaction, undo or redo at the entry where the path's branch begins."""
    if path.parent is None:
        return None
    (row,) = entry_log.rows_in(
        tx, path.session, [Segment(path.parent, path.left_seq, path.left_seq)], _EDITS_AT, kinds=None
    )
    return _edits_at(row)


def _was_published(tx: Transaction, path: Path) -> bool:
    rows = tx.execute(_COMPACTIONS_SINCE, _after(path, path.last_message_seq))
    return any(not loads(body)["is_inline"] for _, body in rows)


def _are_edits_alone(tx: Transaction, path: Path, newer: Sequence[Any]) -> bool:
    """Whether each version of these rows came by an undo, a redo, or a compaction that changed nothing else."""
    if not newer:
        return True
    compactions = tx.execute(_COMPACTIONS_SINCE, _after(path, newer[0].seq - 1))
    harmless = {version for version, body in compactions if loads(body)["reason"] in _CHANGE_NOTHING_ELSE}
    harmless |= {row.version for row in newer if row.kind != "compaction"}
    return {row.version for row in newer} <= harmless


def _after(path: Path, seq: int) -> dict[str, int]:
    return {"pk": path.session.pk, "branch": path.branch, "seq": seq}


def has_reasoning(tx: Transaction, path: Path, outline: Outline) -> bool:
    """Whether a view of this outline has bound reasoning, or a provider's block, that nobody reported as refused."""
    is_bound = any(entry.bound and entry.seq >= outline.live.reasoning_from for entry in outline.entries_in_view())
    return is_bound or first_block(tx, path.session, outline) is not None


def _seen(tx: Transaction, path: Path, entries: Sequence[Facts]) -> dict[int, Seen]:
    """The view that each of these messages is bound to, by seq."""
    noted = {entry.seq: entry.seen for entry in entries if entry.seen is not None}
    unnoted = [(entry.seq, entry.seq) for entry in entries if entry.seen is None]
    if not unnoted:
        return noted
    parts = segments.clipped(segments.segments(tx, path), unnoted)
    rows = entry_log.rows_in(tx, path.session, parts, _EDITS_AT)
    return noted | {row.seq: Seen(UNNOTED, _edits_at(row)) for row in rows}


def _edits_at(row: Any) -> tuple[int, int] | None:
    return None if row.edits_branch is None else (row.edits_branch, row.edits_seq)
