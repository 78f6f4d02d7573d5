"""Messages as text for a summarizer: bounded in size, and escaped so that content cannot pass for a tag or a label."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Final

import regex

from foldline.engine.messages import (
    ROLES,
    Image,
    Message,
    Other,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    provider_summary,
)
from foldline.engine.summaries.styles import STYLES, Caps, Kind, Style
from foldline.engine.tokens.counter import count_text
from foldline.engine.tokens.excerpts import excerpt

FOLDLINE: Final = STYLES["foldline"]

# Tried in this order until the conversation fits: results are cut first, the user's messages last.
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
MOST_SERIALIZED_CHARS: Final = 4_000_000
# Text after the note stays on the line of the note, since at the start of a line it could look like a label.
_SEAM: Final = "\n[… {count:,} characters left out …] "

_KINDS: Final[Mapping[type[Part], Kind]] = {Thinking: "thinking", ToolCall: "call", ToolResult: "result"}
_TAGS: Final = ("conversation", "message", "thinking", "call", "result", "earlier-summary", "instructions")
_TAG_START: Final = regex.compile(rf"<(?=[^\w<>]{{0,8}}(?:{'|'.join(_TAGS)}|\Z))", regex.IGNORECASE)


def escape(text: str) -> str:
    """The text with every "<" escaped that could open or close one of our tags; other markup stays as it is."""
    return _TAG_START.sub("&lt;", text)


def serialize(messages: Sequence[Message], style: Style = FOLDLINE, caps: Caps | None = None) -> str:
    """The messages as text in a style, tool activity included; each part is cut to its cap, by default the style's."""
    written = (_written(number, message, style, caps or style.caps) for number, message in enumerate(messages, 1))
    return excerpt(style.between.join(filter(None, written)), MOST_SERIALIZED_CHARS, _SEAM)


def _written(number: int, message: Message, style: Style, caps: Caps) -> str:
    runs = groupby(message.parts, key=lambda part: _KINDS.get(type(part), message.role))
    text = style.within.join(filter(None, (_run(kind, parts, style, caps) for kind, parts in runs)))
    if style.message_chars is not None:
        text = excerpt(text, style.message_chars)
    return style.labelled(style.frames[message.role], text, number)


def _run(kind: Kind, parts: Iterable[Part], style: Style, caps: Caps) -> str:
    """The text of consecutive parts of one kind; "" if they have no text."""
    run = style.run(kind)
    most_text = caps.assistant if kind == "assistant" else caps.user
    text = run.joint.join(filter(None, (_part(part, style, caps, most_text) for part in parts)))
    # Text is escaped after joining, since two parts together could make a tag.
    return style.labelled(run.around, escape(text) if kind in ROLES else text) if text else ""


def _part(part: Part, style: Style, caps: Caps, most_text: int) -> str:
    match part:
        case Text(text=text):
            return excerpt(text, most_text)
        case Thinking(text=text):
            return style.thinking.format(text=escape(excerpt(text, caps.thinking))) if caps.thinking and text else ""
        case ToolCall(name=name, arguments=arguments):
            shown = escape(excerpt(style.arguments(arguments), caps.arguments))
            return style.call.format(tool=_attribute(name), text=shown)
        case ToolResult():
            return _result(part, style, caps)
        case Image():
            return style.image
        case Other():
            return "\n".join(filter(None, (f"[{_attribute(part.kind)}]", excerpt(provider_summary(part), most_text))))


def _result(result: ToolResult, style: Style, caps: Caps) -> str:
    tool = f' tool="{_attribute(result.name)}"' if result.name else ""
    error = ' error="yes"' if result.is_error else ""
    joint = style.run("result").joint
    texts = joint.join(part.text for part in result.content if isinstance(part, Text))
    images = (style.image for part in result.content if isinstance(part, Image))
    text = joint.join(filter(None, (escape(style.cut_result(texts, caps.result)), *images)))
    return style.result.format(tool=tool, error=error, text=text)


def _attribute(name: str) -> str:
    return regex.sub(r'[\s"<>&]+', "_", name[:64])


def fitted(messages: Sequence[Message], room_tokens: int, style: Style = FOLDLINE) -> str:
    """The messages as text within `room_tokens`.

    Results are cut first, then thinking, arguments and text, as `_STEPS` says; at last the middle of the whole text is.
    """
    # A longer text cannot fit, so it need not be counted.
    most = max(300, room_tokens * 8)
    caps = style.caps._replace(assistant=min(most, style.caps.assistant), user=min(most, style.caps.user))
    text = serialize(messages, style, caps)
    for step in _STEPS:
        if len(text) <= most and count_text(text) <= room_tokens:
            return text
        caps = Caps(*(min(old, new) for old, new in zip(caps, caps._replace(**step), strict=True)))
        text = serialize(messages, style, caps)
    return excerpt_to_tokens(text, room_tokens)


def excerpt_to_tokens(text: str, max_tokens: int) -> str:
    """The text if it is within `max_tokens`, else its head and tail within them."""
    chars = max_tokens * 8
    while len(text) > chars or count_text(text) > max_tokens:
        shorter = excerpt(text, chars, _SEAM)
        if count_text(shorter) <= max_tokens:
            return shorter
        if chars <= 1:
            return ""
        chars = chars * 3 // 4
    return text
