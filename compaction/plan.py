"""A plan: edits as data, what they save, and whether a summary is wanted. Stages add to it; `make_plan` runs them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeAlias

from compaction.budget import Goals
from compaction.edits import Edit
from compaction.outline import Outline, Unit
from compaction.wording import marker_tokens


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do with an outline.

    `tokens` is what the view will take (unscaled, without the fixed parts). `cells` are the new edits of single entries
    by seq, `savings` what they save by item, `hidden` the items to hide.
    """

    tokens: int
    stages_used: tuple[str, ...] = ()
    cells: Mapping[int, Edit] = field(default_factory=lambda: MappingProxyType({}))
    savings: Mapping[int, int] = field(default_factory=lambda: MappingProxyType({}))
    hidden: frozenset[int] = frozenset()
    hides: tuple[Edit, ...] = ()
    is_summary_wanted: bool = False

    @property
    def edits(self) -> tuple[Edit, ...]:
        """All edits, in the order they apply."""
        return (*self.cells.values(), *self.hides)

    def adding(self, stage: str, cells: Mapping[int, Edit], savings: Mapping[int, int]) -> Plan:
        """The plan with more edits of single entries, `savings` by item index."""
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

    def hiding(self, stage: str, outline: Outline, indexes: Iterable[int]) -> Plan:
        """The plan with these units hidden too."""
        added = sorted(set(indexes) - self.hidden)
        if not added:
            return self
        hidden = self.hidden | set(added)
        shown = sum(self.shown_tokens(outline, index) for index in added)
        markers = marker_tokens() * (_runs(outline, hidden) - _runs(outline, self.hidden))
        return replace(
            self,
            tokens=self.tokens - shown + markers,
            stages_used=_with(self.stages_used, stage),
            hidden=hidden,
            hides=(*self.hides, *_spans(outline, added)),
        )

    def shown_tokens(self, outline: Outline, index: int) -> int:
        """What the item takes in view under this plan."""
        item = outline.items[index]
        if not isinstance(item, Unit):
            return item.edit.tokens
        return 0 if self.is_hidden(outline, index) else item.tokens - self.savings.get(index, 0)

    def is_hidden(self, outline: Outline, index: int) -> bool:
        """Whether the item is hidden, by this plan or before it."""
        item = outline.items[index]
        return isinstance(item, Unit) and (item.is_hidden or index in self.hidden)

    def cell(self, outline: Outline, seq: int) -> Edit | None:
        """The edit of an entry, by this plan or before it."""
        return self.cells.get(seq) or outline.live.cells.get(seq)

    def older_than(self, outline: Outline, recent_tokens: int) -> int:
        """How many items, from the oldest, have at least `recent_tokens` in view after them."""
        after = 0
        for index in range(len(outline.items) - 1, -1, -1):
            if after >= recent_tokens:
                return index + 1
            after += self.shown_tokens(outline, index)
        return 0


@dataclass(frozen=True, slots=True)
class Parameters:
    """What a stage is given beside the outline and the plan so far.

    `is_asked`: someone asked for this compaction. `has_target`: with a target of their own, which `truncate` then goes
    down to. `own` are the stage's parameters in the policy.
    """

    goals: Goals
    is_asked: bool
    has_target: bool
    own: Mapping[str, int]


# A stage adds edits to a plan and touches nothing else.
StageFunction: TypeAlias = Callable[[Outline, Plan, Parameters], Plan]


def _with(stages_used: tuple[str, ...], stage: str) -> tuple[str, ...]:
    return stages_used if stage in stages_used else (*stages_used, stage)


def _runs(outline: Outline, hidden: frozenset[int]) -> int:
    """How many markers a view shows when these items are hidden beside those that are already."""
    runs, after_hidden = 0, False
    for index, item in enumerate(outline.items):
        is_hidden = index in hidden or (isinstance(item, Unit) and item.is_hidden)
        runs += is_hidden and not after_hidden
        after_hidden = is_hidden
    return runs


def _spans(outline: Outline, indexes: list[int]) -> list[Edit]:
    """One `hide` for each run of neighbouring items."""
    spans: list[Edit] = []
    previous = -2
    for index in indexes:
        item = outline.items[index]
        if index == previous + 1:
            spans[-1] = spans[-1]._replace(last=item.last)
        else:
            spans.append(Edit("hide", item.first, item.last))
        previous = index
    return spans
