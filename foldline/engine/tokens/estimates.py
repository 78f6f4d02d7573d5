"""How other systems count: tokens estimated from the length of a text, without a tokenizer.

Presets decide by these where their system does; what fits is decided by the exact count alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, floor
from types import MappingProxyType
from typing import Final, NamedTuple

from foldline.engine.arguments import json_object, json_text
from foldline.engine.messages import Image, Message, Part, Text, Thinking, ToolCall, ToolResult


def utf16_units(text: str) -> int:
    """The length of a text as JavaScript has it: a character above U+FFFF counts twice."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def utf8_bytes(text: str) -> int:
    """The length of a text in UTF-8."""
    return len(text.encode("utf-8", "surrogatepass"))


def _half_up(number: float) -> int:
    return floor(number + 0.5)


_CLOSING: Final = {"```": "```", "{": "}"}
FOREIGN_SHARE: Final = 0.3
CODE_SHARE: Final = 0.5


def _density(text: str) -> float:
    """Units a token by what a text consists of: other scripts, code, or prose."""
    if utf16_units(text) - len(text.encode("ascii", "ignore")) > utf16_units(text) * FOREIGN_SHARE:
        return 1.5
    code = sum(utf16_units(span) for span in _code_spans(text))
    return 2.5 if code > utf16_units(text) * CODE_SHARE else 3.5


def _code_spans(text: str) -> Iterator[str]:
    """What stands in fences or braces, each character once."""
    closing = dict(_CLOSING)
    start = 0
    while closing and (match := re.compile("|".join(closing)).search(text, start)):
        end = text.find(closing[match[0]], match.end())
        if end < 0:
            # Looked for once, as there may be very many.
            del closing[match[0]]
            continue
        start = end + len(closing[match[0]])
        yield text[match.start() : start]


def _compact(arguments: str) -> str:
    value = json_object(arguments)
    return arguments if value is None else json_text(value) or arguments


@dataclass(frozen=True, slots=True)
class Estimate:
    """A way to count: a text of `length` units takes `whole(length / units a token × spread)` tokens.

    That is multiplied by what the provider's tokenizer needs more and by a safety margin, and rounded up. `message` and
    `conversation` are added for each message and once for all. `counted` are the parts that cost anything, `image` what
    each image does. Where it `joins`, the lengths of all parts, images too, are added before that is made tokens.
    """

    length: Callable[[str], int] = utf16_units
    density: Callable[[str], float] = lambda _text: 4.0
    code_density: float = 4.0
    whole: Callable[[float], int] = ceil
    spread: float = 1.0
    multipliers: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    margin: float = 1.0
    message: int = 0
    conversation: int = 0
    image: int = 0
    joins: bool = False
    counted: frozenset[type[Part]] = frozenset({Text, ToolResult})

    def text(self, text: str, provider: str | None = None, *, is_code: bool = False) -> int:
        """Estimated tokens of a text."""
        return self.scaled(self._base(text, is_code=is_code), provider)

    def scaled(self, base: int, provider: str | None = None) -> int:
        """A base, as `base` has it, as tokens of a provider."""
        return ceil(base * self._multiplier(provider) * self.margin)

    def chars_for(self, tokens: int, provider: str | None = None) -> int:
        """How many units of prose `tokens` are worth, by proportion."""
        return floor(tokens / (self._multiplier(provider) * self.margin) * self.density(""))

    def base(self, parts: Iterable[Part]) -> int:
        """What parts take before anything is made of it that depends on the provider."""
        if self.joins:
            return self.whole(self._sum(parts, self.length) / self.density("") * self.spread)
        return self._sum(parts, self._base)

    def of_message(self, message: Message, provider: str | None = None) -> int:
        """Estimated tokens of a message."""
        return self.message + self.scaled(self.base(message.parts), provider)

    def of_conversation(self, messages: Iterable[Message], provider: str | None = None) -> int:
        """Estimated tokens of all messages together; 0 if there are none."""
        each = [self.of_message(message, provider) for message in messages]
        return sum(each) + self.conversation if each else 0

    def _multiplier(self, provider: str | None) -> float:
        return self.multipliers.get(provider or "", 1.0)

    def _base(self, text: str, *, is_code: bool = False) -> int:
        if not text:
            return 0
        return self.whole(self.length(text) / (self.code_density if is_code else self.density(text)) * self.spread)

    def _sum(self, parts: Iterable[Part], of_text: Callable[[str], int]) -> int:
        return sum(self._part(part, of_text) for part in parts)

    def _part(self, part: Part, of_text: Callable[[str], int]) -> int:
        if isinstance(part, Image):
            return self.image
        if type(part) not in self.counted:
            return 0
        match part:
            case Text(text=text) | Thinking(text=text):
                return of_text(text)
            case ToolCall(name=name, arguments=arguments):
                return of_text(name) + of_text(_compact(arguments))
            case ToolResult(content=content):
                return self._sum(content, of_text)
        return 0


class ContextCount(NamedTuple):
    """What a context takes: what the provider reported last, and what came after it by estimate.

    `last_usage` is the index of the message the report came with, None if there was none.
    """

    usage_tokens: int
    trailing_tokens: int
    last_usage: int | None

    @property
    def tokens(self) -> int:
        """Both together."""
        return self.usage_tokens + self.trailing_tokens


def context_count(estimates: Sequence[int], reported: Mapping[int, int]) -> ContextCount:
    """What messages of these estimates take, where the provider `reported` its own count with some, by index."""
    if not reported:
        return ContextCount(0, sum(estimates), None)
    last = max(reported)
    return ContextCount(reported[last], sum(estimates[last + 1 :]), last)


ESTIMATES: Final[Mapping[str, Estimate]] = MappingProxyType(
    {
        "neurolink": Estimate(
            code_density=3.0,
            multipliers=MappingProxyType(
                {"anthropic": 1.23, "bedrock": 1.23, "google-ai": 1.18, "vertex": 1.18, "mistral": 1.26}
            ),
            margin=1.15,
            message=4,
            conversation=24,
        ),
        "agent-code": Estimate(
            length=utf8_bytes,
            whole=_half_up,
            message=4,
            image=2000,
            counted=frozenset({Text, ToolCall, ToolResult}),
        ),
        "codebuddy": Estimate(density=_density, spread=1.1),
        "pi": Estimate(joins=True, image=4_800, counted=frozenset({Text, Thinking, ToolCall, ToolResult})),
        "chars4": Estimate(),
    }
)

EXACT: Final = "exact"
COUNTERS: Final = (EXACT, *ESTIMATES)

# The bases that facts keep: one for all estimates that differ only in what they make of it.
SIZED: Final = tuple(ESTIMATES[name] for name in ("neurolink", "agent-code", "codebuddy", "pi"))
SIZES: Final[Mapping[str, int]] = MappingProxyType(
    {"neurolink": 0, "agent-code": 1, "codebuddy": 2, "pi": 3, "chars4": 0}
)


def sizes_of(parts: Sequence[Part]) -> tuple[int, ...]:
    """The bases of parts by all estimates, in the order of `SIZED`."""
    return tuple(estimate.base(parts) for estimate in SIZED)
