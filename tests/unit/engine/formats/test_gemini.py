from typing import Any

import pytest

from foldline.engine.errors import InvalidMessage
from foldline.engine.formats import FORMATS, detect
from foldline.engine.formats.rules import check
from foldline.engine.messages import Image, Message, Other, Text, Thinking, ToolCall, ToolResult, user

GEMINI = FORMATS["gemini"]
ASK = {"role": "user", "parts": [{"text": "ask"}]}
STAND_IN = "skip_thought_signature_validator"
PNG = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}


def _call(name: str = "read", **extra: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": {"p": 1}, **extra}}


def _answer(name: str = "read", response: object = None, **extra: Any) -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": response or {"output": "ok"}, **extra}}


def _model(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": "model", "parts": list(parts)}


def _user(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "parts": list(parts)}


def _result_of(response: object, **extra: Any) -> ToolResult:
    *_, message = GEMINI.parse([_user(_answer(response=response, **extra))])
    assert message.result is not None
    return message.result


def test_a_call_without_an_id_gets_one_from_its_name() -> None:
    _, message = GEMINI.parse([ASK, _model(_call(), _call("grep"), _call(), _call(id="read_2"))])
    assert [call.id for call in message.calls] == ["read", "grep", "read_3", "read_2"]


def test_responses_without_ids_answer_the_calls_of_their_functions_in_order() -> None:
    calls = _model(_call(id="a"), _call("grep", id="b"), _call(id="c"))
    answers = [_user(_answer("grep"), _answer(), _answer(), _answer())]
    results = [message.result for message in GEMINI.parse([ASK, calls, *answers])[2:]]
    assert [result and result.call_id for result in results] == ["b", "a", "c", None]


def test_a_response_is_of_a_call_in_the_last_content_of_the_model() -> None:
    messages = GEMINI.parse([ASK, _model(_call()), _user(_answer()), ASK, _user(_answer())])
    assert [message.result.call_id for message in messages if message.result] == ["read", None]


def test_a_content_with_responses_and_text_is_split_and_joined_again() -> None:
    contents = [ASK, _model(_call(id="a"), _call(id="b")), _user(_answer(id="b"), _answer(id="a"), {"text": "go on"})]
    messages = GEMINI.parse(contents)
    assert [(message.role, message.joined) for message in messages[2:]] == [
        ("tool", False),
        ("tool", True),
        ("user", True),
    ]
    assert GEMINI.render(messages, None).messages == contents


def test_the_responses_of_a_batch_become_one_content() -> None:
    contents = [ASK, _model(_call(), _call("grep")), _user(_answer()), _user(_answer("grep"))]
    assert GEMINI.render(GEMINI.parse(contents), None).messages[2:] == [_user(_answer(), _answer("grep"))]


@pytest.mark.parametrize(
    ("response", "text", "is_error"),
    [
        ({"output": "seen"}, "seen", False),
        ({"result": "seen"}, "seen", False),
        ({"error": "gone"}, "gone", True),
        ({"output": 3}, '{"output":3}', False),
        ({"a": "b", "output": "c"}, '{"a":"b","output":"c"}', False),
        ({"error": {"code": 5}}, '{"error":{"code":5}}', True),
        ({"error": None, "output": "c"}, '{"error":null,"output":"c"}', False),
    ],
)
def test_the_text_of_a_response(response: object, text: str, *, is_error: bool) -> None:
    result = _result_of(response)
    assert (result.content, result.is_error) == ((Text(text),), is_error)


def test_files_in_a_response_are_parts_of_the_result() -> None:
    pdf = {"inlineData": {"mimeType": "application/pdf", "data": "AAAA"}}
    result = _result_of({"output": "two"}, parts=[PNG, pdf])
    assert result.content == (Text("two"), Image("image/png", "AAAA", source=PNG), Other("inlineData", pdf))


def test_a_signature_is_reasoning_before_the_part_that_carries_it() -> None:
    signed = {**_call(id="a"), "thoughtSignature": "s1"}
    (message,) = GEMINI.parse([_model({"text": "hm", "thought": True}, signed)])
    thought, signature, call = message.parts
    assert thought == Thinking("hm", None, {"text": "hm", "thought": True})
    assert signature == Thinking("", "s1", {"thoughtSignature": "s1"})
    assert call == ToolCall("a", "read", '{"p":1}', _call(id="a"))
    assert message.bound_parts == 1


def test_a_signature_without_a_part_of_its_own_stays_one_part() -> None:
    carrier = {"text": "", "thoughtSignature": "s1"}
    (message,) = GEMINI.parse([_model(carrier)])
    assert message.parts == (Thinking("", "s1", carrier),)


@pytest.mark.parametrize("name", [STAND_IN, "context_engineering_is_the_way_to_go"])
def test_a_stand_in_is_no_signature(name: str) -> None:
    contents = [ASK, _model({**_call(), "thoughtSignature": name}), _user(_answer())]
    messages = GEMINI.parse(contents)
    assert [message.bound_parts for message in messages] == [0, 0, 0]
    assert GEMINI.render(messages, None).messages == contents
    assert FORMATS["openai"].render(messages, None).lossy == 0


def test_a_signature_that_is_null_is_none() -> None:
    dumped = {"function_call": {"name": "look", "id": "a", "args": {}}, "thought_signature": None, "text": None}
    (message,) = GEMINI.parse([_model(dumped)])
    assert message.bound_parts == 0
    edited = Message("assistant", message.parts, "gemini")
    call = GEMINI.render([user("ask"), edited], None).messages[1]["parts"][0]
    assert call == {"function_call": dumped["function_call"], "text": None, "thoughtSignature": STAND_IN}


def test_an_edited_part_loses_its_signature_and_the_others_keep_theirs() -> None:
    parts = ({**_call(id="a"), "thoughtSignature": "s1"}, {"text": "so", "thoughtSignature": "s2"}, _call(id="b"))
    (message,) = GEMINI.parse([_model(*parts)])
    first, call, *rest = message.parts
    shorter = ToolCall("a", "read", "{}")
    edited = Message("assistant", (first, shorter, *rest), "gemini")
    assert isinstance(call, ToolCall)
    rendered = GEMINI.render([user("ask"), edited], None)
    assert rendered.messages[1]["parts"] == [
        {"functionCall": {"id": "a", "name": "read", "args": {}}, "thoughtSignature": STAND_IN},
        {"text": "so", "thoughtSignature": "s2"},
        _call(id="b"),
    ]
    assert rendered.lossy == 1


def test_only_the_first_call_of_another_model_gets_a_stand_in() -> None:
    calls = (ToolCall("a", "read", '{"p": 1}'), ToolCall("b", "read", "[1]"))
    rendered = GEMINI.render([user("ask"), Message("assistant", (Text("so"), *calls))], None)
    assert rendered.messages[1]["parts"] == [
        {"text": "so"},
        {"functionCall": {"id": "a", "name": "read", "args": {"p": 1}}, "thoughtSignature": STAND_IN},
        {"functionCall": {"id": "b", "name": "read", "args": {"_raw": "[1]"}}},
    ]
    assert rendered.lossy == 1


def test_a_result_of_another_format_takes_the_name_and_the_id_of_its_call() -> None:
    calls = Message("assistant", (ToolCall("a", "read", "{}"), ToolCall("b", "grep", "{}")))
    failed = Message("tool", (ToolResult("b", (Text("gone"),), is_error=True),))
    seen = Message("tool", (ToolResult("a", (Text("one"), Text("two"))),))
    rendered = GEMINI.render([user("ask"), calls, failed, seen], None).messages
    assert rendered[2] == _user(
        _answer("grep", {"error": "gone"}, id="b"), _answer("read", {"output": "one\ntwo"}, id="a")
    )


def test_a_result_written_for_a_call_without_an_id_has_none_either() -> None:
    messages = GEMINI.parse([ASK, _model(_call()), _user(_answer())])[:2]
    stub = Message("tool", (ToolResult("read", (Text("no answer"),), is_error=True),))
    assert GEMINI.render([*messages, stub], None).messages[2] == _user(_answer("read", {"error": "no answer"}))


def test_calls_written_anew_beside_calls_without_ids_have_none() -> None:
    _, message = GEMINI.parse([ASK, _model(_call(), _call("grep"))])
    first, second = message.calls
    edited = Message("assistant", (ToolCall(first.id, first.name, "{}"), second), "gemini")
    _, content = GEMINI.render([user("ask"), edited], None).messages
    assert [part["functionCall"].get("id") for part in content["parts"]] == [None, None]


def test_images_of_results_follow_the_batch() -> None:
    calls = Message("assistant", (ToolCall("a", "look", "{}"),))
    result = Message("tool", (ToolResult("a", (Text("see"), Image("image/png", "AAAA"), Image("image/bmp", "AA"))),))
    rendered = GEMINI.render([user("ask"), calls, result], None)
    assert rendered.messages[2:] == [
        _user(_answer("look", {"output": "see\n[image below]\n[image left out]"}, id="a")),
        _user({"text": "[images of the tool results above]"}, PNG),
    ]
    assert rendered.lossy == 1


@pytest.mark.parametrize(
    ("image", "part"),
    [
        (Image("image/webp", "AAAA"), {"inlineData": {"mimeType": "image/webp", "data": "AAAA"}}),
        (
            Image(url="https://e.com/a.PNG?x=.gif"),
            {"fileData": {"fileUri": "https://e.com/a.PNG?x=.gif", "mimeType": "image/png"}},
        ),
        (Image(url="https://e.com/a"), {"fileData": {"fileUri": "https://e.com/a", "mimeType": "image/jpeg"}}),
        (Image("image/gif", "AAAA"), {"text": "[image left out]"}),
        (Image(url="data:,x"), {"text": "[image left out]"}),
    ],
)
def test_images_of_other_formats(image: Image, part: dict[str, Any]) -> None:
    assert GEMINI.render([Message("user", (image,))], None).messages == [_user(part)]


def test_names_that_google_refuses_are_rewritten_one_to_one() -> None:
    names = ("1st", "a b", "a/b", "ü", "", "x" * 65, "x" * 66, "-a", "fine.name:a-b")
    calls = Message("assistant", tuple(ToolCall(f"c{at}", name, "{}") for at, name in enumerate(names)))
    results = [Message("tool", (ToolResult(call.id, (Text("ok"),)),)) for call in calls.calls]
    rendered = GEMINI.render([user("ask"), calls, *results], None).messages
    assert check("gemini", rendered, None) == []
    written = [part["functionCall"]["name"] for part in rendered[1]["parts"]]
    assert len(set(written)) == len(names)
    assert all(len(name) <= 64 for name in written)
    assert written[-1] == "fine.name:a-b"
    assert [part["functionResponse"]["name"] for part in rendered[2]["parts"]] == written


def test_a_content_with_calls_follows_one_of_the_user() -> None:
    calls = Message("assistant", (ToolCall("a", "look", "{}"),))
    said = Message("assistant", (Text("well"),))
    rendered = GEMINI.render([said, said, calls], None).messages
    assert [content["role"] for content in rendered] == ["user", "model", "model", "user", "model"]
    assert rendered[0] == rendered[3] == _user({"text": "[conversation continues]"})


def test_system_messages_in_the_list_become_marked_text() -> None:
    messages = [Message("system", (Text("Be kind."),)), Message("developer", (Text("Be brief."),))]
    assert GEMINI.render(messages, "s").messages == [
        _user({"text": "[system message]"}, {"text": "Be kind."}),
        _user({"text": "[developer message]"}, {"text": "Be brief."}),
    ]


@pytest.mark.parametrize(
    ("content", "written", "lossy"),
    [
        (_user(), [_user({"text": "[empty message]"})], 0),
        (_user({"text": ""}), [_user({"text": "[empty message]"})], 1),
        (_user({"text": ""}, {"text": "go"}), [_user({"text": "go"})], 1),
        ({"role": "user"}, [_user({"text": "[empty message]"})], 0),
        ({"role": "model"}, [], 0),
        (_model({"text": ""}), [], 1),
        ({"parts": [{"text": "no role"}]}, [{"parts": [{"text": "no role"}]}], 0),
        ({"role": None, "parts": [{"text": "a"}]}, [{"role": None, "parts": [{"text": "a"}]}], 0),
        ({"role": "function", "parts": [_answer()]}, [_user(_answer())], 0),
    ],
)
def test_what_google_refuses_is_repaired(content: dict[str, Any], written: list[dict[str, Any]], lossy: int) -> None:
    rendered = GEMINI.render(GEMINI.parse([ASK, content]), None)
    assert (rendered.messages[1:], rendered.lossy) == (written, lossy)


def test_keys_in_snake_case_are_read_and_given_back() -> None:
    contents = [
        ASK,
        _model({"function_call": {"name": "look", "args": {}, "id": None}, "thought_signature": "s1", "text": None}),
        _user({"function_response": {"name": "look", "response": {"output": "ok"}}, "inline_data": None}),
        _user({"inline_data": {"mime_type": "image/png", "data": "AAAA"}}),
        _user({"file_data": {"mime_type": "image/png", "file_uri": "https://e.com/a"}}),
    ]
    messages = GEMINI.parse(contents)
    assert [type(message.parts[-1]) for message in messages] == [Text, ToolCall, ToolResult, Image, Image]
    assert messages[1].bound_parts == 1
    assert GEMINI.render(messages, None).messages == contents
    edited = [Message(message.role, message.parts, "gemini", None, message.joined) for message in messages]
    assert GEMINI.render(edited, None).messages == contents


@pytest.mark.parametrize("kind", ["executableCode", "codeExecutionResult", "toolCall", "holograms"])
@pytest.mark.parametrize("target", ["openai", "anthropic"])
def test_parts_that_no_rule_knows_are_marked_elsewhere(kind: str, target: str) -> None:
    messages = GEMINI.parse([ASK, _model({"text": "so"}, {kind: {"x": 1}, "thoughtSignature": "s"})])
    assert messages[1].parts[2:] == (Other(kind, {kind: {"x": 1}}),)
    rendered = FORMATS[target].render(messages, None)
    assert rendered.lossy == 2
    assert {"type": "text", "text": f"[{kind} left out]"} in rendered.messages[-1]["content"]


@pytest.mark.parametrize("target", ["openai", "anthropic"])
def test_an_image_in_googles_own_store_is_marked_elsewhere(target: str) -> None:
    stored = {"fileData": {"mimeType": "image/png", "fileUri": "gs://bucket/a.png"}}
    messages = GEMINI.parse([_user({"text": "see"}, stored)])
    rendered = FORMATS[target].render(messages, None)
    assert (rendered.messages[0]["content"][1], rendered.lossy) == ({"type": "text", "text": "[image left out]"}, 1)
    assert GEMINI.render(messages, None).messages == [_user({"text": "see"}, stored)]


@pytest.mark.parametrize(
    ("part", "sent"),
    [
        ({"text": "see", "inline_data": {"mime_type": "text/plain"}}, {"text": "[inlineData left out]"}),
        ({"inlineData": {"mimeType": "audio/mp3", "data": 3}}, {"text": "[inlineData left out]"}),
        ({"fileData": {"mimeType": "video/mp4"}}, {"text": "[fileData left out]"}),
        ({"executableCode": {"code": "1"}, "toolCall": {}}, {"text": "[executableCode left out]"}),
        ({**PNG, "text": "see"}, PNG),
        ({"thoughtSignature": [1]}, {"text": "[thoughtSignature left out]"}),
        ({"text": "see", "thought_signature": {"a": 1}}, {"text": "see"}),
        ({**PNG, "functionCall": None}, {**PNG, "functionCall": None}),
    ],
)
def test_a_part_goes_out_with_one_kind_of_data_that_is_complete(part: Any, sent: Any) -> None:
    rendered = GEMINI.render(GEMINI.parse([_user(part)]), None)
    assert rendered.messages == [_user(sent)]
    assert check("gemini", rendered.messages, None) == []


def test_a_call_goes_out_without_other_data_in_its_part() -> None:
    messages = GEMINI.parse([ASK, _model({**_call(), **PNG, "text": "see"}), _user({**_answer(), "text": "seen"})])
    rendered = GEMINI.render(messages, None).messages
    assert check("gemini", rendered, None) == []
    assert rendered[1]["parts"][0]["functionCall"]["args"] == {"p": 1}


def test_native_keeps_parts_that_no_rule_knows() -> None:
    messages = GEMINI.parse([_user({"holograms": [1]})])
    native = FORMATS["native"].render(messages, None).messages
    assert native == [_user({"type": "other", "kind": "holograms", "source": {"holograms": [1]}})]
    assert FORMATS["native"].render(FORMATS["native"].parse(native), None).messages == native


@pytest.mark.parametrize(
    ("content", "path"),
    [
        ({"role": "assistant", "parts": []}, "messages[0].role"),
        ({"role": "user", "parts": {}}, "messages[0].parts"),
        (_user(3), "messages[0].parts[0]"),
        (_user({"text": 3}), "messages[0].parts[0].text"),
        (_user(_call()), "messages[0].parts[0]"),
        (_model(_answer()), "messages[0].parts[0]"),
        (_model({"functionCall": {"args": {}}}), "messages[0].parts[0].functionCall.name"),
        (_model({"functionCall": {"name": "a", "args": "{}"}}), "messages[0].parts[0].functionCall.args"),
        (_model(_call(id="a"), _call(id="a")), "messages[0].parts"),
        (_model({"text": "a", "thoughtSignature": 3}), "messages[0].parts[0].thoughtSignature"),
        (_user(_answer(response="ok")), "messages[0].parts[0].functionResponse.response"),
        (_user({"inlineData": {"mimeType": "image/png"}}), "messages[0].parts[0].inlineData.data"),
    ],
)
def test_wrong_shapes_are_refused_with_their_path(content: Any, path: str) -> None:
    with pytest.raises(InvalidMessage) as caught:
        GEMINI.parse([content])
    assert caught.value.path == path


@pytest.mark.parametrize(
    ("messages", "name"),
    [
        ([_user({"text": "hi"})], "gemini"),
        ([{"parts": [{"text": "hi"}]}], "gemini"),
        ([_user(PNG)], "gemini"),
        ([_user({"function_response": {"name": "a"}})], "gemini"),
        ([{"role": "model"}], "gemini"),
        ([_user({"type": "text", "text": "hi"})], "native"),
        ([_user()], "native"),
    ],
)
def test_parts_without_a_type_and_the_role_of_the_model_are_its_signs(messages: list[Any], name: str) -> None:
    assert detect(messages) == name
