"""The budget that a context window leaves for input, and the goals of plans within it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil, floor
from typing import Any, Final, NamedTuple

from foldline.engine.errors import FixedPartsDoNotFit, InvalidPolicy
from foldline.engine.models.prices import USUAL_RATES, CacheRates
from foldline.engine.models.windows import ContextWindow
from foldline.engine.policies.layouts import LAYOUTS
from foldline.engine.policies.policy import Policy
from foldline.engine.tokens.counter import unscaled
from foldline.engine.wording import summary_frame_tokens

MARGIN_SHARE: Final = 0.02
PINS_SHARE: Final = 0.10
# The share of the room below the target for recent messages; the rest is for the summary.
RECENT_SHARE: Final = 0.6
# The same for a target that a caller named: most of it is for messages, as the view should fill it.
NAMED_RECENT_SHARE: Final = 0.8
# A compaction that a caller asks for aims at most at this share of the view (NeuroLink's manual compaction at 60 %).
ASKED_SHARE: Final = 0.6
# Its target is never smaller than this: a short conversation that is asked for again and again keeps its newest turns.
LEAST_ASKED_TARGET: Final = 1_500
# `least_target_tokens` is at most this share of the room, and fixed parts may take this share of the budget.
LEAST_TARGET_SHARE: Final = 0.5
# A limit that no history reaches.
UNBOUNDED: Final = 1 << 53
# The smallest summary that still says something about the messages it replaces, in tokens.
SMALLEST_SUMMARY: Final = 32


@dataclass(frozen=True, slots=True)
class Budget:
    """A window and its division, in scaled tokens: the output reserve, the margin for error, and the rest for input."""

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
    """The budget of a window.

    The reserve is `max_output_tokens` if given, else `default_reserve`, else min(64,000, 35 % of the window), and at
    least what the provider keeps of the window for answers.

    Raises:
        InvalidPolicy: the reserve is below 0 or leaves nothing for input.
    """
    if max_output_tokens is not None and max_output_tokens < 0:
        raise InvalidPolicy("max_output_tokens", f"must be a number of tokens, not {max_output_tokens}")
    default = LAYOUTS["foldline"].reserve(window.tokens) if default_reserve is None else default_reserve
    reserve = max(default if max_output_tokens is None else max_output_tokens, window.answer)
    margin = 0 if window.is_exact else ceil(window.tokens * MARGIN_SHARE)
    budget = Budget(window.tokens, reserve, margin)
    if budget.limit <= 0:
        detail = f"an output reserve of {reserve} leaves nothing of a context window of {window.tokens} tokens"
        raise InvalidPolicy("max_output_tokens", detail)
    return budget


class NamedTarget(NamedTuple):
    """A target for a whole view that a caller named, and the tokens that no compaction brings that view below."""

    tokens: int
    least_tokens: int

    def answered(self, tokens_after: int) -> dict[str, Any]:
        """The target as an answer shows it, and whether a view of `tokens_after` reaches it."""
        return {**self._asdict(), "reached": tokens_after <= self.tokens}


@dataclass(frozen=True, slots=True)
class Goals:
    """The goals of a plan, in unscaled tokens of history: fixed parts and pins are already subtracted.

    With `rates`, automatic edits of a view that fits have to be worth the prefix that they change. `is_named`: a caller
    named the target.
    """

    limit: int
    trigger: int
    target: int
    keep_recent: int
    summary_max: int
    minimum_saving: int
    rates: CacheRates | None = None
    is_named: bool = False

    @property
    def recent_room(self) -> int:
        """The most tokens that may be kept recent, so that a summary still fits below the target."""
        return _recent_room(self.target, NAMED_RECENT_SHARE if self.is_named else RECENT_SHARE)

    @property
    def not_summarized(self) -> int:
        """The tokens of the newest messages that a summary leaves as they are; they fill a target that was named."""
        return self.recent_room if self.is_named else self.keep_recent

    def of_edits(self, *, is_urgent: bool) -> Goals:
        """The goals of edits that hide nothing, which no limit bounds; if they are urgent, each saving is enough."""
        least = 0 if is_urgent else self.minimum_saving
        return replace(self, limit=UNBOUNDED, trigger=min(self.trigger, self.limit), minimum_saving=least)

    def aiming_at(self, target: int) -> Goals:
        """The same goals with a target that a caller named, at most the budget.

        A summary leaves as many recent messages as there is room for beside it.
        """
        target = max(0, min(target, self.limit))
        return replace(
            self,
            target=target,
            keep_recent=min(self.keep_recent, _recent_room(target)),
            summary_max=min(self.summary_max, _summary_room(target, NAMED_RECENT_SHARE)),
            is_named=True,
        )

    def when_asked(self, tokens: int) -> Goals:
        """The goals of a compaction that a caller asked for, when the history had `tokens`.

        Below the trigger, the target is in proportion: as far below the view as it is below the trigger otherwise. Less
        stays recent then, but a summary may take what the policy gives it, so that requests in a row lose nothing. The
        goals stay as they are if the target leaves no room for a summary.
        """
        share = min(self.target / max(1, self.trigger), ASKED_SHARE)
        target = min(self.target, max(int(min(tokens, self.trigger) * share), LEAST_ASKED_TARGET))
        if target < SMALLEST_SUMMARY + summary_frame_tokens():
            return self
        return replace(
            self,
            target=target,
            keep_recent=min(self.keep_recent, _recent_room(target)),
        )


def goals_of(
    policy: Policy,
    limit: int,
    fixed_tokens: int,
    multiplier: int,
    *,
    whole: int | None = None,
    safety: float = 1.0,
    rates: CacheRates = USUAL_RATES,
) -> Goals:
    """The goals under a policy, for a budget of `limit` scaled tokens and fixed parts of unscaled `fixed_tokens`.

    The policy's shares are of `whole` tokens if given, else of the limit; the target of a policy that weighs the prefix
    is of what the fixed parts leave. `safety` divides the tokens that the fixed
    parts leave. `rates` are the model's prices of input. If no room for a summary remains below the target, trigger and
    target become the whole budget. Recent messages and the summary share the room below the target, so that a
    compaction does not end above the trigger.
    """

    def share(of_budget: float) -> int:
        return unscaled(int((limit if whole is None else whole) * of_budget), multiplier)

    def room_in(tokens: int) -> int:
        return floor((tokens - fixed_tokens) / safety)

    room = room_in(unscaled(limit, multiplier))
    target, trigger = room_in(share(policy.target)), room_in(share(policy.trigger))
    if policy.weighs_prefix:
        # The fixed parts stay in the cache, so they are no part of what a compaction brings down.
        least = min(policy.least_target_tokens, int(room * LEAST_TARGET_SHARE))
        target = min(max(int(room * policy.target), least), trigger)
    # The buffer stays free below the limit, but it takes at most half of the room.
    ceiling = max(room - policy.buffer_tokens, room // 2)
    if trigger > ceiling > 0:
        # The target is lowered in proportion to the trigger, so that there is still room between the two.
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
        rates=rates if policy.weighs_prefix else None,
    )


def _recent_room(target: int, share: float = RECENT_SHARE) -> int:
    return max(0, int(target * share))


def _summary_room(target: int, share: float = RECENT_SHARE) -> int:
    return _summary_text(int(target * (1 - share)))


def _summary_text(message_tokens: int) -> int:
    """The most tokens of a summary's text, if its message may take `message_tokens`."""
    return max(SMALLEST_SUMMARY, message_tokens - summary_frame_tokens())


def check_buffer(given: Mapping[str, Any] | None, limit: int) -> None:
    """Refuse a buffer of the given policy fields that leaves nothing of the limit. A preset's own buffer is reduced.

    Raises:
        InvalidPolicy: the buffer is as large as the limit; the message has both figures.
    """
    buffer_tokens = (given or {}).get("buffer_tokens", 0)
    if buffer_tokens >= limit:
        detail = f"a buffer of {buffer_tokens} tokens leaves nothing of the {limit} that there are for input"
        raise InvalidPolicy("policy.buffer_tokens", detail)


def check_fixed_parts(policy: Policy, limit: int, fixed_tokens: int, multiplier: int) -> None:
    """Refuse fixed parts that leave no room for the smallest summary below the target.

    Raises:
        FixedPartsDoNotFit: they leave no such room.
    """
    smallest = fixed_tokens + SMALLEST_SUMMARY + summary_frame_tokens()
    share = max(policy.target, LEAST_TARGET_SHARE) if policy.weighs_prefix else policy.target
    target = unscaled(int(limit * share), multiplier)
    if smallest > target:
        raise FixedPartsDoNotFit(smallest, target)
