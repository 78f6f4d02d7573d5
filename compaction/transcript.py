"""Messages as tagged text that a summarizer reads: bounded, and escaped so that content cannot close a tag."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import regex

from compaction.excerpts import excerpt
from compaction.messages import Image, Message, Other, Part, Text, Thinking, ToolCall, ToolResult, result_text
from compaction.tokens import count_text


class Caps(NamedTuple):
    """The most characters of one part of each sort."""

    result: int = 4_000
    thinking: int = 1_000
    arguments: int = 2_000
    assistant: int = 400_000
    user: int = 400_000


# Tried in this order until the conversation fits: results give way first, what the user said last.
_STEPS: Final = (
    *({"result": chars} for chars in (2_000, 1_000, 400, 150)),
    {"thinking": 200},
    *({"arguments": chars} for chars in (400, 150)),
    {"thinking": 0},
    *({"assistant": chars} for chars in (8_000, 2_000, 600)),
    *({"user": chars} for chars in (20_000, 4_000, 1_000)),
    {"result": 60, "arguments": 60, "assistant": 200},
    {"user": 300},
)
DEFAULT_CAPS: Final = Caps()
MOST_SERIALIZED_CHARS: Final = 4_000_000

_TAGS: Final = ("conversation", "message", "thinking", "call", "result", "earlier-summary", "instructions")
_TAG_START: Final = regex.compile(rf"<(?=[^\w<>]{{0,8}}(?:{'|'.join(_TAGS)}))", regex.IGNORECASE)


def escape(text: str) -> str:
    """`text` in which nothing opens or closes one of our tags; other markup stays readable."""
    return _TAG_START.sub("&lt;", text)


def serialize(messages: Sequence[Message], caps: Caps = DEFAULT_CAPS) -> str:
    """The messages as tagged text, tool activity included, each part cut in its middle to its cap."""
    text = "\n".join(_serialized(number, message, caps) for number, message in enumerate(messages, 1))
    return excerpt(text, MOST_SERIALIZED_CHARS)


def _serialized(number: int, message: Message, caps: Caps) -> str:
    lines = [f'<message n="{number}" role="{message.role}">']
    lines += (line for part in message.parts if (line := _part_text(message, part, caps)))
    return "\n".join([*lines, "</message>"])


def _part_text(message: Message, part: Part, caps: Caps) -> str:
    match part:
        case Text(text=text):
            return escape(excerpt(text, caps.assistant if message.role == "assistant" else caps.user))
        case Thinking(text=text):
            return f"<thinking>{escape(excerpt(text, caps.thinking))}</thinking>" if caps.thinking and text else ""
        case ToolCall(name=name, arguments=arguments):
            return f'<call tool="{_attribute(name)}">{escape(excerpt(arguments, caps.arguments))}</call>'
        case ToolResult():
            return _result(part, caps)
        case Image() | Other():
            return f"[{'image' if isinstance(part, Image) else _attribute(part.kind)}]"


def _result(result: ToolResult, caps: Caps) -> str:
    tool = f' tool="{_attribute(result.name)}"' if result.name else ""
    error = ' error="yes"' if result.is_error else ""
    images = "\n[image]" * sum(isinstance(part, Image) for part in result.content)
    return f"<result{tool}{error}>{escape(excerpt(result_text(result), caps.result))}{images}</result>"


def _attribute(name: str) -> str:
    return regex.sub(r'[\s"<>&]+', "_", name[:64])


def fitted(messages: Sequence[Message], room_tokens: int) -> str:
    """The messages within `room_tokens`: long results shrink first, then the rest, at last the whole in its middle."""
    # No text that fits is longer; this spares the counting of enormous ones.
    most = max(300, room_tokens * 8)
    caps = DEFAULT_CAPS._replace(assistant=min(most, DEFAULT_CAPS.assistant), user=min(most, DEFAULT_CAPS.user))
    text = serialize(messages, caps)
    for step in _STEPS:
        if len(text) <= most and count_text(text) <= room_tokens:
            return text
        caps = Caps(*(min(old, new) for old, new in zip(caps, caps._replace(**step), strict=True)))
        text = serialize(messages, caps)
    return excerpt_to_tokens(text, room_tokens)


def excerpt_to_tokens(text: str, max_tokens: int) -> str:
    """`text`, or its head and tail within `max_tokens`."""
    chars = max_tokens * 8
    while len(text) > chars or count_text(text) > max_tokens:
        shorter = excerpt(text, chars)
        if count_text(shorter) <= max_tokens:
            return shorter
        if chars <= 1:
            return ""
        chars = chars * 3 // 4
    return text
