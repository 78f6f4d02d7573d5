from typing import Any

import pytest

from foldline.engine.errors import InvalidMessage
from foldline.engine.formats import FORMATS
from foldline.engine.messages import Image, Message, Other, Text, Thinking, ToolCall, ToolResult, user
from foldline.engine.session_files.pi_messages import parse, wire_entry
from tests.support.transcripts import PNG

IMAGE = {"type": "image", "data": PNG, "mimeType": "image/png"}


def text(said: str = "hello") -> dict[str, Any]:
    return {"type": "text", "text": said}


def call(call_id: str = "c1", **arguments: Any) -> dict[str, Any]:
    return {"type": "toolCall", "id": call_id, "name": "read", "arguments": arguments}


def entry(role: str, **fields: Any) -> dict[str, Any]:
    return {"type": "message", "id": "0000000a", "parentId": None, "message": {"role": role, **fields}}


def answer(*content: Any, **fields: Any) -> dict[str, Any]:
    return entry("assistant", content=list(content), **fields)


def result(content: Any = (), **fields: Any) -> dict[str, Any]:
    return entry("toolResult", **{"toolCallId": "c1", "toolName": "read", "content": list(content), **fields})


def one(wire: dict[str, Any]) -> Message:
    (message,) = parse([wire])
    return message


@pytest.mark.parametrize("content", ["ask", [text("ask")]])
def test_what_a_user_says_is_text_or_parts(content: Any) -> None:
    wire = entry("user", content=content)
    message = one(wire)
    assert (message.role, message.text, message.format) == ("user", "ask", "pi")
    assert message.source is wire


def test_parts_are_read_by_type_and_keep_their_sources() -> None:
    unknown = {"type": "audio", "data": "x"}
    assert one(entry("user", content=[text(), IMAGE, unknown])).parts == (
        Text("hello", text()),
        Image("image/png", PNG, source=IMAGE),
        Other("audio", unknown),
    )
    thought = {"type": "thinking", "thinking": "hm", "thinkingSignature": "s"}
    assert one(answer(thought, text(), call(b=1, a=[2, 1 << 70]))).parts == (
        Thinking("hm", "s", thought),
        Text("hello", text()),
        ToolCall("c1", "read", '{"b":1,"a":[2,1180591620717411303424]}', call(b=1, a=[2, 1 << 70])),
    )


def test_a_result_is_a_tool_message() -> None:
    message = one(result([text("ok"), IMAGE], isError=True, details={"diff": "+"}))
    content = (Text("ok", text("ok")), Image("image/png", PNG, source=IMAGE))
    assert (message.role, message.parts) == ("tool", (ToolResult("c1", content, "read", is_error=True),))


@pytest.mark.parametrize(
    ("fields", "notes"),
    [
        ({}, ""),
        ({"exitCode": 0, "cancelled": False, "fullOutputPath": None}, ""),
        ({"exitCode": 2, "fullOutputPath": "/var/all"}, "\n[exit code 2]\n[full output in /var/all]"),
        ({"cancelled": True}, "\n[cancelled]"),
    ],
)
def test_a_command_of_the_user_shows_with_its_output(fields: dict[str, Any], notes: str) -> None:
    message = one(entry("bashExecution", command="ls {x}", output="a\nb", **fields))
    assert (message.role, message.text) == ("user", f"[command run by the user]\n$ ls {{x}}\na\nb{notes}")


@pytest.mark.parametrize(
    "wire",
    [
        entry("custom", customType="note", content="hello"),
        entry("hookMessage", customType="note", content=[text()]),
        entry("branchSummary", summary="hello", fromId="root"),
        entry("compactionSummary", summary="hello", tokensBefore=9),
        {"type": "custom_message", "customType": "note", "content": "hello", "display": True},
        {"type": "custom_message", "customType": "note", "content": [text()], "display": False},
    ],
)
def test_what_neither_side_said_comes_from_the_developer(wire: dict[str, Any]) -> None:
    assert (one(wire).role, one(wire).text) == ("developer", "hello")


