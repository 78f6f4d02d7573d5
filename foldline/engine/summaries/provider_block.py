"""Summaries that a model's own provider writes: what it is sent, and the block that it answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from foldline.engine.facts import Seen
from foldline.engine.formats import FORMATS
from foldline.engine.messages import JsonObject, Message
from foldline.engine.tokens.counter import count_message


class ProviderCall(NamedTuple):
    """What the provider `compactor` is sent: the beginning of a view for `model`, in wire messages of its format."""

    compactor: str
    model: str
    system: str | None
    tools: Sequence[JsonObject]
    messages: Sequence[JsonObject]


class Beginning(NamedTuple):
    """The beginning of a view of a model, which its provider is to summarize."""

    model: str
    view: Seen


class ProviderBlock(NamedTuple):
    """What a provider's own compaction answered: wire messages of `format`, exactly as they came.

    Requests to the model have them first, in the place of exactly the messages that were sent. These were the beginning
    of a view: reasoning that is bound to them stays valid after the block.
    """

    format: str
    messages: Sequence[JsonObject]
    stands_for: Beginning

    @property
    def shown(self) -> list[Message]:
        """The canonical messages that views have."""
        return FORMATS[self.format].parse([*self.messages])

    @property
    def tokens(self) -> int:
        """The unscaled tokens of these messages."""
        return sum(map(count_message, self.shown))


def block_to_json(block: ProviderBlock) -> dict[str, Any]:
    """A block as JSON; `block_from_json` is its inverse."""
    return block._asdict()


def block_from_json(stored: dict[str, Any]) -> ProviderBlock:
    """The block that `block_to_json` wrote."""
    model, (fixed, at) = stored["stands_for"]
    beginning = Beginning(model, Seen(fixed, (at[0], at[1]) if at else None))
    return ProviderBlock(stored["format"], stored["messages"], beginning)
