"""The plan: new edits, the tokens they save, and whether a summary is wanted. `pipeline` runs the stages that add."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import accumulate
from types import MappingProxyType
from typing import TypeAlias

from foldline.engine.edits import Edit
from foldline.engine.facts import Facts
from foldline.engine.models.budget import Goals
from foldline.engine.outline import Outline, Unit
from foldline.engine.policies.policy import Stage


@dataclass(frozen=True, slots=True)
class Plan:
    """The planned changes to an outline.

    `tokens` is the size of the view after them, unscaled and without the fixed parts. `cells` are the new edits of
    single entries by seq, `savings` the tokens they save by item index. `hidden` are ranges of item indexes, the stop
    excluded; `hides` are the edits that hide them.
    """

    tokens: int
    stages_used: tuple[str, ...] = ()
    cells: Mapping[int, Edit] = field(default_factory=lambda: MappingProxyType({}))
    savings: Mapping[int, int] = field(default_factory=lambda: MappingProxyType({}))
    hidden: tuple[tuple[int, int], ...] = ()
    hides: tuple[Edit, ...] = ()
    is_summary_wanted: bool = False

    @property
    def edits(self) -> tuple[Edit, ...]:
        """All edits, in the order in which they apply."""
        return (*self.cells.values(), *self.hides)

    def adding(self, stage: str, cells: Mapping[int, Edit], savings: Mapping[int, int]) -> Plan:
        """The plan with more edits of single entries by seq, and their savings by item index."""
        if not cells:
            return self
        total = dict(self.savings)
        for index, saving in savings.items():
            total[index] = total.get(index, 0) + saving
        return replace(
            self,
            tokens=self.tokens - sum(savings.values()),
            stages_used=_with(self.stages_used, stage),
            cells={**self.cells, **cells},
            savings=total,
        )

    def hiding(self, stage: str, outline: Outline, start: int, stop: int) -> Plan:
        """The plan with all units from item `start` up to `stop` hidden too; hidden runs that touch become one."""
        tokens = self.tokens_hiding(outline, start)(stop)
        (start, stop), others = self._joined(start, stop)
        spans = [
            Edit("hide", outline.items[_run_start(outline, first)].first, outline.items[end - 1].last)
            for first, end in _pieces(outline, start, stop)
        ]
        return replace(
            self,
            tokens=tokens,
            stages_used=_with(self.stages_used, stage),
            hidden=(*others, (start, stop)),
            hides=(*self.hides, *spans),
        )

    def tokens_hiding(self, outline: Outline, start: int) -> Callable[[int], int]:
        """A function of `stop`: the size of the view if the units from item `start` up to `stop` were hidden too."""
        indexes = sorted(self.savings)
        saved = list(accumulate((self.savings[index] for index in indexes), initial=0))
        sums = outline.sums

        def change(start: int, stop: int) -> int:
            savings = saved[bisect_left(indexes, stop)] - saved[bisect_left(indexes, start)]
            shown = sums.shown[stop] - sums.shown[start]
            return savings - shown + _markers_added(outline, start, stop)

        def tokens(stop: int) -> int:
            joined, others = self._joined(start, stop)
            already = sum(change(*hidden) for hidden in self.hidden if hidden not in others)
            return self.tokens - already + change(*joined)

        return tokens

    def _joined(self, start: int, stop: int) -> tuple[tuple[int, int], list[tuple[int, int]]]:
        """This range joined with the hidden ranges that it overlaps or touches, and the other hidden ranges."""
        others = []
        for first, end in sorted(self.hidden):
            if first <= stop and start <= end:
                start, stop = min(start, first), max(stop, end)
            else:
                others.append((first, end))
        return (start, stop), others

    def results_in_view(self, outline: Outline, start: int = 0) -> list[tuple[int, Facts]]:
        """The results that stay in view, from item `start` on, oldest first, each with the index of its item."""
        results = outline.results_from(start)
        return [found for found in results if not self.hides_item(found[0])] if self.hidden else results

    def shown_tokens(self, outline: Outline, index: int) -> int:
        """The tokens of an item in view after this plan."""
        item = outline.items[index]
        if not isinstance(item, Unit):
            return item.edit.tokens
        return 0 if item.is_hidden or self.hides_item(index) else item.tokens - self.savings.get(index, 0)

    def cells_on(self, outline: Outline) -> Mapping[int, Edit]:
        """The edits of single entries by seq: those of this plan and those in force before it."""
        return {**outline.live.cells, **self.cells}

    def hides_item(self, index: int) -> bool:
        """Whether this plan hides the item."""
        return any(start <= index < stop for start, stop in self.hidden)

    def older_than(self, outline: Outline, recent_tokens: int) -> int:
        """The number of items, from the oldest, that have at least `recent_tokens` in view after them."""
        after = 0
        for index in range(len(outline.items) - 1, -1, -1):
            if after >= recent_tokens:
                return index + 1
            after += self.shown_tokens(outline, index)
        return 0


@dataclass(frozen=True, slots=True)
class Parameters:
    """The input of a stage beside the outline and the plan so far.

    `is_asked`: this compaction was requested, so it is not automatic. `has_target`: the request gave a target, down to
    which `truncate` then goes. `own` is the stage with the policy's parameters. `truncate` will hide the items before
    `horizon` anyway, so that editing them is no use.
    """

    goals: Goals
    is_asked: bool
    has_target: bool
    own: Stage
    horizon: int = 0


# A stage adds edits to a plan and touches nothing else.
StageFunction: TypeAlias = Callable[[Outline, Plan, Parameters], Plan]


def _with(stages_used: tuple[str, ...], stage: str) -> tuple[str, ...]:
    return stages_used if stage in stages_used else (*stages_used, stage)


def _pieces(outline: Outline, start: int, stop: int) -> list[tuple[int, int]]:
    """The ranges of units between `start` and `stop`, without the live summaries among them."""
    cuts = [index for index in outline.summarized if start <= index < stop]
    edges = zip((start, *(index + 1 for index in cuts)), (*cuts, stop), strict=True)
    return [(first, end) for first, end in edges if first < end]


def _markers_added(outline: Outline, start: int, stop: int) -> int:
    """The tokens of markers that hiding these items adds; below 0 if it joins hidden runs or ends interim summaries."""
    pieces = _pieces(outline, start, stop)
    markers = outline.sums.markers
    if not pieces:
        return 0
    joins_before = pieces[0][0] == start > 0 and outline.is_hidden(start - 1)
    # The marker of the run that is joined is the last one that was added up.
    low = markers[bisect_left(markers, markers[start]) - 1] if joins_before else markers[start]
    begins_after = pieces[-1][1] == stop < len(outline.items) and markers[stop + 1] > markers[stop]
    high = markers[stop + 1] if begins_after else markers[stop]
    return outline.measure.marker * len(pieces) - (high - low)


def _run_start(outline: Outline, index: int) -> int:
    """The first index of the hidden run that ends right before `index`, so that one edit can cover the whole run."""
    while index and outline.is_hidden(index - 1):
        index -= 1
    return index
