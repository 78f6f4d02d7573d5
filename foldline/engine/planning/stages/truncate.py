"""The stage `truncate`: makes the view fit. It hides old turns and then cuts the current turn."""

from __future__ import annotations

from foldline.engine.edits import Edit
from foldline.engine.models.budget import Goals
from foldline.engine.outline import Outline, Summarized
from foldline.engine.planning.plan import Parameters, Plan
from foldline.engine.planning.stages.editing import excerpting
from foldline.engine.planning.stages.hiding import hide, hide_growing_fraction
from foldline.engine.policies.policy import Stage
from foldline.engine.tokens.excerpts import LEVELS
from foldline.engine.wording import summary_frame_tokens


def truncate(outline: Outline, plan: Plan, parameters: Parameters) -> Plan:
    """Edit until the target is reached. A view that fits stays as it is, unless the request gave a target.

    It goes through these steps in order. If the stage has a `fraction`, that is hidden, and as much more as it takes,
    but for the first `keep_first` messages; if that is enough, nothing else is done. Units of older turns are hidden,
    oldest first. In the current turn, results are cut to excerpts, oldest first, then arguments of calls.
    Batches of the current turn are hidden, the newest complete one only if the view would not fit otherwise. The last
    user message, open batches and live summaries are never edited.
    """
    goals = parameters.goals
    most = goals.target if parameters.has_target else goals.limit
    if plan.tokens <= most:
        return plan
    plan = hide_growing_fraction(outline, plan, parameters.own, most)
    if plan.tokens <= most and plan.hidden:
        return plan
    end = len(outline.items)
    current = outline.last_user + 1
    in_reach = max(current, parameters.horizon)
    # What is hidden to reach a caller's target comes back as a summary, for which there has to be room.
    room = goals.summary_max + summary_frame_tokens() if parameters.has_target else 0
    plan = hide(outline, plan, 0, max(outline.last_user, 0), goals.target - room)
    goal = goals.target - room if plan.hidden or outline.pending_tokens else goals.target
    plan = cut_results(outline, plan, in_reach, goal)
    plan = _excerpt_arguments(outline, plan, in_reach, goal)
    if plan.tokens > goal:
        plan = hide(outline, plan, current, end - 1, goals.target - room)
    if plan.tokens > goals.limit:
        plan = hide(outline, plan, current, end, goals.limit)
    return plan


def fit(outline: Outline, plan: Plan, goals: Goals, *, has_target: bool = False) -> Plan:
    """The plan after `truncate` with default parameters, for policies without this stage: every view has to fit."""
    return truncate(outline, plan, Parameters(goals, is_asked=False, has_target=has_target, own=Stage("truncate")))


def cut_results(outline: Outline, plan: Plan, start: int, goal: int) -> Plan:
    """Cut results from item `start` on until the goal is reached: oldest first, to ever shorter excerpts."""
    results = [(index, entry) for index, entry in plan.results_in_view(outline, start) if index < outline.closed]
    for level in reversed(range(len(LEVELS))):
        excess = max(0, plan.tokens - goal)
        plan = excerpting(outline, plan, "truncate", results, level, enough_tokens=excess)
    return plan


def _excerpt_arguments(outline: Outline, plan: Plan, start: int, goal: int) -> Plan:
    before = plan.cells_on(outline)
    cells: dict[int, Edit] = {}
    savings: dict[int, int] = {}
    excess = plan.tokens - goal
    for index in range(start, outline.closed):
        item = outline.items[index]
        if excess <= 0:
            break
        if isinstance(item, Summarized) or item.is_hidden or plan.hides_item(index):
            continue
        head = item.entries[0]
        if head.arguments_saving and head.seq not in before:
            cells[head.seq] = Edit("excerpt", head.seq, head.seq)
            savings[index] = head.arguments_saving
            excess -= head.arguments_saving
    return plan.adding("truncate", cells, savings)
