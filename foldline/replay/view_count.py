"""Counts the tokens of a view from its wire messages, without the engine's parser."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from foldline.engine.tokens.counter import CALL, IMAGE, MESSAGE, count_text, count_tools
from foldline.engine.wire import dumps_text

JsonDict = dict[str, Any]


def view_tokens(format_name: str, view: JsonDict, tools: Sequence[JsonDict] = ()) -> int:
    """Tokens of a view in OpenAI's or Anthropic's format, with the session's tools."""
    # An OpenAI view has the system prompt as its first message too, and that is what the model gets.
    outside = None if format_name == "openai" else view.get("system")
    return messages_tokens(view["messages"]) + outside_tokens(outside, tools)


def outside_tokens(system: Any, tools: Sequence[JsonDict]) -> int:
    """Tokens of the system prompt and the tools."""
    return (MESSAGE + _content(system) if system else 0) + count_tools(tools)


def messages_tokens(messages: Iterable[Mapping[str, Any]]) -> int:
    """Tokens of OpenAI or Anthropic messages."""
    return sum(map(_message, messages))


def _message(message: Mapping[str, Any]) -> int:
    return MESSAGE + _content(message.get("content")) + sum(map(_openai_call, message.get("tool_calls") or ()))


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
            yield count_text(part["text"])
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
