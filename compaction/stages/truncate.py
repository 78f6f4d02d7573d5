"""Make the view fit: hide old turns, then cut the current one down, down to the target and in whole batches."""

from __future__ import annotations

from compaction.budget import SMALLEST_SUMMARY
from compaction.edits import Edit
from compaction.excerpts import LEVELS
from compaction.outline import Outline, Summarized, Unit, shown_tokens
from compaction.plan import Parameters, Plan
from compaction.wording import marker_tokens, summary_frame_tokens


def truncate(outline: Outline, plan: Plan, parameters: Parameters) -> Plan:
    """Edit until the target is reached; nothing, while the view fits and nobody gave a target of their own.

    Order: units of older turns are hidden, oldest first; in the current turn results are cut to excerpts, the newest
    last, then arguments; then its batches are hidden, the newest complete one only if the view would not fit otherwise.
    The last user message, open batches and live summaries are never edited.
    """
    goals = parameters.goals
    if plan.tokens <= (goals.target if parameters.has_target else goals.limit):
        return plan
    end = len(outline.items)
    current = outline.last_user + 1
    plan = _hide(outline, plan, 0, max(outline.last_user, 0), goals.target)
    for level in reversed(range(len(LEVELS))):
        plan = _excerpt_results(outline, plan, current, level, goals.target)
    plan = _excerpt_arguments(outline, plan, current, goals.target)
    plan = _hide(outline, plan, current, end - 1, goals.target)
    if plan.tokens > goals.limit:
        plan = _hide(outline, plan, current, end, goals.limit)
    return plan


def _hide(outline: Outline, plan: Plan, start: int, stop: int, goal: int) -> Plan:
    """Hide units from `start` on until the goal is reached and what is hidden is worth a summary, or none."""
    chosen: list[int] = []
    tokens, originals, after_hidden = plan.tokens, 0, False
    for index in range(start, stop):
        item = outline.items[index]
        if isinstance(item, Summarized):
            originals += item.edit.original_tokens
            after_hidden = False
            continue
        if plan.is_hidden(outline, index):
            tokens -= marker_tokens() if chosen and chosen[-1] == index - 1 else 0
        else:
            if item.is_open or (tokens <= goal and (not chosen or _is_worth_a_summary(originals))):
                break
            tokens += (0 if after_hidden else marker_tokens()) - plan.shown_tokens(outline, index)
            chosen.append(index)
        after_hidden = True
        originals += item.original_tokens
    return plan.hiding("truncate", outline, chosen) if _is_worth_a_summary(originals) else plan


def _is_worth_a_summary(original_tokens: int) -> bool:
    return original_tokens > SMALLEST_SUMMARY + summary_frame_tokens()


def _excerpt_results(outline: Outline, plan: Plan, start: int, level: int, goal: int) -> Plan:
    cells: dict[int, Edit] = {}
    savings: dict[int, int] = {}
    excess = plan.tokens - goal
    for index, entry in outline.results:
        if excess <= 0:
            break
        if index < start or level >= len(entry.excerpts) or not entry.excerpts[level]:
            continue
        if plan.is_hidden(outline, index) or outline.is_open(index):
            continue
        before = plan.cell(outline, entry.seq)
        if before is not None and before.kind != "excerpt":
            continue
        edit = Edit("excerpt", entry.seq, entry.seq, level)
        saving = shown_tokens(entry, before) - shown_tokens(entry, edit)
        if saving > 0:
            cells[entry.seq] = edit
            savings[index] = savings.get(index, 0) + saving
            excess -= saving
    return plan.adding("truncate", cells, savings)


def _excerpt_arguments(outline: Outline, plan: Plan, start: int, goal: int) -> Plan:
    cells: dict[int, Edit] = {}
    savings: dict[int, int] = {}
    excess = plan.tokens - goal
    for index in range(start, len(outline.items)):
        item = outline.items[index]
        if excess <= 0 or not isinstance(item, Unit) or item.is_open:
            break
        head = item.entries[0]
        if head.arguments_saving and not plan.is_hidden(outline, index) and plan.cell(outline, head.seq) is None:
            cells[head.seq] = Edit("excerpt", head.seq, head.seq)
            savings[index] = head.arguments_saving
            excess -= head.arguments_saving
    return plan.adding("truncate", cells, savings)
