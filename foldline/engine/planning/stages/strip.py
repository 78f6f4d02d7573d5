"""The stage `strip`: clears long results of older messages."""

from __future__ import annotations

from foldline.engine.outline import Outline, Unit
from foldline.engine.planning.plan import Parameters, Plan
from foldline.engine.planning.stages.editing import clearing


def strip(outline: Outline, plan: Plan, parameters: Parameters) -> Plan:
    """Clear results of more than `longer_than_chars` characters, except among the newest `keep_messages` messages."""
    if plan.tokens <= parameters.goals.target:
        return plan
    own = parameters.own
    shown = (item for item in outline.items if isinstance(item, Unit) and not item.is_hidden)
    seqs = [entry.seq for unit in shown for entry in unit.entries]
    kept = {*seqs[max(0, len(seqs) - own.number("keep_messages")) :]}
    longer = own.number("longer_than_chars")
    chosen = (
        (index, entry)
        for index, entry in plan.results_in_view(outline)
        if index < outline.closed and entry.chars > longer and entry.seq not in kept
    )
    return clearing(outline, plan, "strip", chosen)
