"""Hiding runs of units, for the stages that differ only in which, and how far."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from foldline.engine.outline import Outline, Unit
from foldline.engine.planning.plan import Plan
from foldline.engine.policies.policy import Stage


def hide(outline: Outline, plan: Plan, start: int, stop: int, goal: int) -> Plan:
    """Hide units from `start` on until the goal is reached and what is hidden is worth a summary, or none."""
    stop = min(stop, outline.closed)
    return hide_to_one_of(outline, plan, "truncate", start, ends=range(start + 1, stop + 1), goal=goal)


def hide_to_one_of(outline: Outline, plan: Plan, stage: str, start: int, *, ends: Sequence[int], goal: int) -> Plan:
    """Hide units from `start` up to the first of these ends, ascending, that reaches the goal, or else up to the last.

    Nothing is hidden where the goal is reached already, or what would be is not worth a summary.
    """
    if plan.tokens <= goal or not ends:
        return plan
    tokens_hiding = plan.tokens_hiding(outline, start)

    def is_enough(end: int) -> bool:
        return tokens_hiding(end) <= goal and outline.is_worth_a_summary(start, end)

    end = ends[bisect_left(ends[:-1], x=True, key=is_enough)]
    return plan.hiding(stage, outline, start, end) if outline.is_worth_a_summary(start, end) else plan


def slide(outline: Outline, plan: Plan, own: Stage) -> Plan:
    """Hide the stage's `fraction` of the messages after its first `keep_first`, oldest first.

    The number of messages is rounded down to an even one, and then to whole units. What is hidden ends before the last
    user message or comes after it. A history of no more than two messages beside those that stay is left alone, as that
    would be no fraction of it.
    """
    fraction, kept = own.share("fraction"), own.number("keep_first")
    before = _messages_before(outline)
    rest = before[-1] - kept
    removable = int(rest * fraction) // 2 * 2
    if removable <= 0 or rest <= SMALLEST_REST:
        return plan
    start = bisect_left(before, kept)
    barrier = outline.last_user if outline.last_user >= start else outline.closed
    stop = min(_last_at(before, before[start] + removable), barrier)
    return hide_to_one_of(outline, plan, "truncate", start, ends=range(max(start + 1, stop), stop + 1), goal=0)


# A first exchange and one more: there is no middle to take anything from.
SMALLEST_REST = 2


def _messages_before(outline: Outline) -> list[int]:
    """How many messages there are before each item, and in all; a live summary is one."""
    before = [0]
    for item in outline.items:
        before.append(before[-1] + (len(item.entries) if isinstance(item, Unit) else 1))
    return before


def _last_at(before: Sequence[int], messages: int) -> int:
    """The last item that has no more than so many messages before it."""
    return max(index for index, count in enumerate(before) if count <= messages)
