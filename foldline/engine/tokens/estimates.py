"""The counters of other systems: tokens estimated from the length of a text, without a tokenizer.

Presets plan by the counter of their system. Whether a view fits is decided by the exact count alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from math import ceil, floor
from types import MappingProxyType
from typing import Final, NamedTuple

from foldline.engine.arguments import ARGUMENTS_CHARS_MAX, json_object, json_text
from foldline.engine.messages import Image, Message, Part, Text, Thinking, ToolCall, ToolResult


def utf16_units(text: str) -> int:
    """The length of a text in UTF-16 units, as in JavaScript: a character above U+FFFF counts as two."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def utf8_bytes(text: str) -> int:
    """The length of a text in bytes of UTF-8."""
    return len(text.encode("utf-8", "surrogatepass"))


def _half_up(number: float) -> int:
    return floor(number + 0.5)


# Spans of code by the mark that opens them, each with its closing mark, or to the text's end if it has none.
_CODE: Final = {"```": r"```[^`]*+(?:`(?!``)[^`]*+)*+(```|\Z)", "{": r"\{[^}]*+(\}|\Z)"}
FOREIGN_SHARE: Final = 0.3
CODE_SHARE: Final = 0.5


def _density(text: str) -> float:
    """UTF-16 units per token: 1.5 for other scripts, 2.5 for code, 3.5 for prose."""
    units = utf16_units(text)
    if units - len(text.encode("ascii", "ignore")) > units * FOREIGN_SHARE:
        return 1.5
    code = accumulate(utf16_units(span) for span in _code_spans(text))
    return 2.5 if any(so_far > units * CODE_SHARE for so_far in code) else 3.5


def _code_spans(text: str) -> Iterator[str]:
    """The spans of a text in code fences or braces; they do not overlap."""
    # One pattern alone is found in a tenth of the time.
    patterns = {mark: pattern for mark, pattern in _CODE.items() if mark in text}
    start = 0
    while patterns:
        for span in re.compile("|".join(patterns.values())).finditer(text, start):
            if not span[span.lastindex or 0]:
                # Later spans of its kind have no closing mark either: do not look for each.
                start = span.start()
                patterns = {mark: pattern for mark, pattern in patterns.items() if not text.startswith(mark, start)}
                break
            yield span[0]
        else:
            return


def _compact(arguments: str) -> str:
    value = json_object(arguments) if len(arguments) <= ARGUMENTS_CHARS_MAX else None
    return arguments if value is None else json_text(value) or arguments


@dataclass(frozen=True, slots=True)
class Estimate:
    """A counter: a text takes `whole(length / density × spread)` tokens; `density` is in units of `length` per token.

    That is multiplied by the provider's entry in `multipliers` and by the safety `margin`, and rounded up. Each message
    adds `message` tokens, each conversation `conversation`, each image `image`. Parts of types not in `counted` are
    free. A counter that `joins` adds up the lengths of all parts, images included, before it computes tokens; others
    compute tokens for each part.
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
        """Tokens for a provider from a `base`: with the multiplier and the margin."""
        return ceil(base * self._multiplier(provider) * self.margin)

    def chars_for(self, tokens: int, provider: str | None = None) -> int:
        """The units of prose that fit `tokens`, by proportion."""
        return floor(tokens / (self._multiplier(provider) * self.margin) * self.density(""))

    def base(self, parts: Iterable[Part]) -> int:
        """The size of parts before the provider's multiplier and the margin. Facts keep it, as it fits any provider."""
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
    """The tokens of a context: the provider's last report, and an estimate of the messages after it.

    `last_usage` is the index of the message with that report, None if there is none.
    """

    usage_tokens: int
    trailing_tokens: int
    last_usage: int | None

    @property
    def tokens(self) -> int:
        """Reported and estimated tokens together."""
        return self.usage_tokens + self.trailing_tokens


def context_count(estimates: Sequence[int], reported: Mapping[int, int]) -> ContextCount:
    """The tokens of messages with these estimates. `reported` has the provider's own counts by message index."""
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

# The estimates whose base facts keep, and the index of each counter's base. Counters that differ only in what is
# computed from the base share one.
SIZED: Final = tuple(ESTIMATES[name] for name in ("neurolink", "agent-code", "codebuddy", "pi"))
SIZES: Final[Mapping[str, int]] = MappingProxyType(
    {"neurolink": 0, "agent-code": 1, "codebuddy": 2, "pi": 3, "chars4": 0}
)


def sizes_of(parts: Sequence[Part]) -> tuple[int, ...]:
    """The base of parts by each estimate, in the order of `SIZED`."""
    return tuple(estimate.base(parts) for estimate in SIZED)
