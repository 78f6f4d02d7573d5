"""Runs a policy's stages over an outline."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from compaction.budget import Goals
from compaction.outline import Outline
from compaction.plan import Parameters, Plan
from compaction.policy import Stage
from compaction.stages import STAGES
from compaction.stages.truncate import fit


def make_plan(
    outline: Outline,
    stages: Iterable[Stage],
    goals: Goals,
    *,
    is_asked: bool = False,
    has_target: bool = False,
) -> Plan:
    """The plan of these stages.

    It is empty while the view is under the trigger and nobody asked. An automatic plan that saves less than the
    policy's minimum has no edits unless the view does not fit; no plan has edits that save nothing. A view that these
    stages leave over the budget is truncated, whether or not that is one of them.
    """
    plan = Plan(outline.tokens)
    if not is_asked and outline.tokens <= min(goals.trigger, goals.limit):
        return plan
    stages = list(stages)
    horizon = _horizon(outline, stages, goals, has_target=has_target)
    for stage in stages:
        plan = STAGES[stage.name](outline, plan, Parameters(goals, is_asked, has_target, stage, horizon))
    if plan.tokens > goals.limit and all(stage.name != "truncate" for stage in stages):
        plan = fit(outline, plan, goals)
    saving = outline.tokens - plan.tokens
    is_too_little = not is_asked and saving < goals.minimum_saving and outline.tokens <= goals.limit
    if saving <= 0 or is_too_little:
        return replace(Plan(outline.tokens), is_summary_wanted=plan.is_summary_wanted)
    return plan


def _horizon(outline: Outline, stages: Iterable[Stage], goals: Goals, *, has_target: bool) -> int:
    """Where what may still be in view begins: if `truncate` will have to act at all, it hides down to the target."""
    is_certain = outline.sums.least[0] > (goals.target if has_target else goals.limit)
    is_hiding = is_certain and any(stage.name == "truncate" for stage in stages)
    return outline.sums.horizon(goals.target) if is_hiding else 0
