"""The tokens that a call takes of its budget, by kind of content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from foldline.engine.messages import JsonObject, Message
from foldline.engine.models.attachments import Placement
from foldline.engine.tokens.estimates import ESTIMATES, Estimate
from foldline.engine.wire import dumps_text


@dataclass(frozen=True, slots=True)
class Breakdown:
    """The tokens that a call takes, by kind of content. `files` says how much of each file to send."""

    limit: int
    breakdown: Mapping[str, int]
    files: tuple[Placement, ...] = ()

    @property
    def used(self) -> int:
        """Tokens of all kinds of content together."""
        return sum(self.breakdown.values())

    @property
    def fits(self) -> bool:
        """Whether the call is within the limit."""
        return self.used <= self.limit

    @property
    def usage_ratio(self) -> float:
        """The share of the limit that is used; 1 if the limit is 0."""
        return self.used / self.limit if self.limit > 0 else 1.0


def estimated(
    estimate: Estimate,
    limit: int,
    *,
    provider: str | None = None,
    system: str | None = None,
    messages: Sequence[Message] = (),
    prompt: str | None = None,
    tools: Sequence[JsonObject] = (),
    files: Sequence[str] = (),
) -> Breakdown:
    """The breakdown of a call by an estimate. Tool definitions are four characters of JSON a token for any provider."""

    def framed(text: str | None) -> int:
        return estimate.text(text, provider) + estimate.message if text else 0

    return Breakdown(
        limit,
        {
            "system": framed(system),
            "history": estimate.of_conversation(messages, provider),
            "prompt": framed(prompt),
            "tools": sum(ESTIMATES["chars4"].text(dumps_text(tool)) for tool in tools),
            "files": sum(estimate.text(content, provider) for content in files),
        },
    )
