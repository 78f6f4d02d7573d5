"""Decides which items are kept recent, and how many older items a summary is due for."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from math import ceil
from operator import attrgetter
from typing import NamedTuple

from foldline.engine.facts import Facts
from foldline.engine.models.gauge import Gauge
from foldline.engine.outline import Item, Outline, Unit
from foldline.engine.planning.plan import Plan
from foldline.engine.policies.policy import Policy, Stage


def due_items(outline: Outline, policy: Policy, gauge: Gauge, *, is_asked: bool) -> int:
    """The number of items, from the oldest, that a summary is due for.

    It is 0 while the target is reached, unless a summary was requested. `outline` is counted exactly.
    """
    seen = gauge.seen(outline)
    is_due = is_asked or seen.tokens > gauge.goals.target
    goals = gauge.goals
    return older_items(seen, policy.stage("summarize"), goals.not_summarized, goals.recent_room) if is_due else 0


def last_due(outline: Outline, due: int) -> int:
    """The seq of the last entry in the first `due` items; 0 if `due` is 0."""
    return outline.items[due - 1].last if due else 0


def items_until(outline: Outline, seq: int) -> int:
    """The number of items, from the oldest, that end at or before the entry `seq`."""
    return bisect_right(outline.items, seq, key=attrgetter("last"))


def older_items(outline: Outline, own: Stage, keep_recent: int, room: int) -> int:
    """The number of items, from the oldest, that are older than the recent ones. Units are kept whole.

    Recent items are the fewest that together have all of these: `keep_messages` messages, `keep_share` of all messages,
    `keep_texts` messages with text, and `keep_tokens` tokens (else `keep_recent`, and at most `room`). They are fewer
    if they reach `keep_tokens_most` before that. With `rounds_forward`, a batch whose results alone have all that is
    older too, unless it is the last item. With `keeps_notes`, notes right before the recent items are recent too. The
    answer is 0 if the older items have less than `at_least_messages` messages.
    """
    is_enough = _enough(outline, own, keep_recent, room)
    rounds_forward = own.number("rounds_forward")
    plan = Plan(outline.tokens)
    kept = _Kept()
    index = len(outline.items)
    while index and not is_enough(kept):
        index -= 1
        item = outline.items[index]
        kept = kept.adding(item, plan.shown_tokens(outline, index))
        if rounds_forward and is_enough(kept.without(_head(outline, item))):
            index += 1
            break
    if rounds_forward:
        index = min(index, max(0, len(outline.items) - 1))
    if own.number("keeps_notes"):
        index = _before_notes(outline, index)
    older = sum(map(_messages, outline.items[:index]))
    return index if older >= own.number("at_least_messages") else 0


class _Kept(NamedTuple):
    """The sizes of the items kept so far; `texts` are messages with text."""

    tokens: int = 0
    messages: int = 0
    texts: int = 0

    def adding(self, item: Item, tokens: int) -> _Kept:
        return _Kept(self.tokens + tokens, self.messages + _messages(item), self.texts + _texts(item))

    def without(self, other: _Kept) -> _Kept:
        return _Kept(self.tokens - other.tokens, self.messages - other.messages, self.texts - other.texts)


def _enough(outline: Outline, own: Stage, keep_recent: int, room: int) -> Callable[[_Kept], bool]:
    """A test of whether the kept items are as many as the stage's parameters require."""
    tokens = min(own.number("keep_tokens", keep_recent), room)
    most = own.number("keep_tokens_most")
    total = sum(map(_messages, outline.items))
    messages = max(own.number("keep_messages"), ceil(total * own.share("keep_share")))
    texts = own.number("keep_texts")

    def is_enough(kept: _Kept) -> bool:
        is_all = kept.messages >= messages and kept.texts >= texts and kept.tokens >= tokens
        return is_all or bool(most and kept.tokens >= min(most, room))

    return is_enough


def _head(outline: Outline, item: Item) -> _Kept:
    """The size of an item's first message; a live summary is one message."""
    if not isinstance(item, Unit) or item.is_hidden:
        return _Kept().adding(item, 0)
    head = item.entries[0]
    return _Kept(outline.shown(head, outline.live.cells.get(head.seq)), 1, int(_says_something(head)))


def _before_notes(outline: Outline, index: int) -> int:
    """The index of the first of the notes right before an item; the item's own if there are none."""
    if index < len(outline.items):
        while index and _is_note(outline.items[index - 1]):
            index -= 1
    return index


def _is_note(item: Item) -> bool:
    return isinstance(item, Unit) and item.kind == "note" and not item.is_hidden


def _messages(item: Item) -> int:
    """The number of messages in an item; a live summary is one."""
    return item.messages if isinstance(item, Unit) else 1


def _texts(item: Item) -> int:
    """The number of messages with text in an item in view; a live summary is one."""
    if not isinstance(item, Unit):
        return 1
    return 0 if item.is_hidden else sum(map(_says_something, item.entries))


def _says_something(entry: Facts) -> bool:
    return entry.role != "tool" and (entry.role != "assistant" or entry.chars > 0)
