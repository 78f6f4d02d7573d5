"""The stage `microcompact`: clears all but the newest results of some tools."""

from __future__ import annotations

from foldline.engine.outline import Outline
from foldline.engine.planning.plan import Parameters, Plan
from foldline.engine.planning.stages.editing import clearing


def microcompact(outline: Outline, plan: Plan, parameters: Parameters) -> Plan:
    """Clear every result of `tools`, or of any tool if none is named.

    The newest `keep_results` of them stay, at least one, and so do the results of the last `keep_turns` turns.
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
    """The index of the first item of the last `turns` turns; 0 if there are no more turns than that."""
    starts = outline.turn_starts
    return starts[max(0, len(starts) - turns)] if turns and starts else len(outline.items)
