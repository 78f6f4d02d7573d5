"""Checks of the policy fields that a caller gave, in a window. What a preset has itself is adapted instead."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import floor
from typing import Any, Final, NamedTuple

from foldline.engine.errors import InvalidPolicy
from foldline.engine.models.budget import check_buffer
from foldline.engine.models.gauge import Frame, layout_of
from foldline.engine.policies.policy import Policy
from foldline.engine.policies.presets import PRESETS
from foldline.engine.tokens.estimates import EXACT

SHARES_OF_ROOM: Final = ("trigger", "target")


def check_given(policy: Policy, given: Mapping[str, Any] | None, frame: Frame) -> None:
    """Refuse fields given for this policy that cannot work in the frame's window.

    Raises:
        InvalidPolicy: the buffer leaves nothing, no view that fits reaches the trigger or target, or the target is
            above the trigger. The message has the figures.
    """
    limit = frame.budget(policy).limit
    check_buffer(given, limit)
    preset = PRESETS[policy.preset]
    named = [name for name in SHARES_OF_ROOM if name in (given or {})]
    # Whoever sends a session's policy back has all of its fields.
    changed = [name for name in SHARES_OF_ROOM if getattr(policy, name) != getattr(preset, name)]
    if named and changed:
        _check_reach(policy, [name for name in named if name in changed], limit, _room(policy, frame, limit))
        _check_order(policy)


class _Room(NamedTuple):
    """Tokens by the policy's own count: `whole`, of which trigger and target are shares, and what a buffer leaves."""

    whole: int
    below_buffer: int


def _room(policy: Policy, frame: Frame, limit: int) -> _Room:
    window = frame.window(policy).tokens
    layout = layout_of(policy, window)
    available = layout.available(window, layout.output_of(frame.model, frame.max_output_tokens))
    room = limit if policy.counter == EXACT else floor(available / layout.safety)
    whole, buffer = window if layout.of_window else room, policy.buffer_tokens
    return _Room(whole, max(room - buffer, room // 2) if buffer else whole)


def _check_reach(policy: Policy, names: Iterable[str], limit: int, room: _Room) -> None:
    for name in names:
        share = getattr(policy, name)
        tokens = min(int(room.whole * share), room.below_buffer)
        if tokens > limit:
            most = floor(limit / room.whole * 1_000) / 1_000
            detail = (
                f"{share} of {room.whole} tokens is {tokens}, and views have at most {limit}; here, {most} is the most"
            )
            raise InvalidPolicy(f"policy.{name}", detail)


def _check_order(policy: Policy) -> None:
    if policy.target > policy.trigger:
        detail = (
            f"must not be above the trigger {policy.trigger}, but is {policy.target}; where one is changed, give both"
        )
        raise InvalidPolicy("policy.target", detail)
