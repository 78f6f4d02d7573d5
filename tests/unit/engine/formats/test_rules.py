"""Each rule finds the request that breaks it, and nothing in one that does not."""

from typing import Any

import pytest

from foldline.engine.formats.rules import check

USER: dict[str, Any] = {"role": "user", "content": "hi"}
CALL: dict[str, Any] = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
CALLING: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT: dict[str, Any] = {"role": "tool", "tool_call_id": "c", "content": "ok"}
IMAGE: dict[str, Any] = {"type": "image_url", "image_url": {"url": "https://x/y"}}

USE: dict[str, Any] = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
USING: dict[str, Any] = {"role": "assistant", "content": [USE]}
ANSWER: dict[str, Any] = {"type": "tool_result", "tool_use_id": "t", "content": "ok"}
TEXT: dict[str, Any] = {"type": "text", "text": "x"}
THINKING: dict[str, Any] = {"type": "thinking", "thinking": "x", "signature": "s"}

REASONING: dict[str, Any] = {"type": "reasoning", "id": "rs_1", "summary": []}
SAID: dict[str, Any] = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "x"}]}
ITEM_CALL: dict[str, Any] = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
OUTPUT: dict[str, Any] = {"type": "function_call_output", "call_id": "c", "output": "ok"}
CLICK: dict[str, Any] = {"type": "computer_call", "id": "cu_1", "call_id": "c", "actions": []}

NATIVE_USER: dict[str, Any] = {"role": "user", "parts": [TEXT]}
NATIVE_CALL: dict[str, Any] = {"type": "tool_call", "id": "c", "name": "f", "arguments": "{}"}
NATIVE_CALLING: dict[str, Any] = {"role": "assistant", "parts": [NATIVE_CALL]}
NATIVE_ANSWER: dict[str, Any] = {"type": "tool_result", "call_id": "c", "content": [TEXT]}
NATIVE_RESULT: dict[str, Any] = {"role": "tool", "parts": [NATIVE_ANSWER]}


def _answers(*blocks: object) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


@pytest.mark.parametrize(
    ("name", "messages", "system"),
    [
        ("openai", [], None),
        ("openai", [{"role": "system", "content": "s"}, USER, CALLING, RESULT, USER], "s"),
        ("openai", [_answers(IMAGE, {"type": "mystery"})], None),
        ("anthropic", [USER, USING, _answers(ANSWER, TEXT), USER], "s"),
        ("anthropic", [USER, {"role": "assistant", "content": [THINKING, TEXT, USE]}, _answers(ANSWER)], [TEXT]),
        ("responses", [USER, REASONING, SAID, ITEM_CALL, OUTPUT, USER], "s"),
        ("responses", [USER, ITEM_CALL, {**ITEM_CALL, "call_id": "d"}, {**OUTPUT, "call_id": "d"}, OUTPUT], None),
        ("responses", [CLICK, {"type": "computer_call_output", "call_id": "c", "output": {}}], None),
        ("native", [NATIVE_USER, NATIVE_CALLING, NATIVE_RESULT, NATIVE_USER], "s"),
    ],
)
def test_a_valid_request_breaks_no_rule(name: str, messages: list[Any], system: object) -> None:
    assert check(name, messages, system) == []


@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "robot", "content": ""}],
        [{"role": "user"}],
        [{"role": "user", "content": []}],
        [{"role": "user", "content": 1}],
        [{"role": "user", "content": ["x"]}],
        [{"role": "user", "content": [{"type": "text", "text": None}]}],
        [{"role": "user", "content": [{"type": "image_url", "image_url": "https://x"}]}],
        [{"role": "assistant", "content": [IMAGE]}],
        [{"role": "assistant", "content": None}],
        [{"role": "assistant", "content": "a", "tool_calls": []}],
        [{**USER, "tool_calls": [CALL]}, RESULT],
        [RESULT],
        [CALLING],
        [CALLING, USER, RESULT],
        [CALLING, RESULT, RESULT],
        [{**CALLING, "tool_calls": [CALL, CALL]}, RESULT, RESULT],
        [{**CALLING, "tool_calls": [CALL, {**CALL, "id": "d"}]}, RESULT],
        [{**CALLING, "tool_calls": [{**CALL, "id": ""}]}, {**RESULT, "tool_call_id": ""}],
        [{**CALLING, "tool_calls": [{**CALL, "type": "odd"}]}, RESULT],
        [{**CALLING, "tool_calls": [{**CALL, "id": "c" * 65}]}, {**RESULT, "tool_call_id": "c" * 65}],
        [{**CALLING, "tool_calls": [{**CALL, "function": {"name": "a.b", "arguments": "{}"}}]}, RESULT],
        [{**CALLING, "tool_calls": [{**CALL, "function": {"name": "f", "arguments": {}}}]}, RESULT],
        [{**CALLING, "tool_calls": [{**CALL, "function": {"arguments": ""}}]}, RESULT],
        [{**USER, "x": object()}],
    ],
)
def test_a_breach_of_openai_rules_is_found(messages: list[Any]) -> None:
    assert check("openai", messages, None)


