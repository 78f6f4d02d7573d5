from typing import Any

import pytest

from foldline.engine import wording
from foldline.engine.errors import InvalidMessage
from foldline.engine.formats import FORMATS
from foldline.engine.formats.openai import NAME_PATTERN
from foldline.engine.formats.rules import check
from foldline.engine.messages import Image, Message, Other, Text, Thinking, ToolCall, ToolResult, user
from foldline.engine.tokens.counter import count_messages, count_text

OPENAI = FORMATS["openai"]


def _call(call_id: str = "c1", arguments: str = "{}") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": "read", "arguments": arguments}}


def _one(wire: dict[str, Any]) -> Message:
    (message,) = OPENAI.parse([wire])
    return message


def test_text_is_read_with_its_source() -> None:
    wire = {"role": "user", "content": "hi", "name": "ann"}
    assert _one(wire) == Message("user", (Text("hi"),), "openai", wire)


@pytest.mark.parametrize("content", [None, "", []])
def test_empty_content_has_no_parts(content: object) -> None:
    assert _one({"role": "assistant", "content": content}).parts == ()


def test_parts_are_read_by_type() -> None:
    text = {"type": "text", "text": "look"}
    inline = {"type": "image_url", "image_url": {"url": "data:image/png;name=x;base64,AAAA"}}
    remote = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
    odd = {"type": "mystery"}
    assert _one({"role": "user", "content": [text, inline, remote, odd]}).parts == (
        Text("look", text),
        Image("image/png", "AAAA", source=inline),
        Image(url="https://example.com/a.png", source=remote),
        Other("mystery", odd),
    )


def test_an_assistant_message_is_thinking_then_text_then_calls() -> None:
    call = _call(arguments='{"a" :1,}')
    message = _one({"role": "assistant", "content": "x", "reasoning_content": "hm", "tool_calls": [call]})
    assert message.parts == (Thinking("hm"), Text("x"), ToolCall("c1", "read", '{"a" :1,}', call))


def test_a_tool_message_holds_one_result() -> None:
    message = _one({"role": "tool", "tool_call_id": "c1", "name": "read", "content": "text"})
    assert message.parts == (ToolResult("c1", (Text("text"),), "read"),)


@pytest.mark.parametrize(
    ("wire", "path"),
    [
        ("hi", "messages[1]"),
        ({}, "messages[1].role"),
        ({"role": "robot"}, "messages[1].role"),
        ({"role": ["user"]}, "messages[1].role"),
        ({"role": "function", "name": "f", "content": "1"}, "messages[1].role"),
        ({"role": "user", "content": 3}, "messages[1].content"),
        ({"role": "user", "content": ["hi"]}, "messages[1].content[0]"),
        ({"role": "user", "content": [{"type": "text", "text": "a"}, {"text": "b"}]}, "messages[1].content[1].type"),
        ({"role": "user", "content": [{"type": "text"}]}, "messages[1].content[0].text"),
        ({"role": "user", "content": [{"type": "image_url"}]}, "messages[1].content[0].image_url"),
        ({"role": "user", "content": [{"type": "image_url", "image_url": {}}]}, "messages[1].content[0].image_url.url"),
        ({"role": "user", "content": "", "tool_calls": [_call()]}, "messages[1].tool_calls"),
        ({"role": "tool", "content": ""}, "messages[1].tool_call_id"),
        ({"role": "tool", "tool_call_id": "c", "name": 1}, "messages[1].name"),
        ({"role": "assistant", "function_call": {"name": "f", "arguments": ""}}, "messages[1].function_call"),
        ({"role": "assistant", "tool_calls": {}}, "messages[1].tool_calls"),
        ({"role": "assistant", "tool_calls": [1]}, "messages[1].tool_calls[0]"),
        ({"role": "assistant", "tool_calls": [{"type": "magic"}]}, "messages[1].tool_calls[0].type"),
        ({"role": "assistant", "tool_calls": [{"type": ["x"]}]}, "messages[1].tool_calls[0].type"),
        ({"role": "assistant", "tool_calls": [{**_call(), "id": None}]}, "messages[1].tool_calls[0].id"),
        ({"role": "assistant", "tool_calls": [{"id": "c"}]}, "messages[1].tool_calls[0].function"),
        ({"role": "assistant", "tool_calls": [_call(), _call()]}, "messages[1].tool_calls[1].id"),
    ],
)
def test_a_wrong_shape_is_named_by_its_path(wire: object, path: str) -> None:
    with pytest.raises(InvalidMessage) as raised:
        OPENAI.parse([{"role": "user", "content": "fine"}, wire])
    assert raised.value.path == path


def test_a_list_of_messages_is_a_list() -> None:
    with pytest.raises(InvalidMessage) as raised:
        OPENAI.parse({"role": "user"}, "prompt")  # type: ignore[arg-type]  # what a client may send
    assert raised.value.path == "prompt"


def test_sources_are_rendered_as_they_are() -> None:
    wires = [
        {"role": "user", "content": "hi", "x": 1},
        {"role": "assistant", "content": None, "tool_calls": [{**_call(arguments="{"), "index": 0}], "refusal": None},
        {"role": "tool", "tool_call_id": "c1", "content": "ok", "name": "read"},
        {"role": "developer", "content": "mind"},
    ]
    rendered = OPENAI.render(OPENAI.parse(wires), None)
    assert all(out is wire for out, wire in zip(rendered.messages, wires, strict=True))
    assert rendered.lossy == 0


def test_the_system_prompt_comes_first() -> None:
    rendered = OPENAI.render([user("hi")], "Be kind.")
    assert rendered.messages == [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "hi"}]
    assert rendered.system == "Be kind."


