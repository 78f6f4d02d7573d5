"""Take whole turns out of the middle."""

from __future__ import annotations

from compaction.outline import Outline
from compaction.plan import Parameters, Plan
from compaction.stages.hiding import hide_to_one_of


def collapse(outline: Outline, plan: Plan, parameters: Parameters) -> Plan:
    """Hide turns from the second one on, until the target is reached; the first and the last stay."""
    starts = outline.turn_starts
    ends = [end for end in starts[2:] if end <= outline.closed]
    if len(ends) == 0:
        return plan
    return hide_to_one_of(outline, plan, "collapse", starts[1], ends=ends, goal=parameters.goals.target)
