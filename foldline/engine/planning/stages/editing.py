"""Clears results and cuts them to excerpts. Several stages use it; they choose the results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import NamedTuple

from foldline.engine.edits import Edit
from foldline.engine.facts import Facts
from foldline.engine.outline import Outline
from foldline.engine.planning.plan import Plan
from foldline.engine.planning.stages.reads import pointed_at


def clearing(
    outline: Outline,
    plan: Plan,
    stage: str,
    results: Iterable[tuple[int, Facts]],
    *,
    enough_tokens: int | None = None,
    least_tokens: int = 0,
) -> Plan:
    """The plan with these results cleared. `results` have the index of their item; one that saves nothing is skipped.

    Reads that the pointers of superseded reads refer to are skipped too. It stops after it has saved `enough_tokens`,
    with an edit that saves little more. If all results together save less than `least_tokens`, none is cleared.
    """
    spared = pointed_at(outline, plan)
    results = [found for found in results if found[1].seq not in spared] if spared else results
    return _editing(outline, plan, stage, results, _cleared, enough_tokens=enough_tokens, least_tokens=least_tokens)


def excerpting(
    outline: Outline,
    plan: Plan,
    stage: str,
    results: Iterable[tuple[int, Facts]],
    level: int,
    *,
    enough_tokens: int | None = None,
) -> Plan:
    """The plan with these results cut to excerpts of a level; a result without one, or that saves nothing, stays."""

    def excerpted(entry: Facts) -> Edit | None:
        has_level = level < len(entry.excerpts) and entry.excerpts[level] > 0
        return Edit("excerpt", entry.seq, entry.seq, level) if has_level else None

    return _editing(outline, plan, stage, results, excerpted, enough_tokens=enough_tokens)


def _cleared(entry: Facts) -> Edit:
    return Edit("clear", entry.seq, entry.seq)


def _editing(
    outline: Outline,
    plan: Plan,
    stage: str,
    results: Iterable[tuple[int, Facts]],
    edited: Callable[[Facts], Edit | None],
    *,
    enough_tokens: int | None = None,
    least_tokens: int = 0,
) -> Plan:
    cells: dict[int, Edit] = {}
    savings: dict[int, int] = {}
    saved = 0
    for index, edit, saving in _chosen(list(_possible(outline, plan, results, edited)), enough_tokens):
        cells[edit.first] = edit
        savings[index] = savings.get(index, 0) + saving
        saved += saving
    return plan.adding(stage, cells, savings) if saved >= least_tokens else plan


class _Possible(NamedTuple):
    """An edit of a result, the index of its item, and the tokens that it saves."""

    item: int
    edit: Edit
    saving: int


def _possible(
    outline: Outline, plan: Plan, results: Iterable[tuple[int, Facts]], edited: Callable[[Facts], Edit | None]
) -> Iterator[_Possible]:
    before = plan.cells_on(outline)
    for index, entry in results:
        cell = before.get(entry.seq)
        # A cleared or superseded result has no content left to edit.
        if cell is not None and cell.kind in {"clear", "supersede"}:
            continue
        edit = edited(entry)
        if edit is None:
            continue
        saving = outline.shown(entry, cell) - outline.shown(entry, edit)
        if saving > 0:
            yield _Possible(index, edit, saving)


def _chosen(possible: Sequence[_Possible], enough_tokens: int | None) -> Iterator[_Possible]:
    """The edits that save enough together, oldest first; the last of them is the smallest that is left and suffices."""
    lacking = enough_tokens
    for number, edit in enumerate(possible):
        if lacking is not None and lacking <= 0:
            return
        if lacking is not None and edit.saving >= lacking:
            yield min((later for later in possible[number:] if later.saving >= lacking), key=attrgetter("saving"))
            return
        yield edit
        lacking = None if lacking is None else lacking - edit.saving
