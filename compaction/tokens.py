"""How text and messages are counted: an exact o200k tokenizer, a heuristic fallback, and the framing table."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from math import ceil
from typing import Any, Final, TypeAlias

from compaction.messages import Image, JsonObject, Message, Other, Part, Text, Thinking, ToolCall
from compaction.wire import dumps_text

CountText: TypeAlias = Callable[[str], int]

# Framing in tokens, added to the text of each. Chat templates spend 3-4 tokens a message and about as much again to
# wrap a call or a result; an image is priced as the larger of what the hosted vision models charge for a page-sized
# picture. MARK is for the short text that some format needs beside or instead of a part (`compaction.formats.marks`):
# a view has one count, and it holds in every format.
MESSAGE: Final = 4
CALL: Final = 8
RESULT: Final = 4
TOOL: Final = 8
IMAGE: Final = 1600
MARK: Final = 8

MARKED: Final = MESSAGE + MARK
MARKED_ROLES: Final = frozenset({"system", "developer"})

ENCODING: Final = "o200k_base"
# The fallback refuses very long input; counting in chunks can only over-count, by a token or two a seam.
FALLBACK_CHUNK_CHARS: Final = 100_000


@cache
def exact_counter() -> CountText:
    """The tokenizer's own counter, from whichever of its two implementations is installed.

    It raises TypeError on lone surrogates: `count_text` is what callers use.
    """
    try:
        tokenizer: Any = import_module("quicktok").get_encoding(ENCODING)
    except ImportError:
        return _fallback_counter()
    count: CountText = tokenizer.count
    return count


def _fallback_counter() -> CountText:
    try:
        tokenizer: Any = import_module("bpe_openai").get_encoding(ENCODING)
    except ImportError:
        return count_heuristically

    def count(text: str) -> int:
        starts = range(0, len(text), FALLBACK_CHUNK_CHARS)
        return sum(int(tokenizer.count(text[start : start + FALLBACK_CHUNK_CHARS])) for start in starts)

    return count


def count_heuristically(text: str) -> int:
    """An estimate that needs no tokenizer: UTF-8 bytes / 2, above the true count of prose and code.

    English takes about 4 bytes a token, logs and ordinary JSON 2.5, Chinese 3 to 4; bare punctuation less than 2.
    """
    return ceil(len(text.encode("utf-8", "replace")) / 2)


def is_counter_exact() -> bool:
    """Whether a tokenizer is installed, so that counts are no estimates."""
    return exact_counter() is not count_heuristically


def count_text(text: str) -> int:
    """Tokens of `text` in the o200k encoding; a lone surrogate counts as a question mark."""
    try:
        return exact_counter()(text)
    except TypeError:
        return exact_counter()(text.encode("utf-8", "replace").decode())


def count_part(part: Part) -> int:
    """Tokens of one part, its framing included."""
    match part:
        case Text(text=text) | Thinking(text=text):
            return count_text(text)
        case ToolCall(name=name, arguments=arguments):
            return CALL + count_text(name) + count_text(arguments)
        case Image():
            return IMAGE
        case Other(source=source):
            return MARK + count_text(dumps_text(source))
    return RESULT + count_parts(part.content)


def count_parts(parts: Iterable[Part]) -> int:
    """Tokens of several parts."""
    return sum(count_part(part) for part in parts)


def count_message(message: Message) -> int:
    """Tokens of one message as it stands, its framing included."""
    return (MARKED if message.role in MARKED_ROLES or not message.parts else MESSAGE) + count_parts(message.parts)


def count_messages(messages: Iterable[Message]) -> int:
    """Tokens of a list of messages: the sum of `count_message`."""
    return sum(count_message(message) for message in messages)


def count_system(system: str | None) -> int:
    """Tokens of a system prompt, its framing included; 0 if there is none."""
    return 0 if system is None else count_message(Message("system", (Text(system),)))


def count_tools(tools: Iterable[JsonObject]) -> int:
    """Tokens of tool definitions: their compact JSON and framing."""
    return sum(TOOL + count_text(dumps_text(tool)) for tool in tools)


def scaled(tokens: int, multiplier: int) -> int:
    """`tokens` × multiplier (in thousandths), rounded up: the count that is compared with a budget."""
    return -(-tokens * multiplier // 1000)


def unscaled(tokens: int, multiplier: int) -> int:
    """The largest count whose `scaled` value is at most `tokens`."""
    return tokens * 1000 // multiplier
