"""Clearing results, for the stages that differ only in which."""

from __future__ import annotations

from collections.abc import Iterable

from compaction.edits import Edit
from compaction.facts import Facts
from compaction.outline import Outline
from compaction.plan import Plan


def clearing(
    outline: Outline,
    plan: Plan,
    stage: str,
    results: Iterable[tuple[int, Facts]],
    *,
    enough_tokens: int | None = None,
    least_tokens: int = 0,
) -> Plan:
    """The plan with these results cleared, each with the index of its item, where that saves tokens.

    It stops once it saves `enough_tokens`. If it saves less than `least_tokens`, nothing is cleared.
    """
    before = plan.cells_on(outline)
    cells: dict[int, Edit] = {}
    savings: dict[int, int] = {}
    saved = 0
    for index, entry in results:
        if enough_tokens is not None and saved >= enough_tokens:
            break
        cell = before.get(entry.seq)
        if cell is not None and cell.kind != "excerpt":
            continue
        edit = Edit("clear", entry.seq, entry.seq)
        saving = outline.measure.shown(entry, cell) - outline.measure.shown(entry, edit)
        if saving > 0:
            cells[entry.seq] = edit
            savings[index] = savings.get(index, 0) + saving
            saved += saving
    return plan.adding(stage, cells, savings) if saved >= least_tokens else plan
