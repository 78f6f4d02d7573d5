from typing import Any

import pytest

from foldline.engine.errors import InvalidMessage
from foldline.engine.formats import FORMATS
from foldline.engine.messages import Image, Message, Other, Text, Thinking, ToolCall, ToolResult

NATIVE = FORMATS["native"]

MESSAGES = [
    Message("system", (Text("rule"),)),
    Message("user", (Text("look"), Image("image/png", "AA"), Image(url="https://x/y"), Other("m", {"type": "m"}))),
    Message("assistant", (Thinking("hm", "s"), ToolCall("c", "read", "{"))),
    Message("tool", (ToolResult("c", (Text("no"), Image(url="https://x/y")), "read", is_error=True),)),
]


def _without_sources(part: Any) -> Any:
    if isinstance(part, Other):
        return part
    fields = {name: getattr(part, name) for name in part.__slots__ if name != "source"}
    if isinstance(part, ToolResult):
        fields["content"] = tuple(map(_without_sources, part.content))
    return type(part)(**fields)


def test_everything_survives_the_round_trip() -> None:
    parsed = NATIVE.parse(NATIVE.render(MESSAGES, None).messages)
    assert [Message(m.role, tuple(map(_without_sources, m.parts))) for m in parsed] == MESSAGES


def test_a_foreign_part_with_a_name_of_ours_is_wrapped() -> None:
    part = {"type": "thinking", "budget": 3}
    message = Message("user", (Other("thinking", part),), "openai")
    (wire,) = NATIVE.render([message], None).messages
    assert wire["parts"] == [{"type": "other", "kind": "thinking", "source": part}]
    assert NATIVE.render(NATIVE.parse([wire]), None).messages == [wire]


@pytest.mark.parametrize(
    ("wire", "path"),
    [
        ({"role": "user"}, "messages[0].parts"),
        ({"role": "you", "parts": []}, "messages[0].role"),
        ({"role": "user", "parts": [{"type": "image"}]}, "messages[0].parts[0]"),
        ({"role": "user", "parts": [{"type": "text"}]}, "messages[0].parts[0].text"),
        ({"role": "user", "parts": [{"type": "thinking", "text": "x"}]}, "messages[0].parts[0].type"),
        ({"role": "tool", "parts": []}, "messages[0].parts"),
        (
            {"role": "user", "parts": [{"type": "tool_result", "call_id": "c", "content": []}]},
            "messages[0].parts[0].type",
        ),
        (
            {
                "role": "tool",
                "parts": [{"type": "tool_result", "call_id": "c", "content": [{"type": "thinking", "text": ""}]}],
            },
            "messages[0].parts[0].content[0].type",
        ),
        (
            {"role": "assistant", "parts": [{"type": "tool_call", "id": "c", "name": "n", "arguments": {}}]},
            "messages[0].parts[0].arguments",
        ),
        (
            {"role": "assistant", "parts": [{"type": "tool_call", "id": "c", "name": "n", "arguments": ""}] * 2},
            "messages[0].parts[1].id",
        ),
    ],
)
def test_a_wrong_shape_is_named_by_its_path(wire: object, path: str) -> None:
    with pytest.raises(InvalidMessage) as raised:
        NATIVE.parse([wire])
    assert raised.value.path == path
