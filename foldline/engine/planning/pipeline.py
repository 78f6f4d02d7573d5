"""Runs the stages of a policy on an outline; the stages themselves are in `stages`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, NamedTuple, TypeAlias

from foldline.engine.edits import Edit
from foldline.engine.models.budget import Goals
from foldline.engine.models.gauge import Gauge
from foldline.engine.models.prices import CacheRates
from foldline.engine.outline import Outline
from foldline.engine.planning.given_back import giving_back
from foldline.engine.planning.plan import Parameters, Plan
from foldline.engine.planning.prefix_price import pays
from foldline.engine.planning.recent import older_items
from foldline.engine.planning.stages import STAGES
from foldline.engine.planning.stages.hiding import hide_due
from foldline.engine.planning.stages.truncate import cut_results, fit
from foldline.engine.policies.policy import Stage

# Stages that take messages out of the view.
HIDING: Final = frozenset({"collapse", "truncate"})
# Called after each stage with its name and the unscaled tokens that its edits save.
StageListener: TypeAlias = Callable[[str, int], object]


def _ignore(_stage: str, _tokens_saved: int) -> None:
    """Listen to no stage."""


def make_plan(
    outline: Outline,
    stages: Iterable[Stage],
    goals: Goals,
    *,
    is_asked: bool = False,
    has_target: bool = False,
    on_stage: StageListener = _ignore,
) -> Plan:
    """The plan of these stages, in the measure of the outline.

    An automatic plan is empty while the view is under the trigger. If the view fits, it also has no edits when they
    would save less than the policy's minimum. No plan has edits that save nothing. If the stages leave the view over
    the budget, it is truncated even if `truncate` is not among them.
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
        # Without these edits, the view is over the target as before.
        is_wanted = outline.tokens > goals.target and any(stage.name == "summarize" for stage in stages)
        return replace(Plan(outline.tokens), is_summary_wanted=plan.is_summary_wanted or is_wanted)
    return plan


@dataclass(frozen=True, slots=True)
class Planned:
    """The edits of a plan, and the exactly counted outline after them."""

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
    """The plan of these stages by the policy's gauge, then made to fit by the exact count.

    `outline` and `goals` are counted exactly. There are no edits if they would not make the view smaller by that count.
    An estimate decides when to compact, and which contents give way, but never what leaves the view: stages that hide
    act on the exact count, and only after all that a summary is due for is hidden. Where the goals have rates, an
    automatic plan of a view that fits has edits only if they pay for the changed prefix. What the target that a caller
    named has room for is given back.
    """
    stages = list(stages)
    seen = gauge.seen(outline)
    is_estimate, is_urgent = gauge.measure is not outline.measure, outline.tokens > goals.limit
    acting = [stage for stage in stages if not (is_estimate and stage.name in HIDING)]
    aims = gauge.lowered_to(goals, outline) if is_urgent and not has_target else gauge.goals
    aims = aims.of_edits(is_urgent=is_urgent) if is_estimate else aims
    plan = make_plan(seen, acting, aims, is_asked=is_asked, has_target=has_target, on_stage=on_stage)
    edits, used = plan.edits, plan.stages_used
    is_too_little = not is_asked and seen.tokens - plan.tokens < gauge.goals.minimum_saving
    if is_too_little and outline.tokens <= goals.limit:
        # The estimate may say that the view is too large, but it fits.
        return Planned(outline, is_summary_wanted=plan.is_summary_wanted)
    after = outline.edited(edits) if edits else outline
    is_free = is_asked or outline.tokens > goals.limit or not edits
    if not (is_free or _is_worth_its_prefix(plan, outline, after, goals.rates)):
        return Planned(outline, is_summary_wanted=plan.is_summary_wanted)
    left = [stage for stage in stages if stage not in acting]
    reaches_target = has_target and any(stage.name == "truncate" for stage in stages)
    is_over = gauge.seen(after, outline).tokens > min(aims.trigger, aims.limit)
    due = [*_hiding_due(stages, goals, gauge, is_over=is_over)] if is_urgent and not has_target else []
    parameters = Parameters(goals, is_asked, reaches_target, Stage("truncate"))
    if due and is_estimate:
        # Its program would hide no more, so what is hidden beyond that has to be little.
        left, parameters = [], replace(parameters, goals=goals_beyond_due(goals, gauge, outline))
    for fitted in _fitting(after, (*due, *_hiding(left, parameters)), on_stage):
        edits, used = (*edits, *fitted.edits), tuple(dict.fromkeys((*used, *fitted.stages_used)))
        after = after.edited(fitted.edits)
    is_summary_wanted = plan.is_summary_wanted
    if has_target and edits:
        kept = giving_back(outline, edits, after, goals, gauge)
        if len(kept) < len(edits):
            edits, after = tuple(kept), outline.edited(kept)
            # A summary would take out again what was given back.
            is_summary_wanted = is_summary_wanted and bool(after.pending_tokens)
    if not edits or after.tokens >= outline.tokens:
        return Planned(outline, is_summary_wanted=is_summary_wanted)
    return Planned(after, edits, used, is_summary_wanted)


