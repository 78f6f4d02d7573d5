from __future__ import annotations

import json
from typing import Any

import pytest

from foldline.engine.errors import InvalidMessage
from foldline.engine.formats import FORMATS
from foldline.engine.ledger.items import ItemKind
from foldline.engine.messages import Message, ToolCall, result_text
from foldline.engine.recall import tool
from foldline.engine.recall.tool import Arguments, InvalidArguments

ARGUMENTS = {"query": "the port", "max_tokens": 500, "kinds": ["decision"]}
TEXT = json.dumps(ARGUMENTS)
CALLS: dict[str, dict[str, Any]] = {
    "openai": {"id": "c1", "type": "function", "function": {"name": "recall", "arguments": TEXT}},
    "anthropic": {"type": "tool_use", "id": "c1", "name": "recall", "input": ARGUMENTS},
    "responses": {"type": "function_call", "call_id": "c1", "name": "recall", "arguments": TEXT},
    "gemini": {"functionCall": {"id": "c1", "name": "recall", "args": ARGUMENTS}},
    "native": {"type": "tool_call", "id": "c1", "name": "recall", "arguments": TEXT},
}


def test_every_format_has_the_tool() -> None:
    assert CALLS.keys() == FORMATS.keys()
    assert all("query" in json.dumps(tool.definition(name)) for name in FORMATS)


@pytest.mark.parametrize("name", CALLS)
def test_a_call_is_read_and_answered_in_its_format(name: str) -> None:
    call = tool.call_in(name, CALLS[name])
    assert tool.arguments_of(call) == Arguments("the port", 500, frozenset({ItemKind.DECISION}))
    answer = tool.result_in(name, call, "found")
    asked = FORMATS[name].render([Message("assistant", (call,), format=name)], None).messages
    (result,) = [message.result for message in FORMATS[name].parse([*asked, answer]) if message.result]
    assert (result.call_id, result_text(result)) == ("c1", "found")


@pytest.mark.parametrize("name", CALLS)
def test_what_is_no_call_of_the_format_is_refused(name: str) -> None:
    with pytest.raises(InvalidMessage):
        tool.call_in(name, {"type": "text", "text": "recall the port"})


@pytest.mark.parametrize(
    "arguments",
    ["[]", "{", "{}", '{"query": 5}', '{"query": "a", "max_tokens": "many"}', '{"query": "a", "kinds": ["no"]}'],
)
def test_wrong_arguments_are_named(arguments: str) -> None:
    with pytest.raises(InvalidArguments):
        tool.arguments_of(ToolCall("c1", "recall", arguments))


def test_numbers_out_of_bounds_are_brought_within_them() -> None:
    asked = tool.arguments_of(ToolCall("c1", "recall", '{"query": "a", "max_tokens": 5.0}'))
    assert asked.max_tokens == tool.LEAST_TOKENS
