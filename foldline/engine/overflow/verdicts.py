"""Reads a provider's error: whether the request was too long, whose wording it is, and the figures in it.

An error may also say that the provider refuses the reasoning in the request.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from foldline.engine import wire
from foldline.engine.overflow.wordings import (
    COUNTED,
    DOUBTFUL,
    INPUT,
    INPUT_PARTS,
    LIMIT,
    OUTPUT,
    OUTPUT_LIMITS,
    REASONING_WORDINGS,
    SIZE_WORDINGS,
    THROTTLED,
    WORDINGS,
    Wordings,
)

# Keys of an error's JSON that hold its text, its name and its HTTP status, and how many levels deep they are read.
TEXT_KEYS: Final = ("message", "error", "details", "cause", "responseBody")
NAME_KEYS: Final = ("code", "type", "error_code")
STATUS_KEYS: Final = ("code", "status", "statusCode")
# What a client library says of an error that another attempt may not have: an overflow is none.
RETRYABLE_KEY: Final = "isRetryable"
TOO_MANY_REQUESTS: Final = 429
LEVELS_MAX: Final = 4
# An error's text begins with its reason; what follows is a trace or an echo of the request.
LONGEST_CHARS: Final = 10_000
LONGEST_NAME_CHARS: Final = 100
# What a refusal of reasoning says of itself; after that, a text may quote the conversation.
REASON_CHARS: Final = 600
# A prompt of this share of the window left no room for an answer.
FULL_SHARE: Final = 0.99
ENDED: Final = frozenset({"stop", "end_turn"})
CUT_OFF: Final = frozenset({"length", "max_tokens"})


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether an error is an overflow, and its figures. These are tokens by the provider's count, None if not named.

    `provider` is the provider whose wording it is. `actual_tokens` are the input tokens, without the requested
    `output_tokens` if the text separates the two. `limit_tokens` is the model's limit for both together.
    `is_too_large`: the request has too many bytes or images, whatever its tokens. `is_reasoning_refused`: the error is
    no overflow, and the provider refuses the reasoning in the request.
    """

    is_overflow: bool
    provider: str | None = None
    actual_tokens: int | None = None
    limit_tokens: int | None = None
    output_tokens: int | None = None
    is_too_large: bool = False
    is_reasoning_refused: bool = False

    @property
    def input_limit_tokens(self) -> int | None:
        """The model's limit for input tokens."""
        return None if self.limit_tokens is None else self.limit_tokens - (self.output_tokens or 0)

    @property
    def retryable(self) -> bool:
        """Whether another view can help: a shorter one, unless the requested output takes the whole limit, or one
        without the refused reasoning.
        """
        if self.is_reasoning_refused:
            return True
        return self.is_overflow and (self.input_limit_tokens is None or self.input_limit_tokens > 0)


NO_OVERFLOW: Final = Verdict(is_overflow=False)


def verdict_of(answer: str | Mapping[str, Any], provider: str | None = None) -> Verdict:
    """The verdict on a provider's text or JSON body; `provider` is its sender, if known."""
    parts = list(_parts(answer))
    texts = _texts(parts), _names(parts)
    found = [_verdict(text, provider, is_busy=_is_busy(parts)) for text in texts]
    if not any(THROTTLED.search(text) for text in texts) and not any(map(_is_exceeded, filter(None, found))):
        refused = _reasoning_verdict(_joined(text[:REASON_CHARS] for text in texts), provider)
        if refused is not None:
            return refused
    return next(filter(None, found), NO_OVERFLOW)


def text_of(answer: str | Mapping[str, Any]) -> str:
    """The words of an answer: the answer itself if it is a text, else the texts in its `message` and `error`."""
    return _texts(_parts(answer))


def output_limit_of(answer: str | Mapping[str, Any]) -> int | None:
    """The most tokens that one answer of the model may have, if an error says that more were asked for; else None."""
    return _first(OUTPUT_LIMITS, text_of(answer))


def gap_of(text: str) -> tuple[int, int] | None:
    """The tokens sent and the limit, if a text names both, calls one of them tokens, and the first is larger."""
    actual, limit = _input_tokens(text), _first(LIMIT, text)
    if actual is None or limit is None or actual <= limit:
        return None
    counted = {_number(match) for match in COUNTED.finditer(text)}
    return None if counted.isdisjoint((actual, limit)) else (actual, limit)


