"""Runs a policy's stages over an outline."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from compaction.budget import Goals
from compaction.outline import Outline
from compaction.plan import Parameters, Plan
from compaction.policy import Stage
from compaction.stages import STAGES


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
    policy's minimum has no edits unless the view does not fit; no plan has edits that save nothing.
    """
    plan = Plan(outline.tokens)
    if not is_asked and outline.tokens <= min(goals.trigger, goals.limit):
        return plan
    for stage in stages:
        plan = STAGES[stage.name](outline, plan, Parameters(goals, is_asked, has_target, stage.parameters))
    saving = outline.tokens - plan.tokens
    is_too_little = not is_asked and saving < goals.minimum_saving and outline.tokens <= goals.limit
    if saving <= 0 or is_too_little:
        return replace(Plan(outline.tokens), is_summary_wanted=plan.is_summary_wanted)
    return plan
