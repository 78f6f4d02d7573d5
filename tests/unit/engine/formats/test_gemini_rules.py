"""What Google's API refuses, as the independent checker says it."""

from typing import Any

import pytest

from foldline.engine.formats.rules import check

ASK = {"role": "user", "parts": [{"text": "ask"}]}


def _call(name: str = "read", **extra: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": {}, **extra}}


def _answer(name: str = "read", **extra: Any) -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": {}, **extra}}


def _model(*parts: Any) -> dict[str, Any]:
    return {"role": "model", "parts": list(parts)}


def _user(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "parts": list(parts)}


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [ASK, ASK, _model({"text": "a"}), _model({"text": "b"})],
        [{"parts": [{"text": "no role"}]}],
        [ASK, _model(_call(id="a"), _call(id="b")), _user(_answer(id="b"), _answer(), {"text": "go on"})],
        [ASK, _model(_call("x.y:z-1")), _user(_answer("x.y:z-1")), _model(_call()), _user(_answer())],
        [ASK, _model({"text": "", "thoughtSignature": "s"}, {"executable_code": {}}, {"holograms": []})],
        [_user({"inline_data": {"mime_type": "image/png", "data": "A"}}, {"fileData": {"fileUri": "gs://a"}})],
    ],
)
def test_what_google_takes_breaks_no_rule(messages: list[Any]) -> None:
    assert check("gemini", messages, "Be brief.") == []


@pytest.mark.parametrize(
    ("messages", "violation"),
    [
        ([_model({"text": "a"})], "the first content is not the user's"),
        ([{"role": "assistant", "parts": [{"text": "a"}]}], "'assistant' is not a role"),
        ([{"role": "user", "parts": []}], "messages[0].parts: empty"),
        ([{"role": "user", "parts": "a"}], "messages[0].parts: empty, or not a list"),
        ([_user("a")], "messages[0].parts[0]: not an object"),
        ([_user({"text": ""})], "messages[0].parts[0].text: empty"),
        ([_user({"text": 3})], "messages[0].parts[0].text: not a string"),
        ([_user({"text": "a", "inlineData": {"mimeType": "a/b", "data": ""}})], "more than one of text, inlineData"),
        ([_user({"text": "a", "thoughtSignature": 3})], "a signature that is not a string"),
        ([_user({"inlineData": {"data": "A"}})], "inlineData.mimeType: not a string"),
        ([_user({"inlineData": {"mimeType": "a/b"}})], "inlineData.data: not a string"),
        ([_user({"fileData": {}})], "fileData.fileUri: not a string"),
        ([ASK, _user(_call()), _user(_answer())], "functionCall in a content of role user"),
        ([ASK, _model(_call()), _model(_answer())], "functionResponse in a content of role model"),
        ([ASK, _model(_call("1st")), _user(_answer("1st"))], "'1st' is not the name of a function"),
        ([ASK, _model(_call("x" * 129)), _user(_answer("x" * 129))], "is not the name of a function"),
        ([ASK, _model(_call(args=[])), _user(_answer())], "functionCall.args: not an object"),
        ([ASK, _model(_call()), _user(_answer(response="a"))], "functionResponse.response: not an object"),
        ([ASK, _model(_call(id=3)), _user(_answer())], "functionCall.id: not a string"),
        ([ASK, _model({"functionCall": 3})], "functionCall: not an object"),
        ([ASK, _model({"text": "a"}), _model(_call()), _user(_answer())], "do not follow a content of the user"),
        ([ASK, _model(_call(), _call()), _user(_answer())], "1 responses to 2 calls"),
        ([ASK, _model(_call()), ASK, _user(_answer())], "0 responses to 1 calls"),
        ([ASK, _user(_answer())], "1 responses to 0 calls"),
        ([ASK, _model(_call()), _user(_answer("grep"))], "a response of 'grep' answers no call"),
        ([ASK, _model(_call(id="a")), _user(_answer(id="b"))], "a response of 'read' answers no call"),
        ([ASK, _model(_call(id="a"), _call(id="a")), _user(_answer(), _answer())], "an id is used twice"),
        ([ASK, _model(_call())], "the last 1 calls have no response"),
        ([_user({"text": float("nan")})], "not JSON"),
    ],
)
def test_what_google_refuses_is_found(messages: list[Any], violation: str) -> None:
    assert any(violation in found for found in check("gemini", messages, None))


def test_a_system_instruction_is_text() -> None:
    assert check("gemini", [ASK], [{"text": "Be brief."}]) == ["system: not a string"]
