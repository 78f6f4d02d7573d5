"""Anthropic's Messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from foldline_worker.summarizers.wires.contract import COMPLETE, Wire, WireAnswer, WireRequest, objects, text_in

VERSION: Final = "2023-06-01"
_COMPLETE: Final = frozenset({"end_turn", "stop_sequence"})
_CALLS: Final = frozenset({"tool_use", "server_tool_use"})


def _body(request: WireRequest, _options: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "model": request.model,
        "system": request.system,
        "messages": [{"role": "user", "content": request.user}],
        "max_tokens": request.max_tokens,
        "stream": True,
    }


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
    answer.note_usage(event.get("usage"), input="input_tokens", output="output_tokens")


def _take_message(answer: WireAnswer, message: Mapping[str, Any]) -> None:
    answer.note_model(message.get("model"))
    answer.note_usage(message.get("usage"), input="input_tokens", output="output_tokens")
    for block in objects(message.get("content")):
        _take_block(answer, block)
    _end(answer, message)


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
