"""Spares results that a compaction to a caller's target has room for, so that the view fills the target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from foldline.engine.edits import Edit
from foldline.engine.models.budget import Goals
from foldline.engine.outline import Outline, Unit
from foldline.engine.wording import summary_frame_tokens

# A superseded result stands in a later read anyway.
_SPARED: Final = frozenset({"clear", "excerpt"})


def sparing(before: Outline, edits: Sequence[Edit], after: Outline, goals: Goals) -> tuple[Edit, ...]:
    """The edits that lead from one outline to the other, without those that the target does not need.

    Stages edit the oldest results first and stop when enough is saved, so the last edit often saves far more than was
    lacking. Results are spared as long as there is room for them, newest first. Room for a summary of what the edits
    hide is left. Both outlines are counted exactly.
    """
    is_hiding = after.pending_tokens > before.pending_tokens
    room = goals.target - after.tokens - (goals.summary_max + summary_frame_tokens() if is_hiding else 0)
    edited = {edit.first for edit in edits if edit.kind in _SPARED}
    spared: set[int] = set()
    for unit in reversed(after.items):
        if not isinstance(unit, Unit) or unit.is_hidden:
            continue
        for entry in reversed(unit.entries):
            cells = (outline.live.cells.get(entry.seq) for outline in (before, after))
            was, now = (after.shown(entry, cell) for cell in cells)
            if entry.seq in edited and was - now <= room:
                spared.add(entry.seq)
                room -= was - now
    return tuple(edit for edit in edits if edit.kind not in _SPARED or edit.first not in spared)
