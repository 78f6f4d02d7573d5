from dataclasses import replace
from typing import Any

import pytest

from foldline.engine.errors import InvalidMessage
from foldline.engine.formats import FORMATS
from foldline.engine.formats.rules import check
from foldline.engine.messages import Image, Message, Other, Text, Thinking, ToolCall, ToolResult, user, without_bound

Wire = dict[str, Any]

RESPONSES = FORMATS["responses"]
ASK: Wire = {"role": "user", "content": "ask"}
REASONING: Wire = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "hm"}, {"type": "summary_text", "text": "so"}],
    "encrypted_content": "gAAA",
}


def _said(text: str = "x", **extra: Any) -> Wire:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}], **extra}


def _call(call_id: str = "c1", **extra: Any) -> Wire:
    return {"type": "function_call", "call_id": call_id, "name": "read", "arguments": '{"p": 1}', **extra}


def _output(call_id: str = "c1", output: object = "ok", **extra: Any) -> Wire:
    return {"type": "function_call_output", "call_id": call_id, "output": output, **extra}


def _rendered(*messages: Message) -> list[Wire]:
    return RESPONSES.render(messages, None).messages


def _edited(message: Message) -> Message:
    return Message(message.role, message.parts, message.format)


def test_what_the_model_gave_is_one_message_and_each_output_is_one() -> None:
    items = [ASK, REASONING, _said(), _call("a"), _call("b"), _output("b"), _output("a"), _said("done")]
    asked, calling, *results, done = RESPONSES.parse(items)
    assert asked == Message("user", (Text("ask"),), "responses", ASK)
    assert calling.parts == (
        Thinking("hm\n\nso", "gAAA", REASONING),
        Text("x", items[2]),
        ToolCall("a", "read", '{"p": 1}', items[3]),
        ToolCall("b", "read", '{"p": 1}', items[4]),
    )
    assert calling.source == {"items": items[1:5]}
    assert [result.result for result in results] == [
        ToolResult("b", (Text("ok"),), source=items[5]),
        ToolResult("a", (Text("ok"),), source=items[6]),
    ]
    assert done.source is items[7]


@pytest.mark.parametrize("items", [[_said()], [REASONING, _said()], [REASONING, _said(), _call("a"), _call("b")]])
def test_the_source_of_a_message_is_read_as_that_message(items: list[Wire]) -> None:
    (message,) = RESPONSES.parse(items)
    assert RESPONSES.parse([message.source]) == [message]
    assert _rendered(message)[: len(items)] == items


@pytest.mark.parametrize(
    ("item", "call"),
    [
        (_call(), ToolCall("c1", "read", '{"p": 1}')),
        ({"type": "custom_tool_call", "call_id": "c1", "name": "code", "input": "1+"}, ToolCall("c1", "code", "1+")),
        (
            {"type": "shell_call", "call_id": "c1", "action": {"commands": []}},
            ToolCall("c1", "shell", '{"commands":[]}'),
        ),
        ({"type": "local_shell_call", "call_id": "c1", "action": {"a": 1}}, ToolCall("c1", "local_shell", '{"a":1}')),
        ({"type": "apply_patch_call", "call_id": "c1", "operation": {}}, ToolCall("c1", "apply_patch", "{}")),
        ({"type": "computer_call", "call_id": "c1", "actions": [1]}, ToolCall("c1", "computer", '{"actions":[1]}')),
        ({"type": "computer_call", "call_id": "c1", "action": {"x": 1}}, ToolCall("c1", "computer", '{"x":1}')),
        (
            {"type": "mcp_approval_request", "id": "m1", "name": "n", "arguments": "{}"},
            ToolCall("m1", "mcp_approval_request", "{}"),
        ),
    ],
)
def test_all_that_a_client_answers_is_a_call(item: Wire, call: ToolCall) -> None:
    ((part,),) = (message.parts for message in RESPONSES.parse([item]))
    assert part == ToolCall(call.id, call.name, call.arguments, item)


