from typing import Any

import pytest

from foldline.engine.errors import InvalidMessage
from foldline.engine.formats import FORMATS
from foldline.engine.formats.rules import check
from foldline.engine.messages import Image, Message, Other, Text, Thinking, ToolCall, ToolResult, user

ANTHROPIC = FORMATS["anthropic"]
OPENAI = FORMATS["openai"]
ASK = {"role": "user", "content": "ask"}


def _use(call_id: str = "t1", **extra: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": "read", "input": {"p": 1}, **extra}


def _result(call_id: str = "t1", content: object = "ok", **extra: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **extra}


def _said(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def _answer(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def _text(text: str, **extra: Any) -> dict[str, Any]:
    return {"type": "text", "text": text, **extra}


def test_blocks_are_read_by_type() -> None:
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s"}
    wire = _said(thinking, _text("x"), _use(), {"type": "server_tool_use", "id": "s"})
    (message,) = ANTHROPIC.parse([wire])
    assert message.parts == (
        Thinking("hm", "s", thinking),
        Text("x", wire["content"][1]),
        ToolCall("t1", "read", '{"p":1}', wire["content"][2]),
        Other("server_tool_use", wire["content"][3]),
    )
    assert message.source is wire


def test_results_and_text_become_joined_messages_and_one_wire_message_again() -> None:
    wires = [ASK, _said(_use("a"), _use("b")), {**_answer(_result("a"), _result("b"), _text("and?")), "x": 1}]
    messages = ANTHROPIC.parse(wires)
    assert [(message.role, message.joined) for message in messages[2:]] == [
        ("tool", False),
        ("tool", True),
        ("user", True),
    ]
    assert ANTHROPIC.render(messages, None).messages == wires
    assert wires[2]["content"] == [_result("a"), _result("b"), _text("and?")]


def test_results_sent_one_by_one_are_merged() -> None:
    wires = [ASK, _said(_use("a"), _use("b")), _answer(_result("b")), _answer(_result("a")), ASK]
    rendered = ANTHROPIC.render(ANTHROPIC.parse(wires), None).messages
    assert rendered == [*wires[:2], _answer(_result("b"), _result("a")), ASK]


def test_a_joined_text_without_its_results_stands_alone() -> None:
    *_, text = ANTHROPIC.parse([ASK, _said(_use()), _answer(_result(), _text("and?"))])
    rendered = ANTHROPIC.render([user("[hidden]"), text], None).messages
    assert rendered == [{"role": "user", "content": "[hidden]"}, _answer(_text("and?"))]


@pytest.mark.parametrize(
    ("wire", "path"),
    [
        (None, "messages[1]"),
        ({"role": "tool", "content": "x"}, "messages[1].role"),
        ({"role": "user", "content": {}}, "messages[1].content"),
        (_answer(_use()), "messages[1].content[0].type"),
        (_said(_text("a"), _result()), "messages[1].content[1].type"),
        ({"role": "system", "content": [_result()]}, "messages[1].content"),
        (_answer({"type": 3}), "messages[1].content[0].type"),
        (_answer({"type": "text", "text": None}), "messages[1].content[0].text"),
        (_answer({"type": "image"}), "messages[1].content[0].source"),
        (_answer({"type": "image", "source": {"type": "base64"}}), "messages[1].content[0].source.data"),
        (_answer({"type": "tool_result"}), "messages[1].content[0].tool_use_id"),
        (_answer(_result(content=3)), "messages[1].content[0].content"),
        (_answer(_result(content=[_text("a"), {}])), "messages[1].content[0].content[1].type"),
        (_said(_use(input="{}")), "messages[1].content[0].input"),
        (_said(_use(name=None)), "messages[1].content[0].name"),
        (_said(_use(), _use()), "messages[1].content[1].id"),
        (_said({"type": "thinking"}), "messages[1].content[0].thinking"),
    ],
)
def test_a_wrong_shape_is_named_by_its_path(wire: object, path: str) -> None:
    with pytest.raises(InvalidMessage) as raised:
        ANTHROPIC.parse([ASK, wire])
    assert raised.value.path == path


def test_an_input_nested_too_deeply_is_refused() -> None:
    value: dict[str, Any] = {}
    for _ in range(3000):
        value = {"a": value}
    with pytest.raises(InvalidMessage, match="nested too deeply"):
        ANTHROPIC.parse([_said(_use(input=value))])


def test_a_view_that_begins_with_the_assistant_gets_a_user_message_first() -> None:
    rendered = ANTHROPIC.render([Message("assistant", (Text("hello"),))], None).messages
    assert [message["role"] for message in rendered] == ["user", "assistant"]


def test_the_system_prompt_stays_beside_the_messages() -> None:
    rendered = ANTHROPIC.render([user("hi")], "Be kind.")
    assert (rendered.messages, rendered.system) == ([{"role": "user", "content": "hi"}], "Be kind.")


def test_system_and_developer_messages_become_marked_user_text_in_place() -> None:
    wires = [ASK, {"role": "developer", "content": "mind"}, {"role": "system", "content": "rule"}]
    rendered = ANTHROPIC.render(OPENAI.parse(wires), None)
    assert rendered.messages[1:] == [
        _answer(_text("[developer message]"), _text("mind")),
        _answer(_text("[system message]"), _text("rule")),
    ]
    assert rendered.lossy == 0


IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}
REMINDER = {"role": "system", "content": "Be kind.", "clear_at": "never"}
MARKED = {"role": "user", "content": [_text("[system message]"), _text("Be kind.")]}
DONE = {"role": "assistant", "content": "done"}


@pytest.mark.parametrize("model", [None, "claude-opus-4-8", "anthropic/claude-sonnet-5-5", "claude-fable-5.2", "local"])
def test_a_system_message_of_the_api_stays_one(model: str | None) -> None:
    for wires in ([ASK, REMINDER], [ASK, REMINDER, DONE, ASK]):
        assert ANTHROPIC.render(ANTHROPIC.parse(wires), None, model).messages == wires
        assert check("anthropic", wires, None) == []


@pytest.mark.parametrize(
    "model",
    [
        *(
            "claude-opus-4-5",
            "claude-sonnet-4.5",
            "claude-opus-4@20250514",
            "claude-3-5-haiku",
            "bedrock/claude-opus-4-8",
        ),
        *("claude-sonnet-5-20260301", "claude-4-sonnet-20250514", "claude-opus-4-8@20260301", "claude-opus-4-80"),
    ],
)
def test_a_system_message_becomes_user_text_for_models_that_refuse_it(model: str) -> None:
    assert ANTHROPIC.render(ANTHROPIC.parse([ASK, REMINDER, DONE]), None, model).messages == [ASK, MARKED, DONE]


@pytest.mark.parametrize(
    ("wires", "expected"),
    [
        ([REMINDER, DONE], [MARKED, DONE]),
        ([ASK, DONE, REMINDER], [ASK, DONE, MARKED]),
        ([ASK, REMINDER, ASK], [ASK, MARKED, ASK]),
        ([ASK, REMINDER, REMINDER, DONE], [ASK, MARKED, MARKED, DONE]),
        (
            [ASK, {"role": "system", "content": [_text("Look."), IMAGE]}, DONE],
            [ASK, _answer(_text("[system message]"), _text("Look."), IMAGE), DONE],
        ),
    ],
)
def test_a_system_message_becomes_user_text_where_the_api_refuses_it(wires: list[Any], expected: list[Any]) -> None:
    rendered = ANTHROPIC.render(ANTHROPIC.parse(wires), None).messages
    assert rendered == expected
    assert check("anthropic", rendered, None) == []


def _batch(call_id: str, arguments: str = "{}") -> list[dict[str, Any]]:
    function = {"name": "read", "arguments": arguments}
    return [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": call_id, "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": call_id, "content": "ok"},
    ]


def _ids_of(wires: list[dict[str, Any]], source: str = "openai") -> list[str]:
    rendered = ANTHROPIC.render(FORMATS[source].parse([ASK, *wires]), None).messages
    assert check("anthropic", rendered, None) == []
    return [message["content"][0]["id"] for message in rendered if message["role"] == "assistant"]


def test_ids_that_do_not_match_are_rewritten_one_to_one() -> None:
    strange = ["a.b", "a_b", "a b", "x" * 65, "x" * 66, "", "ü", "call\n"]
    ids = _ids_of([wire for call_id in strange for wire in _batch(call_id)])
    assert len(set(ids)) == len(strange)
    assert ids[1] == "a_b"
    assert ids[0] == _ids_of(_batch("a.b"))[0]


def test_an_id_used_again_gets_a_suffix_with_its_result() -> None:
    assert _ids_of(_batch("c") * 3) == ["c", "c_2", "c_3"]
    assert _ids_of([*_batch("c_2"), *_batch("c") * 2]) == ["c_2", "c", "c_3"]


def test_an_id_used_again_in_its_own_format_gets_a_suffix_too() -> None:
    batch = [_said(_use(cache_control={})), _answer(_result(), _text("more"))]
    assert _ids_of(batch * 2, "anthropic") == ["t1", "t1_2"]


def test_a_long_id_used_ten_thousand_times_stays_unique() -> None:
    assert len(set(_ids_of(_batch("x" * 64) * 10_000))) == 10_000


@pytest.mark.parametrize(
    ("arguments", "expected", "lossy"),
    [
        ('{"a": [1, 2]}', {"a": [1, 2]}, 0),
        ("", {}, 0),
        ('{"n": 123456789012345678901234567890}', {"n": 123456789012345678901234567890}, 0),
        ('{"s": "\\ud800"}', {"s": "\ud800"}, 0),
        ("{", {"_raw": "{"}, 1),
        ("[1]", {"_raw": "[1]"}, 1),
        ('{"n": NaN}', {"_raw": '{"n": NaN}'}, 1),
        ('{"a":' * 5000, {"_raw": '{"a":' * 5000}, 1),
        ('{"a":' * 1000 + "1" + "}" * 1000, {"_raw": '{"a":' * 1000 + "1" + "}" * 1000}, 1),
    ],
)
def test_arguments_become_an_object(arguments: str, expected: dict[str, Any], lossy: int) -> None:
    rendered = ANTHROPIC.render(OPENAI.parse([ASK, *_batch("c", arguments)]), None)
    assert rendered.messages[1]["content"][0]["input"] == expected
    assert rendered.lossy == lossy


def test_an_empty_user_message_says_so_and_an_empty_assistant_message_is_left_out() -> None:
    wires = [{"role": "user", "content": ""}, {"role": "assistant", "content": ""}, {"role": "user", "content": " \n"}]
    rendered = ANTHROPIC.render(OPENAI.parse(wires), None)
    assert rendered.messages == [{"role": "user", "content": "[empty message]"}] * 2
    assert rendered.lossy == 1


def test_an_edited_result_keeps_its_place_and_the_rest_its_sources() -> None:
    wires = [ASK, _said(_use("a"), _use("b")), _answer(_result("a"), _result("b", cache_control={}), _text("x"))]
    messages = ANTHROPIC.parse(wires)
    messages[2] = Message("tool", (ToolResult("a", (Text("[cleared]"),)),), "anthropic")
    rendered = ANTHROPIC.render(messages, None).messages
    assert rendered[2] == _answer(_result("a", "[cleared]"), _result("b", cache_control={}), _text("x"))


def test_an_edited_failure_stays_a_failure() -> None:
    cleared = Message("tool", (ToolResult("a", (Text("no"),), is_error=True),), "anthropic")
    (message,) = ANTHROPIC.render([cleared], None).messages
    assert message["content"] == [_result("a", "no", is_error=True)]


def test_images_are_sent_as_the_api_takes_them() -> None:
    images = (
        Image("image/png", "AAAA"),
        Image(url="https://example.com/a.png"),
        Image("image/tiff", "AAAA"),
        Image(url="data:,x"),
    )
    rendered = ANTHROPIC.render([Message("user", images)], None)
    assert [block["type"] for block in rendered.messages[0]["content"]] == ["image", "image", "text", "text"]
    assert rendered.lossy == 2


@pytest.mark.parametrize("block", [{"type": "thinking", "id": "x"}, {"type": "redacted_thinking", "data": "x"}, _use()])
def test_blocks_of_the_assistant_leave_other_messages(block: dict[str, Any]) -> None:
    sent = [ASK, _said(_use("t2")), _answer(_result("t2", [block, _text("ok")])), *[_answer(block, _text("go on"))] * 2]
    if block["type"] == "tool_use":
        # A call beside what the user says is refused when it comes in.
        del sent[3:]
    rendered = ANTHROPIC.render(ANTHROPIC.parse(sent), None)
    assert check("anthropic", rendered.messages, None) == []
    assert rendered.lossy == len(sent) - 2
    assert block not in [each for message in rendered.messages[2:] for each in message["content"]]