def goals_beyond_due(goals: Goals, gauge: Gauge, outline: Outline) -> Goals:
    """The goals of what makes a view fit beyond what its summary is due for; all but the gauge count exactly.

    What the program of a policy with a count of its own would keep goes only as far as the trigger.
    """
    if gauge.measure is outline.measure:
        return goals
    return replace(goals, target=max(goals.target, min(goals.trigger, goals.limit)))


class Hiding(NamedTuple):
    """What hides units or cuts results: its stage, and the plan that it makes of a view of more tokens than `most`.

    All is counted exactly.
    """

    stage: str
    most: int
    plan: Callable[[Outline], Plan]


def _hiding_due(stages: Iterable[Stage], goals: Goals, gauge: Gauge, *, is_over: bool) -> Iterator[Hiding]:
    """What hides all that a summary would cover now, if one of the stages is `summarize`, and then cuts long results.

    A view that did not fit and is over the trigger still (`is_over`) would be edited again before its summary is there.
    It is so by the policy's own count: its program would summarize only what is over its trigger after other stages.
    """
    recent, room = gauge.goals.not_summarized, gauge.goals.recent_room

    def plan(outline: Outline, own: Stage) -> Plan:
        return hide_due(outline, Plan(outline.tokens), older_items(gauge.seen(outline), own, recent, room))

    within = min(goals.trigger, goals.limit)

    def cut(outline: Outline) -> Plan:
        return cut_results(outline, Plan(outline.tokens), 0, within)

    for own in stages:
        if own.name == "summarize":
            yield Hiding("truncate", within if is_over else goals.limit, partial(plan, own=own))
            # What is left is recent: a long result is cut before any of it goes.
            yield Hiding("truncate", goals.limit, cut)


def _hiding(stages: Iterable[Stage], parameters: Parameters) -> Iterator[Hiding]:
    """What these stages hide, and at last what `truncate` does without parameters, as every view has to fit."""

    def plan(outline: Outline, own: Stage) -> Plan:
        return STAGES[own.name](outline, Plan(outline.tokens), replace(parameters, own=own))

    most = parameters.goals.target if parameters.has_target else parameters.goals.limit
    return (Hiding(own.name, most, partial(plan, own=own)) for own in (*stages, parameters.own))


def _fitting(outline: Outline, hiding: Iterable[Hiding], on_stage: StageListener) -> Iterator[Plan]:
    """The plans with which these make the view smaller, each made on the view as it is then."""
    for stage, most, plan_of in hiding:
        if outline.tokens > most:
            plan = plan_of(outline)
            on_stage(stage, outline.tokens - plan.tokens)
            if plan.edits and plan.tokens < outline.tokens:
                yield plan
                outline = outline.edited(plan.edits)


def _is_worth_its_prefix(plan: Plan, before: Outline, after: Outline, rates: CacheRates | None) -> bool:
    """Whether the edits of an automatic plan are made now. A summary would soon change the same prefix again."""
    return rates is None or (not plan.is_summary_wanted and pays(before, after, plan.edits, rates))


def _horizon(outline: Outline, stages: Iterable[Stage], goals: Goals, *, has_target: bool) -> int:
    """The first item that may stay in view; 0 unless `truncate` is certain to act, and then to hide older items."""
    most = goals.target if has_target else goals.limit
    is_hiding = any(stage.name == "truncate" for stage in stages)
    return outline.horizon(goals.target) if is_hiding and outline.horizon(most) else 0