@pytest.mark.parametrize(
    ("item", "result"),
    [
        (_output(output="text"), ToolResult("c1", (Text("text"),))),
        (_output(output="", name="n"), ToolResult("c1", (), "n")),
        ({"type": "custom_tool_call_output", "call_id": "c1", "output": "t"}, ToolResult("c1", (Text("t"),))),
        (
            {"type": "shell_call_output", "call_id": "c1", "output": [{"stdout": "s"}]},
            ToolResult("c1", (Text('[{"stdout":"s"}]'),)),
        ),
        ({"type": "local_shell_call_output", "id": "c1", "output": "{}"}, ToolResult("c1", (Text("{}"),))),
        (
            {"type": "apply_patch_call_output", "call_id": "c1", "status": "failed", "output": "no"},
            ToolResult("c1", (Text("no"),), is_error=True),
        ),
        (
            {"type": "computer_call_output", "call_id": "c1", "output": {"image_url": "data:image/png;base64,AA"}},
            ToolResult("c1", (Image("image/png", "AA"),)),
        ),
        (
            {"type": "mcp_approval_response", "approval_request_id": "c1", "approve": True},
            ToolResult("c1", (Text("true"),)),
        ),
    ],
)
def test_every_output_is_a_result(item: Wire, result: ToolResult) -> None:
    assert RESPONSES.parse([item]) == [Message("tool", (replace(result, source=item),), "responses", item)]


def test_other_items_of_the_model_are_unknown_parts() -> None:
    search = {"type": "web_search_call", "id": "ws_1"}
    reference = {"type": "item_reference", "id": "msg_9"}
    compaction = {"type": "compaction", "encrypted_content": "g"}
    hosted: Wire = {"type": "tool_search_call", "call_id": None, "arguments": {}}
    (message,) = RESPONSES.parse([search, reference, compaction, hosted])
    assert message.parts == tuple(Other(item["type"], item) for item in (search, reference, compaction, hosted))
    assert message.bound_parts == 1


def test_configuration_is_the_developers() -> None:
    items = [ASK, {"type": "additional_tools", "role": "developer", "tools": []}, _said()]
    messages = RESPONSES.parse(items)
    assert [message.role for message in messages] == ["user", "developer", "assistant"]
    assert _rendered(*map(_edited, messages))[1] == items[1]


@pytest.mark.parametrize(
    ("item", "path"),
    [
        ("hi", "messages[1]"),
        ({"content": "hi"}, "messages[1].role"),
        ({"type": "message", "role": "tool", "content": "x"}, "messages[1].role"),
        ({"type": 3}, "messages[1].type"),
        ({"items": []}, "messages[1].items"),
        ({"items": [_said(), 3]}, "messages[1].items[1]"),
        ({"role": "user", "content": 3}, "messages[1].content"),
        ({"role": "user", "content": [{"text": "x"}]}, "messages[1].content[0].type"),
        ({"role": "user", "content": [{"type": "input_text"}]}, "messages[1].content[0].text"),
        ({"type": "function_call", "call_id": "c", "name": "f"}, "messages[1].arguments"),
        ({"type": "function_call", "name": "f", "arguments": ""}, "messages[1].call_id"),
        ({"type": "function_call", "call_id": "c", "arguments": ""}, "messages[1].name"),
        ({"type": "function_call_output", "output": ""}, "messages[1].call_id"),
        (_output(output=3), "messages[1].output"),
        (_output(output=[3]), "messages[1].output[0]"),
        ({"type": "reasoning", "summary": "x"}, "messages[1].summary"),
        ({"type": "reasoning", "encrypted_content": 1}, "messages[1].encrypted_content"),
        ({"items": [_call(), _call()]}, "messages[1].items[1]"),
    ],
)
def test_a_wrong_item_is_refused_with_its_path(item: object, path: str) -> None:
    with pytest.raises(InvalidMessage) as raised:
        RESPONSES.parse([ASK, item])
    assert str(raised.value).startswith(f"{path}: ")


# Rendering


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ({"type": "input_image"}, "[input_image left out]"),
        ({"type": "input_image", "image_url": ""}, "[image left out]"),
        ({"type": "input_image", "image_url": None, "file_id": 3}, "[input_image left out]"),
    ],
)
def test_an_image_that_is_nowhere_is_a_mark(part: Wire, text: str) -> None:
    items = [{"role": "user", "content": [part]}, _call(), _output(output=[part])]
    rendered = RESPONSES.render(RESPONSES.parse(items), None)
    mark = {"type": "input_text", "text": text}
    assert [rendered.messages[0]["content"], rendered.messages[2]["output"], rendered.lossy] == [[mark], [mark], 2]


def test_an_item_in_which_the_model_said_nothing_is_left_out() -> None:
    items = [ASK, {"type": "message", "role": "assistant", "content": None}, _call(), _output()]
    rendered = _rendered(*RESPONSES.parse(items))
    assert rendered == [ASK, _call(), _output()]
    assert check("responses", rendered, None) == []


def test_an_output_that_is_null_is_empty() -> None:
    assert _rendered(*RESPONSES.parse([ASK, _call(), _output(output=None)])) == [ASK, _call(), _output(output="")]


