"""The stage `deduplicate`: replaces a read of a file by a pointer if a later successful read shows all of it."""

from __future__ import annotations

from foldline.engine.edits import Edit
from foldline.engine.files import Read
from foldline.engine.outline import Outline
from foldline.engine.planning.plan import Parameters, Plan
from foldline.engine.planning.stages.reads import read_shown, stands_in


def deduplicate(outline: Outline, plan: Plan, parameters: Parameters) -> Plan:
    """Supersede every read in view that a later read in view covers, if that saves tokens.

    With a `minimum_saving_share`, either all of them are superseded or, if that saves less than this share of their
    tokens together, none. With `stops_at_target`, nothing is done if the target is reached already. With `by_words`,
    results of other tools are reads too if their first line says so.
    """
    own = parameters.own
    by_words = bool(own.number("by_words"))
    least_share = own.share("minimum_saving_share")
    if own.number("stops_at_target") and plan.tokens <= parameters.goals.target:
        return plan
    later: dict[tuple[str, str], list[tuple[Read, int]]] = {}
    before, closed = plan.cells_on(outline), outline.closed
    cells: dict[int, Edit] = {}
    savings: dict[int, int] = {}
    superseded = 0
    for index, entry in reversed(plan.results_in_view(outline, parameters.horizon)):
        if entry.seq in before:
            continue
        found = read_shown(entry, by_words=by_words)
        if found is None:
            continue
        reads, size, read = later.setdefault(found.key, []), outline.measure.content(entry), found.read
        if index < closed and any(stands_in(other, other_size, read, size) for other, other_size in reads):
            edit = Edit("supersede", entry.seq, entry.seq)
            saving = outline.shown(entry, None) - outline.shown(entry, edit)
            if saving > 0 or least_share:
                cells[entry.seq] = edit
                savings[index] = savings.get(index, 0) + saving
                superseded += size
                continue
        if not entry.is_failure:
            reads.append((read, size))
    is_enough = sum(savings.values()) >= superseded * least_share
    return plan.adding("deduplicate", cells, savings) if is_enough else plan
