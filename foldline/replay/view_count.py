"""Counts the tokens of a view from its wire messages; of OpenAI's and Anthropic's without the engine's parser."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from foldline.engine.errors import InvalidMessage
from foldline.engine.formats import FORMATS
from foldline.engine.formats.marks import IMAGE_BELOW, IMAGES_ABOVE
from foldline.engine.tokens.counter import CALL, IMAGE, MESSAGE, count_text, count_tools
from foldline.engine.wire import dumps_text

JsonDict = dict[str, Any]
# What OpenAI's format says where images of results are. It is in no budget, which is the same in all formats.
OF_THE_FORMAT: Final = frozenset({IMAGES_ABOVE, IMAGE_BELOW})
COUNTED: Final = frozenset({"openai", "anthropic"})


def view_tokens(format_name: str, view: JsonDict, tools: Sequence[JsonDict] = ()) -> int:
    """Tokens of a view with the session's tools."""
    # An OpenAI view has the system prompt as its first message too, and that is what the model gets.
    outside = None if format_name == "openai" else view.get("system")
    return plain_tokens(format_name, view["messages"]) + outside_tokens(outside, tools)


def outside_tokens(system: Any, tools: Sequence[JsonDict]) -> int:
    """Tokens of the system prompt and the tools."""
    return (MESSAGE + _content(system) if system else 0) + count_tools(tools)


def plain_tokens(format_name: str, messages: Sequence[JsonDict]) -> int:
    """Tokens of messages in any format; those of others than OpenAI and Anthropic are counted as OpenAI's.

    Messages that are none of such a format count nothing; its rules say what is wrong with them.
    """
    if format_name in COUNTED:
        return messages_tokens(messages)
    try:
        parsed = FORMATS[format_name].parse(messages)
    except InvalidMessage:
        return 0
    return messages_tokens(FORMATS["openai"].render(parsed, None).messages)


def messages_tokens(messages: Iterable[Mapping[str, Any]]) -> int:
    """Tokens of OpenAI or Anthropic messages."""
    return sum(map(_message, messages))


def _message(message: Mapping[str, Any]) -> int:
    if _leads_with_images(message):
        return _content(message["content"])
    return MESSAGE + _content(message.get("content")) + sum(map(_openai_call, message.get("tool_calls") or ()))


def _leads_with_images(message: Mapping[str, Any]) -> bool:
    content = message.get("content")
    return isinstance(content, list) and bool(content) and content[0].get("text") == IMAGES_ABOVE


def _openai_call(call: Mapping[str, Any]) -> int:
    body = call[call["type"]]
    return CALL + count_text(body["name"]) + count_text(body.get("arguments", body.get("input", "")))


def _content(content: Any) -> int:
    if content is None:
        return 0
    return count_text(content) if isinstance(content, str) else sum(_parts(content))


def _parts(parts: Iterable[Mapping[str, Any]]) -> Iterable[int]:
    for part in parts:
        kind = part.get("type")
        if kind == "text":
            yield 0 if part["text"] in OF_THE_FORMAT else count_text(part["text"])
        elif kind == "thinking":
            yield count_text(part["thinking"])
        elif kind in {"image", "image_url"}:
            yield IMAGE
        elif kind == "tool_use":
            yield CALL + count_text(part["name"]) + count_text(dumps_text(part["input"]))
        elif kind == "tool_result":
            yield _content(part.get("content"))
        else:
            yield count_text(dumps_text(part))
