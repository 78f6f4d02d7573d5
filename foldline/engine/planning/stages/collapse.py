"""The stage `collapse`: hides whole turns in the middle."""

from __future__ import annotations

from foldline.engine.outline import Outline
from foldline.engine.planning.plan import Parameters, Plan
from foldline.engine.planning.stages.hiding import hide_to_one_of


def collapse(outline: Outline, plan: Plan, parameters: Parameters) -> Plan:
    """Hide turns from the second one on, until the target is reached; the first and the last stay."""
    _, *starts = outline.turn_starts or [0]
    if len(starts) <= 1:
        return plan
    return hide_to_one_of(outline, plan, "collapse", starts[0], ends=starts[1:], goal=parameters.goals.target)
