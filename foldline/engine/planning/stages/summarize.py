"""The stage `summarize`: requests a summary of the messages that are older than the recent ones."""

from __future__ import annotations

from dataclasses import replace

from foldline.engine.outline import Outline
from foldline.engine.planning.plan import Parameters, Plan


def summarize(_outline: Outline, plan: Plan, parameters: Parameters) -> Plan:
    """Mark the plan as wanting a summary if the target is not reached.

    Without `stops_at_target`, a requested compaction always wants one, unless the request gave a target. `cut_points`
    decides the range of the summary when a worker claims the job, since more messages may have arrived by then.
    """
    is_asked = parameters.is_asked and not (parameters.has_target or parameters.own.number("stops_at_target"))
    wanted = is_asked or plan.tokens > parameters.goals.target
    return replace(plan, is_summary_wanted=True) if wanted else plan
