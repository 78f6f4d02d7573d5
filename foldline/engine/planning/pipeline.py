"""Runs a policy's stages over an outline."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias

from foldline.engine.edits import Edit
from foldline.engine.models.budget import Goals
from foldline.engine.models.gauge import Gauge
from foldline.engine.outline import Outline
from foldline.engine.planning.plan import Parameters, Plan
from foldline.engine.planning.stages import STAGES
from foldline.engine.planning.stages.truncate import fit
from foldline.engine.policies.policy import Stage

# Called after each stage that was run, with its name and the unscaled tokens that its edits would take out of the view.
StageListener: TypeAlias = Callable[[str, int], object]


def _ignore(_stage: str, _tokens_saved: int) -> None:
    """For those who do not want to know."""


def make_plan(
    outline: Outline,
    stages: Iterable[Stage],
    goals: Goals,
    *,
    is_asked: bool = False,
    has_target: bool = False,
    on_stage: StageListener = _ignore,
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
        before = plan.tokens
        plan = STAGES[stage.name](outline, plan, Parameters(goals, is_asked, has_target, stage, horizon))
        on_stage(stage.name, before - plan.tokens)
    if plan.tokens > goals.limit and all(stage.name != "truncate" for stage in stages):
        before = plan.tokens
        plan = fit(outline, plan, goals)
        on_stage("truncate", before - plan.tokens)
    saving = outline.tokens - plan.tokens
    is_too_little = not is_asked and saving < goals.minimum_saving and outline.tokens <= goals.limit
    if saving <= 0 or is_too_little:
        return replace(Plan(outline.tokens), is_summary_wanted=plan.is_summary_wanted)
    return plan


@dataclass(frozen=True, slots=True)
class Planned:
    """What to do with an outline, and the outline after it; both are counted exactly."""

    outline: Outline
    edits: tuple[Edit, ...] = ()
    stages_used: tuple[str, ...] = ()
    is_summary_wanted: bool = False


def plan_for(
    outline: Outline,
    stages: Iterable[Stage],
    goals: Goals,
    gauge: Gauge,
    *,
    is_asked: bool = False,
    has_target: bool = False,
    on_stage: StageListener = _ignore,
) -> Planned:
    """The plan of these stages as a policy sees the outline by its gauge, made to fit by the exact count.

    `goals` are exact; nothing is done that does not make the view smaller by that.
    """
    stages = list(stages)
    seen = gauge.seen(outline)
    plan = make_plan(seen, stages, gauge.goals, is_asked=is_asked, has_target=has_target, on_stage=on_stage)
    is_too_little = not is_asked and seen.tokens - plan.tokens < gauge.goals.minimum_saving
    edits, used = plan.edits, plan.stages_used
    if is_too_little and outline.tokens <= goals.limit:
        # By the estimate it may be too much, but it fits.
        return Planned(outline, is_summary_wanted=plan.is_summary_wanted)
    after = outline.edited(edits) if edits else outline
    has_target = has_target and any(stage.name == "truncate" for stage in stages)
    if after.tokens > (goals.target if has_target else goals.limit):
        fitted = fit(after, Plan(after.tokens), goals, has_target=has_target)
        on_stage("truncate", after.tokens - fitted.tokens)
        if fitted.edits:
            edits, used = (*edits, *fitted.edits), tuple(dict.fromkeys((*used, *fitted.stages_used)))
            after = after.edited(fitted.edits)
    if not edits or after.tokens >= outline.tokens:
        return Planned(outline, is_summary_wanted=plan.is_summary_wanted)
    return Planned(after, edits, used, plan.is_summary_wanted)


def _horizon(outline: Outline, stages: Iterable[Stage], goals: Goals, *, has_target: bool) -> int:
    """Where what may still be in view begins: if `truncate` will have to act at all, it hides down to the target."""
    is_certain = outline.sums.least[0] > (goals.target if has_target else goals.limit)
    is_hiding = is_certain and any(stage.name == "truncate" for stage in stages)
    return outline.sums.horizon(goals.target) if is_hiding else 0
