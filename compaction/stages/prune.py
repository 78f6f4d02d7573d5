"""Clear old tool results, oldest first, until the target is reached."""

from __future__ import annotations

from compaction.edits import Edit
from compaction.files import Read
from compaction.outline import Outline, shown_tokens
from compaction.plan import Parameters, Plan


def prune(outline: Outline, plan: Plan, parameters: Parameters) -> Plan:
    """Clear results of at least `minimum_tokens` that are older than what the policy keeps recent.

    A read that older, superseded ones point to stays: the pointers would point at nothing.
    """
    goals = parameters.goals
    excess = plan.tokens - goals.target
    older = plan.older_than(outline, goals.keep_recent) if excess > 0 else 0
    pointed_at = _pointed_at(outline, plan) if older else frozenset()
    minimum = parameters.own.get("minimum_tokens", 0)
    cells: dict[int, Edit] = {}
    savings: dict[int, int] = {}
    for index, entry in outline.results:
        if index >= older or excess <= 0:
            break
        if entry.tokens < minimum or entry.seq in pointed_at or outline.is_open(index):
            continue
        before = plan.cell(outline, entry.seq)
        if before is not None and before.kind != "excerpt":
            continue
        edit = Edit("clear", entry.seq, entry.seq)
        saving = shown_tokens(entry, before) - shown_tokens(entry, edit)
        if saving > 0:
            cells[entry.seq] = edit
            savings[index] = savings.get(index, 0) + saving
            excess -= saving
    return plan.adding("prune", cells, savings)


def _pointed_at(outline: Outline, plan: Plan) -> frozenset[int]:
    """The newest read in view that covers each superseded one."""
    shown: dict[str, list[tuple[Read, int]]] = {}
    pointed_at: set[int] = set()
    for _, entry in reversed(outline.results):
        if entry.read is None:
            continue
        reads = shown.setdefault(entry.read.path, [])
        cell = plan.cell(outline, entry.seq)
        if cell is None and not entry.is_failure:
            reads.append((entry.read, entry.seq))
        elif cell is not None and cell.kind == "supersede":
            pointed_at.update([seq for read, seq in reads if read.covers(entry.read)][:1])
    return frozenset(pointed_at)
