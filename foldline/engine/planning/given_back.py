"""Gives back what a compaction to a caller's target has room for, so that the view fills the target."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from foldline.engine.edits import Edit
from foldline.engine.facts import Facts
from foldline.engine.models.budget import Goals
from foldline.engine.models.gauge import Gauge
from foldline.engine.outline import Outline, Unit
from foldline.engine.wording import summary_frame_tokens

# A superseded result stands in a later read anyway.
_GIVEN_BACK: Final = frozenset({"clear", "excerpt"})


def giving_back(before: Outline, edits: Sequence[Edit], after: Outline, goals: Goals, gauge: Gauge) -> Sequence[Edit]:
    """The edits that lead from one outline to the other, without those that the target does not need.

    Stages edit the oldest results first and stop when enough is saved, so the last edit often saves far more than was
    lacking. Results and arguments are given back as long as there is room for them, newest first, by the exact count
    and by the policy's. Room for a summary of what is hidden is left. Both outlines are counted exactly.
    """
    seen = gauge.seen(after, before)
    rooms = [_room(after, goals), _room(seen, gauge.goals)]
    edited = {edit.first for edit in edits if edit.kind in _GIVEN_BACK}
    given_back: set[int] = set()
    for exact, by_policy in zip(_newest_first(after), _newest_first(seen), strict=True):
        if exact.seq in edited:
            was, now = before.live.cells.get(exact.seq), after.live.cells.get(exact.seq)
            shown = ((after, exact), (seen, by_policy))
            # A plan leaves no images out, so both sides are measured without the same ones.
            costs = [outline.shown(entry, was) - outline.shown(entry, now) for outline, entry in shown]
            if all(cost <= room for cost, room in zip(costs, rooms, strict=True)):
                given_back.add(exact.seq)
                rooms = [room - cost for cost, room in zip(costs, rooms, strict=True)]
    return [edit for edit in edits if edit.kind not in _GIVEN_BACK or edit.first not in given_back]


def _room(after: Outline, goals: Goals) -> int:
    """What the target leaves; a summary takes the place of the interim summaries of what is hidden."""
    if not after.pending_tokens:
        return goals.target - after.tokens
    interims = sum(run.interim.tokens for run in after.runs if run.interim)
    return goals.target - after.tokens - max(0, goals.summary_max + summary_frame_tokens() - interims)


def _newest_first(outline: Outline) -> Iterator[Facts]:
    """The entries in view, newest first."""
    for item in reversed(outline.items):
        if isinstance(item, Unit) and not item.is_hidden:
            yield from reversed(item.entries)