@pytest.mark.parametrize(
    ("wire", "repaired"),
    [
        ({"role": "user", "content": None, "x": 1}, {"role": "user", "content": "", "x": 1}),
        ({"role": "assistant", "content": "a", "tool_calls": []}, {"role": "assistant", "content": "a"}),
        ({"role": "user", "content": []}, {"role": "user", "content": ""}),
    ],
)
def test_what_the_provider_refuses_is_repaired(wire: dict[str, Any], repaired: dict[str, Any]) -> None:
    assert OPENAI.render([_one(wire)], None).messages == [repaired]


def test_a_call_without_its_type_gets_one() -> None:
    call = {"id": "c1", "function": {"name": "f", "arguments": ""}}
    wires = [{"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": "c1", "content": ""}]
    rendered = OPENAI.render(OPENAI.parse(wires), None).messages
    assert rendered[0]["tool_calls"] == [{**call, "type": "function"}]


def test_an_empty_id_is_replaced_in_call_and_result() -> None:
    wires = [
        {"role": "assistant", "content": None, "tool_calls": [_call("")]},
        {"role": "tool", "tool_call_id": "", "content": "ok"},
    ]
    call, result = OPENAI.render(OPENAI.parse(wires), None).messages
    assert call["tool_calls"][0]["id"] == result["tool_call_id"] != ""


def test_an_id_used_again_by_a_later_batch_stays() -> None:
    batch = [
        {"role": "assistant", "content": None, "tool_calls": [_call()]},
        {"role": "tool", "tool_call_id": "c1", "content": "ok"},
    ]
    assert OPENAI.render(OPENAI.parse(batch * 2), None).messages == batch * 2


def test_images_of_results_follow_the_whole_batch() -> None:
    image = Image("image/png", "AAAA")
    messages = [
        Message("assistant", (ToolCall("a", "shot", "{}"), ToolCall("b", "shot", "{}"))),
        Message("tool", (ToolResult("a", (image,)),)),
        Message("tool", (ToolResult("b", (Text("done"), image)),)),
        user("next"),
    ]
    rendered = OPENAI.render(messages, None)
    assert [message["role"] for message in rendered.messages] == ["assistant", "tool", "tool", "user", "user"]
    url = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    assert rendered.messages[3]["content"][1:] == [url, url]
    assert rendered.lossy == 0


def test_an_edited_message_keeps_the_sources_of_its_parts() -> None:
    part = {"type": "text", "text": "long", "cache_control": {"type": "ephemeral"}}
    edited = Message("user", (Text("long", part), Text("short")), "openai")
    assert OPENAI.render([edited], None).messages == [
        {"role": "user", "content": [part, {"type": "text", "text": "short"}]}
    ]


@pytest.mark.parametrize("line", [wording.SUMMARY, wording.BRANCH, wording.interim(7)])
def test_a_summary_is_one_text_below_its_line(line: str) -> None:
    """DeepSeek refuses lists of texts: "invalid type: sequence, expected a string"."""
    (rendered,) = OPENAI.render([Message("user", (Text(line), Text("They went.")))], None).messages
    assert rendered["content"] == f"{line}\nThey went."
    assert count_messages(OPENAI.parse([rendered])) <= count_messages([user(line)]) + count_text("They went.")


def test_an_edited_assistant_message_keeps_its_reasoning() -> None:
    edited = Message("assistant", (Thinking("hm"), Text("cut")), "openai")
    assert OPENAI.render([edited], None).messages == [
        {"role": "assistant", "reasoning_content": "hm", "content": "cut"}
    ]


def test_a_cleared_result_is_a_plain_text() -> None:
    cleared = Message("tool", (ToolResult("c1", (Text("[cleared]"),), "read"),), "openai")
    assert OPENAI.render([cleared], None).messages == [
        {"role": "tool", "tool_call_id": "c1", "content": "[cleared]", "name": "read"}
    ]


def test_a_call_id_over_64_characters_is_rewritten_with_its_result() -> None:
    long = "c" * 65
    wires = [{"role": "assistant", "content": None, "tool_calls": [{**_call(long), "x": 1}]}]
    wires.append({"role": "tool", "tool_call_id": long, "content": "ok", "name": "read"})
    calling, result = OPENAI.render(OPENAI.parse(wires), None).messages
    call_id = result["tool_call_id"]
    assert len(call_id) <= 64
    assert calling == {**wires[0], "tool_calls": [{**_call(call_id), "x": 1}]}
    assert result == {**wires[1], "tool_call_id": call_id}


@pytest.mark.parametrize(("name", "stays"), [("a" * 64, True), ("a" * 65, False), ("files.read", False), ("", False)])
def test_a_tool_name_of_others_is_rewritten_if_it_does_not_fit(name: str, *, stays: bool) -> None:
    message = Message("assistant", (ToolCall("c", name, "{}"),), "native")
    (wire,) = OPENAI.render([message], None).messages
    written = wire["tool_calls"][0]["function"]["name"]
    assert (written == name) == stays
    assert NAME_PATTERN.fullmatch(written)
    own = Message("assistant", (ToolCall("c", name, "{}"),), "openai")
    assert OPENAI.render([own], None).messages[0]["tool_calls"][0]["function"]["name"] == name


@pytest.mark.parametrize("calls", [None, []])
def test_only_the_assistant_goes_out_with_a_key_for_calls(calls: Any) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    said = [
        {"role": "user", "content": "go", "tool_calls": calls},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "ok", "tool_calls": calls},
    ]
    rendered = OPENAI.render(OPENAI.parse(said), None).messages
    assert check("openai", rendered, None) == []
    assert [message["content"] for message in rendered] == ["go", None, "ok"]
