"""An agent of Google's Gemini over HTTP: contents in, views in every format out, signatures on their parts."""

from __future__ import annotations

import hashlib
import json
from random import Random
from typing import Any

import pytest

from foldline.engine.formats import FORMATS, rules
from foldline.engine.policies.presets import PRESETS
from tests.support.processes.api import Api, Json, calling, result

STAND_IN = "skip_thought_signature_validator"
SYSTEM = "You look."
CALLING: Json = {
    "role": "model",
    "parts": [
        {"text": "Where is it?", "thought": True},
        {"functionCall": {"name": "look", "args": {"at": "a"}}, "thoughtSignature": "c2ln"},
        {"functionCall": {"name": "look", "args": {"at": "b"}}},
    ],
}


def user(*parts: Any) -> Json:
    return {"role": "user", "parts": list(parts)}


def answer(text: str, **fields: Any) -> Json:
    return {"functionResponse": {**fields, "name": "look", "response": {"output": text}}}


def assert_valid_in_every_format(api: Api, session: str) -> None:
    for name in FORMATS:
        view = api.get(f"{session}/context?format={name}&open=stub")
        assert rules.check(name, view["messages"], view["system"]) == []


def test_contents_come_back_as_they_went_in(api: Api) -> None:
    session = api.session()
    contents = [user({"text": "hello"}), CALLING, user(answer("one"), answer("two"), {"text": "Go on."})]
    answers = [api.say(session, content) for content in contents]
    assert [len(step["entry_ids"]) for step in answers] == [1, 1, 3]
    assert [step["open_calls"] for step in answers] == [[], ["look", "look_2"], []]
    view = api.get(f"{session}/context?format=gemini")
    assert (view["messages"], view["lossy"], view["reasoning"]["shown"]) == (contents, 0, 1)
    assert_valid_in_every_format(api, session)


def test_equal_responses_without_ids_answer_a_call_each(api: Api) -> None:
    session = api.session()
    said = api.say(session, user({"text": "hello"}), CALLING, user(answer("ok"), answer("ok")))
    assert said["open_calls"] == []
    openai = api.get(f"{session}/context?format=openai")["messages"]
    assert openai[2:] == [result("look", "ok"), result("look_2", "ok")]


def test_responses_without_ids_answer_calls_of_earlier_requests(api: Api) -> None:
    session = api.session()
    parts = [{"functionCall": {"id": f"fc{number}", "name": "look", "args": {}}} for number in (1, 2)]
    api.say(session, user({"text": "hello"}), {"role": "model", "parts": parts})
    assert api.say(session, user(answer("one")))["open_calls"] == ["fc2"]
    assert api.say(session, user(answer("two")))["open_calls"] == []
    openai = api.get(f"{session}/context?format=openai")["messages"]
    assert openai[2:] == [
        {"role": "tool", "tool_call_id": "fc1", "content": "one"},
        {"role": "tool", "tool_call_id": "fc2", "content": "two"},
    ]
    assert api.get(f"{session}/context?format=gemini")["messages"][2:] == [user(answer("one"), answer("two"))]
    assert_valid_in_every_format(api, session)
    exported = [json.loads(line).get("message", {}) for line in api.client.get(f"{session}/export").text.splitlines()]
    assert [said["toolCallId"] for said in exported if "toolCallId" in said] == ["fc1", "fc2"]


def test_calls_of_another_model_stand_in_for_signed_ones(api: Api) -> None:
    session = api.session()
    api.say(session, user({"text": "hello"}))
    api.say(session, calling("c1", "c2"), result("c2", "two"), result("c1", "one"))
    _, calls, answers = api.get(f"{session}/context?format=gemini")["messages"]
    assert [part.get("thoughtSignature") for part in calls["parts"]] == [STAND_IN, None]
    assert answers == user(answer("two", id="c2"), answer("one", id="c1"))


def test_a_changed_prefix_takes_signatures_out_and_its_return_brings_them_back(api: Api) -> None:
    session = api.session(system=SYSTEM)
    answered = {"role": "model", "parts": [{"text": "There.", "thoughtSignature": "YQ=="}]}
    contents = [user({"text": "hello"}), CALLING, user(answer("one"), answer("two")), answered]
    for content in contents:
        api.say(session, content)
    pin = api.post(f"{session}/pins", {"text": "Be brief."}, 201)["id"]
    view = api.get(f"{session}/context?format=gemini")
    thought, *calls = CALLING["parts"]
    unsigned = [{**calls[0], "thoughtSignature": STAND_IN}, calls[1]]
    assert view["messages"][2:] == [
        {"role": "model", "parts": [thought, *unsigned]},
        contents[2],
        {"role": "model", "parts": [{"text": "There."}]},
    ]
    assert view["reasoning"] == {"shown": 0, "left_out": {"fixed_parts": 2}}
    assert_valid_in_every_format(api, session)
    api.call("DELETE", f"{session}/pins/{pin}", status=204)
    assert api.get(f"{session}/context?format=gemini")["messages"] == contents


class Gemini:
    """A model that signs its first call, or else its text, over all before it, and takes it back only there."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self.signatures_taken = 0

    def content(self, number: int, view: Json) -> Json:
        self.check(view)
        calls = [{"functionCall": {"name": "look", "args": {"at": number}}} for _ in range(self._random.choice((0, 2)))]
        text: Json = {"text": f"answer {number}"}
        said = self._random.choice(([text], [])) if calls else []
        first, *rest = calls or [text]
        return {"role": "model", "parts": [*said, {**first, "thoughtSignature": _signature(view, None)}, *rest]}

    def check(self, view: Json) -> None:
        """Refuse a view as Google would, and also where a signature follows another prefix than its own."""
        assert rules.check("gemini", view["messages"], view["system"]) == []
        for number, content in enumerate(view["messages"]):
            calls = [part for part in content["parts"] if "functionCall" in part]
            assert all(part.get("thoughtSignature") for part in calls[:1]), (
                "Function call is missing a thought_signature"
            )
            for part in content["parts"]:
                signature = part.get("thoughtSignature", STAND_IN)
                assert signature in {STAND_IN, _signature(view, number)}, "Corrupted thought signature."
                self.signatures_taken += signature != STAND_IN

    def words(self) -> str:
        return "so it goes " * self._random.choice((5, 40, 120))


def _signature(view: Json, number: int | None) -> str:
    before = json.dumps([view["system"], view["messages"][:number]], sort_keys=True)
    return hashlib.sha256(before.encode()).hexdigest()


@pytest.mark.parametrize("preset", PRESETS)
def test_a_model_that_checks_the_prefix_refuses_no_view_of_a_long_session(api: Api, preset: str) -> None:
    session = api.session(context_window=7_000, system=SYSTEM, policy={"preset": preset})
    model = Gemini(len(preset))
    waiting = 0
    for number in range(30):
        parts = [answer(f"{number} {model.words()}") for _ in range(waiting)] or [{"text": f"{number} {model.words()}"}]
        api.say(session, user(*parts))
        view = api.get(f"{session}/context?format=gemini")
        content = model.content(number, view)
        api.say(session, content, usage={"version": view["version"], "input": 0})
        waiting = sum("functionCall" in part for part in content["parts"])
        if number % 10 == 9:
            assert_valid_in_every_format(api, session)
            api.do_jobs()
    assert model.signatures_taken > 30
    assert api.get(f"{session}/compactions")["items"]
