"""Clear all but the newest results of some tools."""

from __future__ import annotations

from foldline.engine.outline import Outline
from foldline.engine.planning.plan import Parameters, Plan
from foldline.engine.planning.stages.editing import clearing


def microcompact(outline: Outline, plan: Plan, parameters: Parameters) -> Plan:
    """Clear every result of `tools` (of any, if none is named), but for the newest `keep_results`, of which one stays.

    What belongs to the last `keep_turns` turns stays too.
    """
    if plan.tokens <= parameters.goals.target:
        return plan
    own = parameters.own
    tools = own.names("tools")
    older = min(_turn_start(outline, own.number("keep_turns")), outline.closed)
    in_view = plan.results_in_view(outline)
    results = [(index, entry) for index, entry in in_view if not tools or entry.tool.lower() in tools]
    chosen = results[: -max(1, own.number("keep_results"))]
    return clearing(outline, plan, "microcompact", ((index, entry) for index, entry in chosen if index < older))


def _turn_start(outline: Outline, turns: int) -> int:
    """The index at which so many last turns begin; 0 if there are no more."""
    starts = outline.turn_starts
    return starts[max(0, len(starts) - turns)] if turns and starts else len(outline.items)
