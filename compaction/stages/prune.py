"""Clear old tool results, oldest first, until the target is reached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from compaction.edits import Edit
from compaction.facts import Facts
from compaction.files import Read
from compaction.outline import Outline, shown_tokens
from compaction.plan import Parameters, Plan


def prune(outline: Outline, plan: Plan, parameters: Parameters) -> Plan:
    """Clear results of at least `minimum_tokens` that are older than what the policy keeps recent.

    A read that older, superseded ones point to stays: the pointers would point at nothing.
    """
    goals = parameters.goals
    excess = plan.tokens - goals.target
    if excess <= 0:
        return plan
    older = min(plan.older_than(outline, goals.keep_recent), outline.closed)
    minimum = parameters.own.get("minimum_tokens", 0)
    before = plan.cells_on(outline)
    results = outline.results_from(parameters.horizon)
    pointed_at = _pointed_at(results, before)
    cells: dict[int, Edit] = {}
    savings: dict[int, int] = {}
    for index, entry in results:
        if index >= older or excess <= 0:
            break
        if entry.tokens < minimum or entry.seq in pointed_at:
            continue
        cell = before.get(entry.seq)
        if cell is not None and cell.kind != "excerpt":
            continue
        edit = Edit("clear", entry.seq, entry.seq)
        saving = shown_tokens(entry, cell) - shown_tokens(entry, edit)
        if saving > 0:
            cells[entry.seq] = edit
            savings[index] = savings.get(index, 0) + saving
            excess -= saving
    return plan.adding("prune", cells, savings)


def _pointed_at(results: Sequence[tuple[int, Facts]], cells: Mapping[int, Edit]) -> set[int]:
    """The newest read in view that covers each superseded one."""
    shown: dict[str, list[tuple[Read, int]]] = {}
    pointed_at: set[int] = set()
    for _, entry in reversed(results):
        read = entry.read
        if read is None:
            continue
        cell = cells.get(entry.seq)
        if cell is None:
            if not entry.is_failure:
                shown.setdefault(read.path, []).append((read, entry.seq))
        elif cell.kind == "supersede":
            pointed_at.update([seq for other, seq in shown.get(read.path, ()) if other.covers(read)][:1])
    return pointed_at