def is_silent_overflow(stop: str, prompt_tokens: int, output_tokens: int, context_window: int) -> bool:
    """Whether an answer without an error shows that its prompt did not fit.

    Some providers accept a prompt that is too long and cut it silently. Then the reported prompt tokens exceed the
    window, or the prompt fills the window and the answer stops for its length before its first token.
    """
    if stop in CUT_OFF:
        return output_tokens == 0 and prompt_tokens >= FULL_SHARE * context_window
    return stop in ENDED and prompt_tokens > context_window


def verdict_on(
    stop: str, prompt_tokens: int, output_tokens: int, context_window: int, provider: str | None = None
) -> Verdict:
    """The verdict on an answer without an error, by the tokens that its provider reported."""
    if not is_silent_overflow(stop, prompt_tokens, output_tokens, context_window):
        return NO_OVERFLOW
    return Verdict(is_overflow=True, provider=provider, actual_tokens=prompt_tokens, limit_tokens=context_window)


def _verdict(text: str, provider: str | None, *, is_busy: bool) -> Verdict | None:
    """The verdict on a text, None if the text does not decide; figures count more than a status beside them."""
    if THROTTLED.search(text):
        return NO_OVERFLOW
    size = next((row for row in SIZE_WORDINGS if row[1].search(text)), None)
    if size is not None and gap_of(text) is None and not is_busy:
        return Verdict(is_overflow=True, provider=provider or size[0], is_too_large=True)
    wording = next((row for row in WORDINGS if row[1].search(text)), None)
    verdict = Verdict(
        is_overflow=True,
        provider=provider or (wording and wording[0]),
        actual_tokens=_input_tokens(text),
        limit_tokens=_first(LIMIT, text),
        output_tokens=_first(OUTPUT, text),
    )
    if wording is not None and _is_exceeded(verdict):
        return verdict
    is_overflow = wording is not None or gap_of(text) is not None
    is_doubtful = is_busy or DOUBTFUL.search(text)
    return verdict if is_overflow and not is_doubtful else None


def _reasoning_verdict(text: str, provider: str | None) -> Verdict | None:
    """The verdict on a text that refuses reasoning; None on any other."""
    found = next((name for name, wording in REASONING_WORDINGS if wording.search(text)), None)
    if found is None:
        return None
    return Verdict(is_overflow=False, provider=provider or found, is_reasoning_refused=True)


def _is_exceeded(verdict: Verdict) -> bool:
    actual, limit = verdict.actual_tokens, verdict.input_limit_tokens
    return actual is not None and limit is not None and actual > limit


def _parts(answer: Any, levels: int = LEVELS_MAX) -> Iterator[str | Mapping[str, Any]]:
    """The objects and texts of an answer, from the outside in."""
    part = _parsed(answer) if isinstance(answer, str) else answer
    if isinstance(part, str):
        yield part
    elif isinstance(part, Mapping) and levels:
        yield part
        for key in TEXT_KEYS:
            yield from _parts(part.get(key), levels - 1)


def _parsed(text: str) -> Any:
    """The JSON object in a text, or the text itself if it is none."""
    if len(text) > LONGEST_CHARS or not text.lstrip().startswith("{"):
        return text
    try:
        return wire.loads_bounded(text)
    except ValueError:
        return text


def _texts(parts: Iterable[str | Mapping[str, Any]]) -> str:
    return _joined(part for part in parts if isinstance(part, str))


def _names(parts: Iterable[str | Mapping[str, Any]]) -> str:
    names = (part.get(key) for part in parts if isinstance(part, Mapping) for key in NAME_KEYS)
    return _joined(name for name in names if isinstance(name, str) and len(name) <= LONGEST_NAME_CHARS)


def _is_busy(parts: Iterable[str | Mapping[str, Any]]) -> bool:
    objects = [part for part in parts if isinstance(part, Mapping)]
    is_throttled = any(part.get(key) == TOO_MANY_REQUESTS for part in objects for key in STATUS_KEYS)
    return is_throttled or any(part.get(RETRYABLE_KEY) is True for part in objects)


def _joined(texts: Iterable[str]) -> str:
    text = "\n".join(filter(None, texts))[:LONGEST_CHARS]
    return text.replace("\u2019", "'").replace(r"\u003e", ">")


def _input_tokens(text: str) -> int | None:
    # By their words, because a wrapper often repeats the provider's error.
    parts = {match[0]: _number(match) for match in INPUT_PARTS.finditer(text)}
    return sum(parts.values()) if parts else _first(INPUT, text)


def _first(patterns: tuple[Wordings, ...], text: str) -> int | None:
    found = (pattern.search(text) for pattern in patterns)
    match = next(filter(None, found), None)
    return None if match is None else _number(match)


def _number(match: re.Match[str]) -> int:
    return int(re.sub(r"\D", "", match[match.lastindex or 0]))
