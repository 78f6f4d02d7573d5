"""The exact count of text and messages: an o200k tokenizer and the table of framing tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, Final, TypeAlias

import quicktok

from foldline.engine.messages import Image, JsonObject, Message, Part, Text, Thinking, ToolCall, ToolResult
from foldline.engine.wire import dumps_text

CountText: TypeAlias = Callable[[str], int]

# Framing in tokens, added to the text of each. Chat templates spend 3-4 tokens on a message and about as many again to
# wrap a call or a result. IMAGE is the highest charge of the hosted vision models for a page-sized picture. MARK is for
# the short text that some formats need beside or instead of a part (`formats.marks`): a view has one count, and it
# holds in every format.
MESSAGE: Final = 4
CALL: Final = 8
RESULT: Final = 4
TOOL: Final = 8
IMAGE: Final = 1600
MARK: Final = 8

MARKED: Final = MESSAGE + MARK
MARKED_ROLES: Final = frozenset({"system", "developer"})

ENCODING: Final = "o200k_base"


@cache
def exact_counter() -> CountText:
    """The tokenizer's own counter. The first call reads its tables from the wheel, which takes about a second.

    Callers use `count_text`: the counter raises TypeError on lone surrogates.
    """
    tokenizer: Any = quicktok.get_encoding(ENCODING)
    count: CountText = tokenizer.count
    return count


def count_text(text: str) -> int:
    """Tokens of a text in the o200k encoding; a lone surrogate counts as a question mark."""
    try:
        return exact_counter()(text)
    except TypeError:
        return exact_counter()(text.encode("utf-8", "replace").decode())


def count_part(part: Part) -> int:
    """Tokens of one part, its framing included."""
    # In the order of how often they come; a `match` takes longer than all of this.
    if isinstance(part, Text):
        return count_text(part.text)
    if isinstance(part, ToolResult):
        return RESULT + count_parts(part.content)
    if isinstance(part, ToolCall):
        return CALL + count_text(part.name) + count_text(part.arguments)
    if isinstance(part, Thinking):
        return count_text(part.text)
    return IMAGE if isinstance(part, Image) else MARK + count_text(dumps_text(part.source))


def count_parts(parts: Iterable[Part]) -> int:
    """Tokens of several parts."""
    return sum(map(count_part, parts))


def count_message(message: Message) -> int:
    """Tokens of one message, its framing included."""
    return (MARKED if message.role in MARKED_ROLES or not message.parts else MESSAGE) + count_parts(message.parts)


def count_messages(messages: Iterable[Message]) -> int:
    """Tokens of a list of messages: the sum of `count_message`."""
    return sum(map(count_message, messages))


def count_system(system: str | None) -> int:
    """Tokens of a system prompt, its framing included; 0 if there is none."""
    return 0 if system is None else count_message(Message("system", (Text(system),)))


def count_tools(tools: Iterable[JsonObject]) -> int:
    """Tokens of tool definitions: their compact JSON and their framing."""
    return sum(TOOL + count_text(dumps_text(tool)) for tool in tools)


def scaled(tokens: int, multiplier: int) -> int:
    """`tokens` × `multiplier` in thousandths, rounded up. This is the count that is compared with a budget."""
    return -(-tokens * multiplier // 1000)


def unscaled(tokens: int, multiplier: int) -> int:
    """The largest count whose `scaled` value is at most `tokens`."""
    return tokens * 1000 // multiplier