@pytest.mark.parametrize(
    ("wire", "path"),
    [
        (None, ""),
        ({"type": "label"}, ".type"),
        ({"type": "message"}, ".message"),
        (entry("robot"), ".message.role"),
        (entry("user"), ".message.content"),
        (entry("user", content=[text(), "x"]), ".message.content[1]"),
        (entry("user", content=[{"type": "text"}]), ".message.content[0].text"),
        (entry("user", content=[{**IMAGE, "mimeType": 1}]), ".message.content[0].mimeType"),
        (entry("user", content=[call()]), ".message.content[0].type"),
        (entry("assistant", content="text"), ".message.content"),
        (answer({**call(), "arguments": "{}"}), ".message.content[0].arguments"),
        (answer({**call(), "id": None}), ".message.content[0].id"),
        (answer(call(), text(), call()), ".message.content[2].id"),
        (answer({"type": "thinking"}), ".message.content[0].thinking"),
        (answer(usage=[]), ".message.usage"),
        (answer(usage={"output": 1.5}), ".message.usage.output"),
        (answer(usage={"totalTokens": True}), ".message.usage.totalTokens"),
        (answer(model=1), ".message.model"),
        (result(toolCallId=None), ".message.toolCallId"),
        (result([{"type": "thinking", "thinking": "x"}]), ".message.content[0].type"),
        (entry("bashExecution", command="ls"), ".message.output"),
        (entry("branchSummary"), ".message.summary"),
        ({"type": "custom_message", "content": 1}, ".content"),
    ],
)
def test_what_is_wrong_is_named_by_its_path(wire: Any, path: str) -> None:
    with pytest.raises(InvalidMessage) as caught:
        parse([entry("user", content="ask"), wire])
    assert caught.value.path == f"messages[1]{path}"


def test_arguments_nested_too_deeply_are_refused() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(InvalidMessage, match=r"arguments: nested too deeply"):
        one(answer(call(deep=deep)))


def test_a_message_of_pi_comes_back_as_it_was() -> None:
    wire = entry("custom", customType="note", content="hello", display=True)
    assert wire_entry(one(wire)) is wire


def test_an_edited_message_of_pi_keeps_its_untouched_parts() -> None:
    part = {**text(), "textSignature": "t"}
    assert wire_entry(Message("user", one(entry("user", content=[part, IMAGE])).parts, "pi")) == {
        "type": "message",
        "message": {"role": "user", "content": [part, IMAGE]},
    }


def test_what_the_user_said_elsewhere_is_written() -> None:
    (message,) = FORMATS["openai"].parse([{"role": "user", "content": "ask"}])
    assert wire_entry(message) == {"type": "message", "message": {"role": "user", "content": "ask"}}


@pytest.mark.parametrize(
    ("arguments", "written"),
    [
        ('{"path": "a", "n": 1}', {"path": "a", "n": 1}),
        ("", {}),
        ("{", {"arguments": "{"}),
        ("[]", {"arguments": "[]"}),
    ],
)
def test_arguments_are_written_as_an_object(arguments: str, written: dict[str, Any]) -> None:
    message = Message("assistant", (Thinking("hm", "s"), Thinking("h"), Text("so"), ToolCall("c", "read", arguments)))
    said = wire_entry(message)["message"]
    assert said["content"] == [
        {"type": "thinking", "thinking": "hm", "thinkingSignature": "s"},
        {"type": "thinking", "thinking": "h"},
        text("so"),
        {"type": "toolCall", "id": "c", "name": "read", "arguments": written},
    ]
    assert said["stopReason"] == "toolUse"
    assert said["usage"]["cost"]["total"] == said["usage"]["totalTokens"] == 0


def test_an_answer_without_calls_is_one_that_stopped() -> None:
    assert wire_entry(Message("assistant", (Text("done"),)))["message"]["stopReason"] == "stop"


def test_a_result_is_written_with_the_tool_if_it_is_known() -> None:
    content = (Text("ok"), Image("image/png", PNG))
    named = wire_entry(Message("tool", (ToolResult("c", content, "read", is_error=True),)))
    assert named["message"] == {
        "role": "toolResult",
        "toolCallId": "c",
        "toolName": "read",
        "content": [text("ok"), IMAGE],
        "isError": True,
    }
    assert wire_entry(Message("tool", (ToolResult("c", ()),)))["message"]["toolName"] == "unknown"


@pytest.mark.parametrize("role", ["system", "developer"])
def test_instructions_become_custom_messages(role: Any) -> None:
    expected = {"type": "custom_message", "customType": "foldline", "content": "Be brief.", "display": False}
    assert wire_entry(Message(role, (Text("Be brief."),))) == expected


def test_what_pi_cannot_carry_leaves_a_mark() -> None:
    parts = (Image(url="https://x.test/a.png"), Other("document", {}), Other("redacted_thinking", {}))
    assert wire_entry(Message("user", parts))["message"]["content"] == [
        text("[image left out]"),
        text("[document left out]"),
    ]
    drawn = wire_entry(Message("assistant", (Image("image/png", PNG),)))["message"]["content"]
    assert drawn == [text("[image left out]")]


def test_what_is_written_can_be_read() -> None:
    messages = [
        user("ask"),
        Message("assistant", (Text("so"), ToolCall("c", "read", '{"n":1}'))),
        Message("tool", (ToolResult("c", (Text("ok"),), "read"),)),
        Message("developer", (Text("note"),)),
    ]
    assert FORMATS["native"].render(parse([*map(wire_entry, messages)]), None) == FORMATS["native"].render(
        messages, None
    )