@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "system", "content": "s"}, USER],
        [{"role": "assistant", "content": "a"}],
        [{"role": "user", "content": ""}],
        [{"role": "user", "content": " \n"}],
        [{"role": "user", "content": []}],
        [_answers({"type": "text", "text": " "})],
        [_answers("x")],
        [_answers({"type": "image"})],
        [_answers(THINKING)],
        [_answers(ANSWER)],
        [USER, USING],
        [USER, USING, USER],
        [USER, USING, USER, _answers(ANSWER)],
        [USER, USING, _answers(TEXT, ANSWER)],
        [USER, USING, _answers(ANSWER, ANSWER)],
        [USER, USING, _answers(ANSWER), USING, _answers(ANSWER)],
        [USER, {"role": "assistant", "content": [USE, {**USE, "id": "u"}]}, _answers(ANSWER)],
        [USER, {"role": "assistant", "content": [{**USE, "id": "a b"}]}, _answers({**ANSWER, "tool_use_id": "a b"})],
        [USER, {"role": "assistant", "content": [{**USE, "input": "{}"}]}, _answers(ANSWER)],
        [USER, {"role": "assistant", "content": [{**USE, "name": None}]}, _answers(ANSWER)],
        [USER, {"role": "assistant", "content": [{**USE, "name": "a.b"}]}, _answers(ANSWER)],
        [USER, {"role": "assistant", "content": [{**THINKING, "signature": ""}]}],
        [USER, {"role": "assistant", "content": [ANSWER]}],
        [USER, {"role": "assistant", "content": [{"type": "image", "source": {}}]}],
        [USER, USING, _answers({**ANSWER, "content": [{"type": "text", "text": ""}]})],
        [USER, USING, _answers({**ANSWER, "content": 1})],
    ],
)
def test_a_breach_of_anthropic_rules_is_found(messages: list[Any]) -> None:
    assert check("anthropic", messages, None)


@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "robot", "parts": []}],
        [{"role": "user", "content": "x"}],
        [{"role": "user", "parts": ["x"]}],
        [{"role": "user", "parts": [{"type": "text"}]}],
        [{"role": "user", "parts": [{"type": "image"}]}],
        [{"role": "user", "parts": [NATIVE_CALL]}],
        [{"role": "tool", "parts": [TEXT]}],
        [NATIVE_RESULT],
        [NATIVE_CALLING],
        [NATIVE_CALLING, NATIVE_USER, NATIVE_RESULT],
        [NATIVE_CALLING, NATIVE_RESULT, NATIVE_RESULT],
        [NATIVE_CALLING, {"role": "tool", "parts": [{**NATIVE_ANSWER, "content": "x"}]}],
    ],
)
def test_a_breach_of_native_rules_is_found(messages: list[Any]) -> None:
    assert check("native", messages, None)


@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "tool", "content": "x"}],
        [{"type": 3}],
        [{"role": "user"}],
        [{"role": "user", "content": []}],
        [{"role": "user", "content": ["x"]}],
        [{"role": "user", "content": [{"type": "input_text"}]}],
        [{"role": "user", "content": SAID["content"]}],
        [{"role": "user", "content": [{"type": "input_image"}]}],
        [{"role": "assistant", "content": [{"type": "input_text", "text": "x"}]}],
        [{"role": "system", "content": [{"type": "input_image", "image_url": "https://x"}]}],
        [REASONING],
        [REASONING, USER],
        [ITEM_CALL, REASONING, OUTPUT],
        [{"type": "reasoning"}, SAID],
        [{**SAID, "id": "i"}, {**SAID, "id": "i"}],
        [{**SAID, "id": 3}],
        [{"type": "mcp_call"}],
        [ITEM_CALL],
        [OUTPUT],
        [OUTPUT, ITEM_CALL],
        [ITEM_CALL, OUTPUT, OUTPUT],
        [ITEM_CALL, OUTPUT, ITEM_CALL, OUTPUT],
        [ITEM_CALL, {"type": "custom_tool_call_output", "call_id": "c", "output": ""}],
        [{**ITEM_CALL, "call_id": "c" * 65}, {**OUTPUT, "call_id": "c" * 65}],
        [{**ITEM_CALL, "call_id": ""}, {**OUTPUT, "call_id": ""}],
        [{**ITEM_CALL, "name": "a b"}, OUTPUT],
        [{**ITEM_CALL, "arguments": {}}, OUTPUT],
        [ITEM_CALL, {**OUTPUT, "output": None}],
        [ITEM_CALL, {**OUTPUT, "output": [{"text": "x"}]}],
        [{key: CLICK[key] for key in CLICK if key != "id"}, {**OUTPUT, "type": "computer_call_output", "output": {}}],
        [CLICK, {**OUTPUT, "type": "computer_call_output"}],
        [{**USER, "x": object()}],
    ],
)
def test_a_breach_of_responses_rules_is_found(messages: list[Any]) -> None:
    assert check("responses", messages, None)


@pytest.mark.parametrize(
    ("name", "system"),
    [("openai", "missing from the list"), ("openai", 1), ("anthropic", [USE]), ("anthropic", 1), ("responses", 1)],
)
def test_a_wrong_system_prompt_is_found(name: str, system: object) -> None:
    assert check(name, [USER], system)
