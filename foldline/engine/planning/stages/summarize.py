"""Ask for a summary of what is older than the policy keeps recent."""

from __future__ import annotations

from dataclasses import replace

from foldline.engine.outline import Outline
from foldline.engine.planning.plan import Parameters, Plan


def summarize(_outline: Outline, plan: Plan, parameters: Parameters) -> Plan:
    """Mark the plan as wanting a summary while the target is not reached, or, unless it `stops_at_target`, when asked.

    Which range it will cover is decided when a worker claims the job (`cut_points`): by then there may be more.
    """
    is_asked = parameters.is_asked and not parameters.own.number("stops_at_target")
    wanted = is_asked or plan.tokens > parameters.goals.target
    return replace(plan, is_summary_wanted=True) if wanted else plan