def test_instructions_stay_beside_the_list() -> None:
    rendered = RESPONSES.render([user("hi")], "Be brief.")
    assert rendered.system == "Be brief."
    assert rendered.messages == [{"type": "message", "role": "user", "content": "hi"}]


def test_messages_of_others_become_items() -> None:
    messages = [
        Message("user", (Text("look"), Image("image/png", "AA")), "anthropic"),
        Message("assistant", (Thinking("hm", "s"), Text("I look."), ToolCall("a.b", "see it", "{}")), "anthropic"),
        Message("tool", (ToolResult("a.b", (Text("none"),), is_error=True),), "anthropic"),
    ]
    rendered = RESPONSES.render(messages, None)
    call_id, name = rendered.messages[2]["call_id"], rendered.messages[2]["name"]
    assert call_id == "a.b"
    assert name.startswith("see_it_")
    assert rendered.messages == [
        {
            "type": "message",
            "role": "user",
            "content": [
                {"type": "input_text", "text": "look"},
                {"type": "input_image", "image_url": "data:image/png;base64,AA", "detail": "auto"},
            ],
        },
        _said("I look."),
        {"type": "function_call", "call_id": "a.b", "name": name, "arguments": "{}"},
        _output("a.b", "[error]\nnone"),
    ]
    assert rendered.lossy == 1


def test_a_long_id_is_rewritten_with_its_output_and_the_rest_of_the_call_stays() -> None:
    items = [ASK, _call("c" * 65, id="fc_1", namespace="n"), _output("c" * 65, id="fco_1")]
    rendered = _rendered(*RESPONSES.parse(items))
    call_id = rendered[1]["call_id"]
    assert len(call_id) <= 64
    assert rendered == [ASK, {**items[1], "call_id": call_id}, {**items[2], "call_id": call_id}]


def test_an_id_that_a_later_batch_uses_again_gets_a_suffix() -> None:
    items = [_call(), _output(), ASK, _call(), _output()]
    rendered = _rendered(*RESPONSES.parse(items))
    assert [item["call_id"] for item in rendered if item != ASK] == ["c1", "c1", "c1_2", "c1_2"]


def test_items_lose_their_ids_with_the_reasoning_that_led_to_them() -> None:
    image = {"type": "image_generation_call", "id": "ig_1", "result": "AA", "status": "completed"}
    items = [ASK, REASONING, _said(id="msg_1"), _call(id="fc_1"), image, _output()]
    asked, calling, result = RESPONSES.parse(items)
    rendered = RESPONSES.render([asked, without_bound(calling), result], None)
    assert rendered.messages == [ASK, _said(), _call(), _said("[image_generation_call left out]"), _output()]
    assert rendered.lossy == 1


def test_items_of_the_same_response_lose_their_ids_too_until_the_next_reasoning() -> None:
    again = {**REASONING, "id": "rs_2"}
    items = [ASK, REASONING, _call("a"), _output("a"), _call("b", id="fc_b"), _output("b"), again, _said(id="msg_2")]
    asked, first, *rest = RESPONSES.parse(items)
    assert _rendered(asked, without_bound(first), *rest) == [
        ASK,
        *items[2:4],
        _call("b"),
        *items[5:],
    ]


def test_items_after_a_summary_lose_their_ids() -> None:
    _, call, output = RESPONSES.parse([ASK, _call(id="fc_1"), _output()])
    assert _rendered(user("Summary."), call, output)[1:] == [_call(), _output()]


def test_reasoning_without_what_it_led_to_is_left_out() -> None:
    rendered = RESPONSES.render(RESPONSES.parse([ASK, _said(), REASONING, ASK]), None)
    assert rendered.messages == [ASK, _said(), ASK]
    assert rendered.lossy == 1


def test_repeated_items_keep_one_id() -> None:
    items = [ASK, REASONING, _said(id="msg_1"), ASK, REASONING, _said(id="msg_1")]
    rendered = RESPONSES.render(RESPONSES.parse(items), None)
    assert rendered.messages == [ASK, REASONING, _said(id="msg_1"), ASK, _said()]
    assert rendered.lossy == 1


def test_a_cleared_output_that_may_be_no_text_becomes_a_functions() -> None:
    click = {"type": "computer_call", "id": "cu_1", "call_id": "c1", "actions": [], "pending_safety_checks": []}
    shot = {
        "type": "computer_call_output",
        "call_id": "c1",
        "output": {"type": "computer_screenshot", "image_url": "u"},
    }
    calling, result = RESPONSES.parse([click, shot])
    assert _rendered(calling, result) == [click, shot]
    cleared = Message("tool", (ToolResult("c1", (Text("[cleared]"),)),), "responses")
    rendered = _rendered(calling, cleared)
    assert rendered == [
        {"type": "function_call", "call_id": "c1", "name": "computer", "arguments": '{"actions":[]}'},
        _output("c1", "[cleared]"),
    ]
    assert check("responses", rendered, None) == []


