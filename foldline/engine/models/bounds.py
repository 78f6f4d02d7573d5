"""What bounds the messages of a call: the fixed parts beside them, and the goals and gauge for the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from foldline.engine.errors import InvalidPolicy
from foldline.engine.messages import JsonObject, Message
from foldline.engine.models.budget import Goals, check_fixed_parts
from foldline.engine.models.gauge import Fixed, Frame, Gauge
from foldline.engine.policies.policy import Policy
from foldline.engine.tokens.breakdown import Breakdown
from foldline.engine.tokens.counter import count_messages, count_system, count_tools
from foldline.engine.wire import dumps_text


class FixedInput(NamedTuple):
    """The parts of a call that no compaction changes; `leading` are the system messages at the front."""

    system: str | None
    leading: Sequence[Message]
    tools: Sequence[JsonObject]


@dataclass(frozen=True, slots=True)
class CallBounds:
    """The bounds of messages in tokens: the limit of a call, what fixed parts take of it, and the goals of plans."""

    limit: int
    system_tokens: int
    tools_tokens: int
    goals: Goals
    gauge: Gauge

    @property
    def fixed_tokens(self) -> int:
        """Tokens of the fixed parts."""
        return self.system_tokens + self.tools_tokens

    def breakdown(self, history: int) -> Breakdown:
        """The breakdown of a call with a history of so many tokens."""
        parts = {"system": self.system_tokens, "tools": self.tools_tokens, "history": history}
        return Breakdown(self.limit, MappingProxyType(parts))


def bounds_of(frame: Frame, policy: Policy, parts: FixedInput, target_tokens: int | None = None) -> CallBounds:
    """The bounds under a policy; `target_tokens` is a target for the whole view that a caller named.

    Raises:
        InvalidPolicy: the target is no positive number.
        UnknownModel: no window is known for the model and none was given.
        FixedPartsDoNotFit: the fixed parts leave no room for messages.
    """
    limit = frame.budget(policy).limit
    system_tokens = count_system(parts.system) + count_messages(parts.leading)
    tools_tokens = count_tools(parts.tools)
    fixed_tokens = system_tokens + tools_tokens
    check_fixed_parts(policy, limit, fixed_tokens, 1000)
    goals = _aiming(frame.goals(policy, fixed_tokens, 1000), fixed_tokens, target_tokens)
    system = "\n".join(filter(None, (parts.system, *(message.text for message in parts.leading))))
    gauge = frame.gauge(policy, goals, Fixed(system, dumps_text(list(parts.tools))))
    return CallBounds(limit, system_tokens, tools_tokens, goals, gauge)


def _aiming(goals: Goals, fixed_tokens: int, target_tokens: int | None) -> Goals:
    if target_tokens is None:
        return goals
    if target_tokens <= 0:
        raise InvalidPolicy("target_tokens", f"must be a positive number of tokens, not {target_tokens}")
    return goals.aiming_at(target_tokens - fixed_tokens)
