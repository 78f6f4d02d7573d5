"""Hides runs of units. The stages `truncate` and `collapse` use it; they choose the runs."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from foldline.engine.outline import Outline, shown_messages
from foldline.engine.planning.plan import Plan
from foldline.engine.policies.policy import Stage


def hide(outline: Outline, plan: Plan, start: int, stop: int, goal: int) -> Plan:
    """Hide units from `start` on until the goal is reached and the hidden units are worth a summary.

    If all units up to `stop` are not worth a summary, nothing is hidden.
    """
    stop = min(stop, outline.closed)
    return hide_to_one_of(outline, plan, "truncate", start, ends=range(start + 1, stop + 1), goal=goal)


def hide_due(outline: Outline, plan: Plan, due: int) -> Plan:
    """Hide the first `due` items: what a summary would cover. The last user message stays."""
    user = outline.last_user
    for start, most in ((0, min(due, max(user, 0))), (user + 1, min(due, outline.closed))):
        # How much of a hidden run at the end is due makes no difference.
        stop = next((stop for stop in range(most, start, -1) if not outline.is_hidden(stop - 1)), start)
        plan = hide_to_one_of(outline, plan, "truncate", start, ends=range(max(start + 1, stop), stop + 1), goal=0)
    return plan


def hide_to_one_of(outline: Outline, plan: Plan, stage: str, start: int, *, ends: Sequence[int], goal: int) -> Plan:
    """Hide units from `start` up to the first of `ends` that reaches the goal, or up to the last if none does.

    `ends` are ascending. Nothing is hidden if the goal is reached already, or if the units are not worth a summary.
    Hiding only what is hidden already would save nothing but tokens of its interim summary, so that is not done.
    """
    shown = outline.first_in_view(start)
    ends = [end for end in ends if end > shown]
    if plan.tokens <= goal or not ends:
        return plan
    tokens_hiding = plan.tokens_hiding(outline, start)

    def is_enough(end: int) -> bool:
        return tokens_hiding(end) <= goal and outline.is_worth_a_summary(start, end)

    end = ends[bisect_left(ends[:-1], x=True, key=is_enough)]
    return plan.hiding(stage, outline, start, end) if outline.is_worth_a_summary(start, end) else plan


def hide_growing_fraction(outline: Outline, plan: Plan, own: Stage, goal: int) -> Plan:
    """Hide the stage's `fraction`, or as much more of the messages after the first `keep_first` as the goal needs."""
    fraction = own.share("fraction")
    hidden = hide_fraction(outline, plan, own)
    while 0 < fraction < LARGEST_FRACTION and hidden.tokens > goal:
        fraction = min(fraction + FRACTION_STEP, LARGEST_FRACTION)
        hidden = hide_fraction(outline, plan, replace(own, parameters={**own.parameters, "fraction": fraction}))
    return hidden


def hide_fraction(outline: Outline, plan: Plan, own: Stage) -> Plan:
    """Hide the stage's `fraction` of the messages after the first `keep_first`, oldest first.

    The number of messages is rounded down to an even number, and then to whole units. The last user message is never
    hidden. Nothing is hidden if at most two messages follow the first `keep_first`.
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


# Two messages are one exchange; half of it cannot be hidden.
SMALLEST_REST = 2
# NeuroLink tries again with a tenth more, up to this fraction.
FRACTION_STEP = 0.1
LARGEST_FRACTION = 0.95


def _messages_before(outline: Outline) -> list[int]:
    """The number of messages in view before each item, and at last of all; a live summary is one, a hidden run none."""
    return list(accumulate(map(shown_messages, outline.items), initial=0))


def _last_at(before: Sequence[int], messages: int) -> int:
    """The index of the last item with at most `messages` messages before it."""
    return max(index for index, count in enumerate(before) if count <= messages)