def test_a_cleared_output_of_a_custom_tool_stays_one() -> None:
    call = {"type": "custom_tool_call", "call_id": "c1", "name": "code", "input": "1", "id": "ctc_1"}
    calling, _ = RESPONSES.parse([call, {"type": "custom_tool_call_output", "call_id": "c1", "output": "long"}])
    cleared = Message("tool", (ToolResult("c1", (Text("[cleared]"),)),), "responses")
    assert _rendered(calling, cleared) == [
        call,
        {"type": "custom_tool_call_output", "call_id": "c1", "output": "[cleared]"},
    ]


def test_an_edited_message_keeps_its_other_items_and_texts_of_one_item_together() -> None:
    said = _said(id="msg_1", phase="commentary")
    said["content"] = [*said["content"], {"type": "output_text", "text": "y", "annotations": [1]}]
    items = [REASONING, said, _call(namespace="n")]
    (message,) = RESPONSES.parse(items)
    assert _rendered(_edited(message)) == items


def test_a_message_without_content_is_repaired() -> None:
    assert _rendered(*RESPONSES.parse([{"role": "user", "content": [], "x": 1}])) == [
        {"role": "user", "content": "", "x": 1}
    ]


@pytest.mark.parametrize("odd", [7, {"a": 1}, [], True])
def test_an_id_that_is_no_text_is_left_out(odd: Any) -> None:
    said = [
        {"type": "message", "role": "user", "content": "Go on.", "id": odd},
        {"type": "message", "role": "assistant", "content": "Done.", "id": odd},
        {"type": "function_call", "call_id": "c", "name": "read", "arguments": "{}", "id": odd},
        {"type": "function_call_output", "call_id": "c", "output": "x", "id": odd},
        {"type": "file_search_call", "queries": [], "status": "completed", "id": odd},
    ]
    rendered = RESPONSES.render(RESPONSES.parse(said), None)
    assert check("responses", rendered.messages, None) == []
    assert not any("id" in item for item in rendered.messages)
    assert len(rendered.messages) == len(said)


@pytest.mark.parametrize("kind", [{}, {"type": None}, {"type": "message"}])
@pytest.mark.parametrize("role", ["user", "assistant", "system", "developer"])
@pytest.mark.parametrize(
    ("part", "said"),
    [
        ({"type": "input_text", "text": "Go on."}, "Go on."),
        ({"type": "output_text", "text": "Go on."}, "Go on."),
        ({"type": "text", "text": "Go on."}, "Go on."),
        ({"type": "refusal", "refusal": "Go on."}, "Go on."),
        ({"type": "input_image", "image_url": "https://example.com/a.png"}, "[image left out]"),
    ],
)
def test_a_part_goes_out_as_its_role_may_have_it(kind: Wire, role: str, part: Wire, said: str) -> None:
    item = {**kind, "role": role, "content": [part, {"type": "input_file", "file_id": "f"}]}
    rendered = RESPONSES.render(RESPONSES.parse([item, _call(), _output(output=[part])]), None)
    assert check("responses", rendered.messages, None) == []
    (written, file), output = rendered.messages[0]["content"], rendered.messages[2]["output"][0]
    assert file == {"type": "input_file", "file_id": "f"}
    assert written == part or written["text"] == said
    assert output in (part, {"type": "input_text", "text": said})
    assert rendered.lossy == (written["type"] != part["type"] == "input_image")


def test_reasoning_without_a_summary_gets_an_empty_one() -> None:
    thought = {"type": "reasoning", "encrypted_content": "sealed"}
    rendered = _rendered(*RESPONSES.parse([ASK, thought, {**thought, "summary": None}, _said()]))
    assert rendered == [ASK, {**thought, "summary": []}, {**thought, "summary": []}, _said()]
    assert check("responses", rendered, None) == []


def test_an_answer_that_is_no_list_of_parts_is_left_as_it_is() -> None:
    items = [
        ASK,
        {"type": "shell_call", "call_id": "c", "action": {"commands": ["ls"]}},
        {"type": "shell_call_output", "call_id": "c", "output": ["a", 3]},
    ]
    assert _rendered(*RESPONSES.parse(items)) == items
