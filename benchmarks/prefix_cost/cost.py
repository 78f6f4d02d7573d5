"""The cost of a session's calls: cached prefixes at the price of a read, everything else at that of a write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from foldline.engine.messages import Message
from foldline.engine.tokens.counter import count_message

# In units of a token's input price, as Anthropic publishes them.
CACHED: Final = 0.1
MISSED: Final = 1.25


@dataclass(slots=True)
class Cost:
    """The calls of one session or of many, in tokens."""

    calls: int = 0
    cached: int = 0
    missed: int = 0
    breaks: int = 0

    @property
    def units(self) -> float:
        """What the input of all calls costs, as tokens at the input price."""
        return self.cached * CACHED + self.missed * MISSED

    def add(self, other: Cost) -> None:
        """Add the calls of another session."""
        self.calls += other.calls
        self.cached += other.cached
        self.missed += other.missed
        self.breaks += other.breaks


@dataclass(slots=True)
class Meter:
    """Compares each view with that of the call before: their longest common prefix is what the provider has cached."""

    fixed_tokens: int
    cost: Cost = field(default_factory=Cost)
    _before: list[Message] = field(default_factory=list)
    _tokens: list[int] = field(default_factory=list)

    def call(self, messages: Sequence[Message]) -> None:
        """Count one call of the model with this view."""
        same = next(
            (at for at, (old, new) in enumerate(zip(self._before, messages, strict=False)) if old != new),
            min(len(self._before), len(messages)),
        )
        cached = sum(self._tokens[:same]) + (self.fixed_tokens if self.cost.calls else 0)
        self.cost.breaks += same < len(self._before)
        self._tokens[same:] = [count_message(message) for message in messages[same:]]
        self._before = list(messages)
        self.cost.calls += 1
        self.cost.cached += cached
        self.cost.missed += sum(self._tokens) + self.fixed_tokens - cached
