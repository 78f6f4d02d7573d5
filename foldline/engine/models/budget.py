"""What a model leaves for input, what a view takes of it, and the goals that planning works towards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil, floor
from typing import Any, Final

from foldline.engine.errors import FixedPartsDoNotFit, InvalidPolicy
from foldline.engine.models.windows import ContextWindow
from foldline.engine.policies.layouts import LAYOUTS
from foldline.engine.policies.policy import Policy
from foldline.engine.tokens.counter import unscaled
from foldline.engine.wording import summary_frame_tokens

MARGIN_SHARE: Final = 0.02
PINS_SHARE: Final = 0.10
# Of the room below the target, what is kept as it is; the rest is the summary's.
RECENT_SHARE: Final = 0.6
# The smallest text that can still say something about what it replaces.
SMALLEST_SUMMARY: Final = 32


@dataclass(frozen=True, slots=True)
class Budget:
    """What a window leaves for input, in scaled tokens: all but the reserve for the answer and the margin for error."""

    window: int
    reserve: int
    margin: int

    @property
    def limit(self) -> int:
        """Tokens left for input."""
        return self.window - self.reserve - self.margin


def budget_of(
    window: ContextWindow, max_output_tokens: int | None = None, default_reserve: int | None = None
) -> Budget:
    """The budget of a window: the reserve is what was asked for, else the default, min(64,000, 35 % of the window).

    Raises:
        InvalidPolicy: the reserve is below 0 or leaves nothing for input.
    """
    if max_output_tokens is not None and max_output_tokens < 0:
        raise InvalidPolicy("max_output_tokens", f"must be a number of tokens, not {max_output_tokens}")
    default = LAYOUTS["foldline"].reserve(window.tokens) if default_reserve is None else default_reserve
    reserve = default if max_output_tokens is None else max_output_tokens
    margin = 0 if window.is_exact else ceil(window.tokens * MARGIN_SHARE)
    budget = Budget(window.tokens, reserve, margin)
    if budget.limit <= 0:
        detail = f"an output reserve of {reserve} leaves nothing of a context window of {window.tokens} tokens"
        raise InvalidPolicy("max_output_tokens", detail)
    return budget


@dataclass(frozen=True, slots=True)
class Goals:
    """What a plan aims at, in unscaled tokens of history (the fixed parts and pins are taken off already)."""

    limit: int
    trigger: int
    target: int
    keep_recent: int
    summary_max: int
    minimum_saving: int

    @property
    def recent_room(self) -> int:
        """The most that may be kept recent, so that there is room for a summary below the target."""
        return _recent_room(self.target)

    def aiming_at(self, target: int) -> Goals:
        """The same goals with another target, within the budget; recent messages and the summary share the room."""
        target = max(0, min(target, self.limit))
        return replace(
            self,
            target=target,
            keep_recent=min(self.keep_recent, _recent_room(target)),
            summary_max=min(self.summary_max, _summary_room(target)),
        )


def goals_of(
    policy: Policy, limit: int, fixed_tokens: int, multiplier: int, *, whole: int | None = None, safety: float = 1.0
) -> Goals:
    """The goals under a policy, for a budget of `limit` scaled tokens and fixed parts of unscaled `fixed_tokens`.

    The policy's shares are of the limit, or of `whole` tokens; `safety` divides what the fixed parts leave. Where that,
    the multiplier or the buffer leaves no room for a summary below the target, the goal is the budget. What is kept
    recent and the summary share the room below the target, so that a compaction does not end above the trigger.
    """

    def share(of_budget: float) -> int:
        return unscaled(int((limit if whole is None else whole) * of_budget), multiplier)

    def room_in(tokens: int) -> int:
        return floor((tokens - fixed_tokens) / safety)

    room = room_in(unscaled(limit, multiplier))
    target, trigger = room_in(share(policy.target)), room_in(share(policy.trigger))
    # What is left free under the limit, but never more than half of it.
    ceiling = max(room - policy.buffer_tokens, room // 2)
    if trigger > ceiling > 0:
        # The target comes down with the trigger: as far below it as the shares are, or nothing would lie between them.
        target, trigger = min(target * ceiling // trigger, ceiling), ceiling
    if target < SMALLEST_SUMMARY + summary_frame_tokens():
        target = trigger = room
    return Goals(
        limit=room,
        trigger=trigger,
        target=target,
        keep_recent=min(share(policy.keep_recent), _recent_room(target)),
        summary_max=min(_summary_text(share(policy.summary_share)), _summary_room(target)),
        minimum_saving=share(policy.minimum_saving),
    )


def _recent_room(target: int) -> int:
    return max(0, int(target * RECENT_SHARE))


def _summary_room(target: int) -> int:
    return _summary_text(int(target * (1 - RECENT_SHARE)))


def _summary_text(message_tokens: int) -> int:
    """What the text of a summary may take if its message takes this."""
    return max(SMALLEST_SUMMARY, message_tokens - summary_frame_tokens())


def check_buffer(given: Mapping[str, Any] | None, limit: int) -> None:
    """Refuse a buffer that somebody asks for in a policy and that leaves nothing of a limit; a preset's own gives way.

    Raises:
        InvalidPolicy: with both figures.
    """
    buffer_tokens = (given or {}).get("buffer_tokens", 0)
    if buffer_tokens >= limit:
        detail = f"a buffer of {buffer_tokens} tokens leaves nothing of the {limit} that there are for input"
        raise InvalidPolicy("policy.buffer_tokens", detail)


def check_fixed_parts(policy: Policy, limit: int, fixed_tokens: int, multiplier: int) -> None:
    """Refuse fixed parts that leave no room for the smallest summary below the target.

    Raises:
        FixedPartsDoNotFit: with both figures.
    """
    smallest = fixed_tokens + SMALLEST_SUMMARY + summary_frame_tokens()
    target = unscaled(int(limit * policy.target), multiplier)
    if smallest > target:
        raise FixedPartsDoNotFit(smallest, target)
