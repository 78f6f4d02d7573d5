"""What a summary leaves as it is: how many of the newest units are kept recent."""

from __future__ import annotations

from math import ceil

from compaction.facts import Facts
from compaction.gauge import Gauge
from compaction.outline import Item, Outline, Unit
from compaction.plan import Plan
from compaction.policy import Policy, Stage


def due_items(outline: Outline, policy: Policy, gauge: Gauge, *, is_asked: bool) -> int:
    """How many items, from the oldest, a summary is due for: none while the target is reached, unless asked.

    `outline` is counted exactly; the policy sees it by its gauge.
    """
    seen = outline.measured(gauge.measure)
    is_due = is_asked or seen.tokens > gauge.goals.target
    return (
        older_items(seen, policy.stage("summarize"), gauge.goals.keep_recent, gauge.goals.recent_room) if is_due else 0
    )


def older_items(outline: Outline, own: Stage, keep_recent: int, room: int) -> int:
    """How many items, from the oldest, are older than what is kept recent; whole units stay.

    Kept are so many that they have `keep_messages`, and `keep_share` of all, and `keep_texts` messages that say
    something, and `keep_tokens` (else `keep_recent`; no more than `room`); or that they have `keep_tokens_most`.
    No item is older if all of those together have less than `at_least_messages`.
    """
    tokens_kept = min(own.number("keep_tokens", keep_recent), room)
    most = own.number("keep_tokens_most")
    total = sum(map(_messages, outline.items))
    messages_kept = max(own.number("keep_messages"), ceil(total * own.share("keep_share")))
    texts_kept = own.number("keep_texts")
    plan = Plan(outline.tokens)
    tokens = messages = texts = 0
    index = len(outline.items)
    while index and not (
        (messages >= messages_kept and texts >= texts_kept and tokens >= tokens_kept)
        or (most and tokens >= min(most, room))
    ):
        index -= 1
        item = outline.items[index]
        tokens += plan.shown_tokens(outline, index)
        messages += _messages(item)
        texts += _texts(item)
    return index if total - messages >= own.number("at_least_messages") else 0


def _messages(item: Item) -> int:
    """How many messages an item is; a live summary is one."""
    return len(item.entries) if isinstance(item, Unit) else 1


def _texts(item: Item) -> int:
    return sum(map(_says_something, item.entries)) if isinstance(item, Unit) else 1


def _says_something(entry: Facts) -> bool:
    return entry.role != "tool" and (entry.role != "assistant" or entry.chars > 0)
