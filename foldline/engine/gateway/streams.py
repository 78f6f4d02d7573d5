"""Puts the events of a stream together to the answer that the API gives without streaming.

Each function takes the JSON values of the events in order. It raises LookupError, TypeError or ValueError for a stream
that did not end, or has an event whose part in the answer is not known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from foldline.engine.wire import loads

# Of one delta of Anthropic's stream: the field that grows.
_GROWING: Final[Mapping[str, str]] = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "input_json_delta": "partial_json",
}
# Of one delta of a chat: texts that grow.
_GROWING_IN_CHAT: Final = ("content", "refusal", "reasoning_content")
# What a chat's delta may hold besides. Anything else may be a part of what was said.
_KNOWN_IN_CHAT: Final = frozenset({*_GROWING_IN_CHAT, "role", "tool_calls", "reasoning", "obfuscation"})
_KNOWN_IN_CALLS: Final = frozenset({"index", "id", "type", "function"})
_KNOWN_IN_FUNCTIONS: Final = frozenset({"name", "arguments"})


class _Unknown(ValueError):
    """An event that may be a part of the answer, but no one knows which."""


class _Unended(ValueError):
    """The stream has no event that ends an answer."""


def messages_answer(events: Iterable[Any]) -> dict[str, Any]:
    """The message of a stream of Anthropic's Messages, by its docs' page "Streaming messages"."""
    message: dict[str, Any] = {}
    blocks: dict[int, dict[str, Any]] = {}
    for event in events:
        match event["type"]:
            case "message_start":
                message = dict(event["message"])
            case "content_block_start":
                blocks[event["index"]] = dict(event["content_block"])
            case "content_block_delta":
                _grow(blocks[event["index"]], event["delta"])
            case "message_delta":
                message["usage"] = {**message["usage"], **_given(event.get("usage") or {})}
            case "message_stop":
                return {**message, "content": [_closed(blocks[index]) for index in sorted(blocks)]}
            case "error":
                break
    raise _Unended


def _grow(block: dict[str, Any], delta: Mapping[str, Any]) -> None:
    if delta["type"] == "citations_delta":
        block["citations"] = [*(block.get("citations") or ()), delta["citation"]]
        return
    if delta["type"] not in _GROWING:
        raise _Unknown
    name = _GROWING[delta["type"]]
    block[name] = block.get(name, "") + delta[name]


def _closed(block: dict[str, Any]) -> dict[str, Any]:
    """A block, its call's arguments read."""
    arguments = block.pop("partial_json", None)
    return {**block, "input": loads(arguments)} if arguments else block


def _given(usage: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in usage.items() if value is not None}


def chat_answer(chunks: Iterable[Any]) -> dict[str, Any]:
    """The completion of a stream of OpenAI's chunks, by its reference's page "The chat completion chunk object"."""
    message: dict[str, Any] = {"role": "assistant", "content": None}
    calls: dict[int, dict[str, Any]] = {}
    usage, is_ended = None, False
    for chunk in chunks:
        usage = chunk.get("usage") or usage
        for choice in chunk.get("choices") or ():
            if choice["index"] != 0:
                raise _Unknown
            _extend(message, calls, choice["delta"])
            is_ended = is_ended or choice.get("finish_reason") is not None
    if not is_ended:
        raise _Unended
    if calls:
        message["tool_calls"] = [calls[index] for index in sorted(calls)]
    return {"choices": [{"message": message}], "usage": usage}


def _extend(message: dict[str, Any], calls: dict[int, dict[str, Any]], delta: Mapping[str, Any]) -> None:
    if any(value for name, value in delta.items() if name not in _KNOWN_IN_CHAT):
        raise _Unknown
    for name in _GROWING_IN_CHAT:
        if delta.get(name):
            message[name] = (message.get(name) or "") + delta[name]
    for piece in delta.get("tool_calls") or ():
        _extend_call(calls, piece)


def _extend_call(calls: dict[int, dict[str, Any]], piece: Mapping[str, Any]) -> None:
    """One piece of a call; some providers repeat its id and name in each."""
    said = piece.get("function") or {}
    is_function = (piece.get("type") or "function") == "function"
    if not is_function or {*piece} - _KNOWN_IN_CALLS or {*said} - _KNOWN_IN_FUNCTIONS:
        raise _Unknown
    call = calls.setdefault(piece["index"], {"type": "function", "function": {"name": "", "arguments": ""}})
    call_id = piece.get("id") or call.get("id")
    if call.setdefault("id", call_id) != call_id:
        # Some give all calls one index.
        raise _Unknown
    if said.get("name"):
        call["function"]["name"] = said["name"]
    call["function"]["arguments"] += said.get("arguments") or ""


def responses_answer(events: Iterable[Any]) -> dict[str, Any]:
    """The response of a stream of OpenAI's Responses, whose last event has it all, or all but its items."""
    items: dict[int, Any] = {}
    for event in events:
        if event["type"] == "response.output_item.done":
            items[event["output_index"]] = event["item"]
        elif event["type"] in {"response.completed", "response.incomplete"}:
            response: dict[str, Any] = event["response"]
            return {**response, "output": response.get("output") or [items[index] for index in sorted(items)]}
    raise _Unended
