"""Anthropic's Messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from foldline.engine.messages import JsonObject
from foldline_worker.summarizers.wires.contract import (
    COMPLETE,
    Wire,
    WireAnswer,
    WireRequest,
    is_count,
    objects,
    text_in,
)

VERSION: Final = "2023-06-01"
_COMPLETE: Final = frozenset({"end_turn", "stop_sequence"})
_CALLS: Final = frozenset({"tool_use", "server_tool_use"})
# Blocks that take no mark of their own.
_UNMARKED: Final = frozenset({"thinking", "redacted_thinking"})


def _body(request: WireRequest, _options: Mapping[str, Any]) -> dict[str, Any]:
    system = request.instructions
    return {
        "model": request.model,
        **({} if system is None else {"system": system}),
        **request.tools,
        "messages": _messages(request),
        "max_tokens": request.max_tokens,
        "stream": True,
    }


def _messages(request: WireRequest) -> list[JsonObject]:
    """The messages, where the last block before the question has a mark: the cache is looked through up to there.

    The question joins a user message before it, because roles have to alternate at some of those who speak this format.
    """
    asked = {"role": "user", "content": request.user}
    if not request.before:
        return [asked]
    *before, last = request.before
    blocks = [{"type": "text", "text": last["content"]}] if isinstance(last["content"], str) else [*last["content"]]
    if blocks and blocks[-1].get("type") not in _UNMARKED:
        blocks[-1] = {**blocks[-1], "cache_control": {"type": "ephemeral"}}
    if last["role"] == "user":
        return [*before, {**last, "content": [*blocks, {"type": "text", "text": request.user}]}]
    return [*before, {**last, "content": blocks}, asked]


def _take(answer: WireAnswer, event: Mapping[str, Any]) -> None:
    message, delta, block = (event.get(name) for name in ("message", "delta", "content_block"))
    if isinstance(message, dict):
        _take_message(answer, message)
    elif event.get("type") == "message":
        _take_message(answer, event)
    if isinstance(block, dict):
        _take_block(answer, block)
    if isinstance(delta, dict):
        answer.say(delta.get("text"))
        _end(answer, delta)
    _note_usage(answer, event.get("usage"))


def _take_message(answer: WireAnswer, message: Mapping[str, Any]) -> None:
    answer.note_model(message.get("model"))
    _note_usage(answer, message.get("usage"))
    for block in objects(message.get("content")):
        _take_block(answer, block)
    _end(answer, message)


def _note_usage(answer: WireAnswer, usage: object) -> None:
    """Note the usage; Anthropic's own `input_tokens` are those that were neither read from the cache nor written."""
    if not isinstance(usage, dict):
        return
    names = {"cache_read": "cache_read_input_tokens", "cache_write": "cache_creation_input_tokens"}
    answer.note_usage(usage, output="output_tokens", **names)
    if is_count(usage.get("input_tokens")):
        # A later event may repeat one of the parts alone.
        whole = usage["input_tokens"] + sum(answer.usage.get(name, 0) for name in names)
        answer.note_usage({"whole": whole}, input="whole")


def _take_block(answer: WireAnswer, block: Mapping[str, Any]) -> None:
    kind = text_in(block.get("type"))
    if kind == "text":
        answer.say(block.get("text"))
    answer.has_tool_calls |= kind in _CALLS


def _end(answer: WireAnswer, value: Mapping[str, Any]) -> None:
    if reason := text_in(value.get("stop_reason")):
        answer.finish_reason = COMPLETE if reason in _COMPLETE else reason


ANTHROPIC: Final = Wire(
    name="anthropic",
    base_url="https://api.anthropic.com",
    path=lambda _request, _options: "v1/messages",
    headers=lambda key: {"x-api-key": key, "anthropic-version": VERSION},
    body=_body,
    take=_take,
)
