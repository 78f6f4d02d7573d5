"""Replace an older read of a file by a pointer where a later successful read shows all of it."""

from __future__ import annotations

from compaction.edits import Edit
from compaction.files import Read
from compaction.outline import Outline
from compaction.plan import Parameters, Plan


def deduplicate(outline: Outline, plan: Plan, parameters: Parameters) -> Plan:
    """Supersede every read in view that a later one in view covers, where that saves tokens.

    All stay if this saves less than `minimum_saving_share` of what they take, or, where it `stops_at_target`, if that
    is reached already.
    """
    own = parameters.own
    if own.number("stops_at_target") and plan.tokens <= parameters.goals.target:
        return plan
    later: dict[str, list[Read]] = {}
    before, closed = plan.cells_on(outline), outline.closed
    cells: dict[int, Edit] = {}
    savings: dict[int, int] = {}
    superseded = 0
    for index, entry in reversed(plan.results_in_view(outline, parameters.horizon)):
        read = entry.read
        if read is None or entry.seq in before:
            continue
        reads = later.setdefault(read.path, [])
        if index < closed and reads and any(other.covers(read) for other in reads):
            edit = Edit("supersede", entry.seq, entry.seq)
            saving = entry.tokens - outline.measure.shown(entry, edit)
            if saving > 0:
                cells[entry.seq] = edit
                savings[index] = savings.get(index, 0) + saving
                superseded += outline.measure.content(entry)
                continue
        if not entry.is_failure:
            reads.append(read)
    is_enough = sum(savings.values()) >= superseded * own.share("minimum_saving_share")
    return plan.adding("deduplicate", cells, savings) if is_enough else plan
