from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.processes.api import Api, assistant, user

ARGUMENTS = {"query": "which port?", "max_tokens": 500}
TEXT = json.dumps(ARGUMENTS)
CALLS: dict[str, dict[str, Any]] = {
    "openai": {"id": "c1", "type": "function", "function": {"name": "recall", "arguments": TEXT}},
    "anthropic": {"type": "tool_use", "id": "c1", "name": "recall", "input": ARGUMENTS},
    "responses": {"type": "function_call", "call_id": "c1", "name": "recall", "arguments": TEXT},
    "gemini": {"functionCall": {"name": "recall", "args": ARGUMENTS}},
    "native": {"type": "tool_call", "id": "c1", "name": "recall", "arguments": TEXT},
}


@pytest.fixture(scope="module")
def session(api: Api) -> str:
    """A session in which the first turn is out of view."""
    made = api.session(auto_compact=False)
    api.say(made, user("Which port is it?"), assistant("The server listens on port 5432."), user("Thanks."))
    api.fill(made, 6)
    api.post(f"{made}/compact", {"summarize": False, "target_tokens": 300}, 202)
    return made


def test_a_recall_quotes_what_is_out_of_view_with_its_source(api: Api, session: str) -> None:
    answer = api.get(f"{session}/recall?q=server+port")
    first = answer["items"][0]
    assert (first["entry_id"], first["said_by"], first["out_of_view"]) == ("e0-2", "assistant", "hidden")
    assert first["text"] == "The server listens on port 5432."
    assert first["before"] == {"entry_id": "e0-1", "said_by": "user", "tool": None, "text": "Which port is it?"}
    assert "The assistant said (entry e0-2):\n> The server listens on port 5432." in answer["text"]
    assert answer["is_complete"]


def test_a_question_and_a_call_come_with_what_answers_them(api: Api) -> None:
    made = api.session(auto_compact=False)
    call = {"id": "c1", "type": "function", "function": {"name": "push", "arguments": '{"branch": "fix/ledger"}'}}
    said = [
        user("Push it."),
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "https://git.example/pull/512"},
        assistant("Should the trail be on for everybody?"),
        user("Off by default."),
    ]
    api.say(made, *said)
    api.fill(made, 6)
    api.post(f"{made}/compact", {"summarize": False, "target_tokens": 300}, 202)

    first = api.get(f"{made}/recall?q=fix/ledger")["items"][0]
    assert first["after"] == {
        "entry_id": "e0-3",
        "said_by": "tool",
        "tool": "push",
        "text": "https://git.example/pull/512",
    }
    answer = api.get(f"{made}/recall?q=trail+for+everybody")
    assert answer["items"][0]["after"]["text"] == "Off by default."
    assert "The user said (entry e0-5):\n> Off by default." in answer["text"]


def test_a_recall_keeps_within_its_tokens(api: Api, session: str) -> None:
    answer = api.get(f"{session}/recall?q=so+goes+port&max_tokens=150")
    assert 0 < answer["tokens"] <= 150


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("", "query.q"),
        ("q=port&max_tokens=5", "query.max_tokens"),
        ("q=port&kinds=rule,no", "query.kinds"),
        ("q=port&branch=1", "query.branch"),
    ],
)
def test_a_wrong_parameter_is_named(api: Api, session: str, query: str, path: str) -> None:
    problem = api.problem("GET", f"{session}/recall?{query}")
    assert (problem["status"], problem["name"]) == (422, "invalid-request")
    assert path in problem["detail"]


@pytest.mark.parametrize("query", ["%00", "%22%27", "port%00", "%ed%a0%80", "port AND (", "%F0%9F%98%80", "a" * 30_000])
def test_a_hostile_query_is_answered(api: Api, session: str, query: str) -> None:
    api.get(f"{session}/recall?q={query}")


@pytest.mark.parametrize("query", ["\0", "\ud800", "port " * 20_000, "'port' & !", "数" * 100_000])
def test_a_hostile_call_is_answered(api: Api, session: str, query: str) -> None:
    call = {"type": "tool_use", "id": "c1", "name": "recall", "input": {"query": query}}
    response = api.client.post(
        f"{session}/recall/tool", content=json.dumps({"format": "anthropic", "call": call}).encode("ascii")
    )
    assert response.status_code == 200, response.text[:200]


@pytest.mark.parametrize("name", CALLS)
def test_the_tool_is_defined_and_answered_in_each_format(api: Api, session: str, name: str) -> None:
    defined = api.post(f"{session}/recall/tool", {"format": name})
    assert "recall" in json.dumps(defined["tool"])
    assert defined["result"] is None
    answered = api.post(f"{session}/recall/tool", {"format": name, "call": CALLS[name]})
    assert answered["tool"] is None
    assert "> The server listens on port 5432." in answered["result"].__repr__().replace("\\n", "\n")


def test_a_models_mistake_is_answered_to_the_model(api: Api, session: str) -> None:
    call = {"type": "tool_use", "id": "c1", "name": "recall", "input": {"kinds": ["rule"]}}
    (result,) = api.post(f"{session}/recall/tool", {"format": "anthropic", "call": call})["result"]["content"]
    assert result["is_error"]
    assert "query" in json.dumps(result["content"])


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 422),
        ({"format": "cobol"}, 422),
        ({"format": "openai", "call": {"type": "text"}}, 422),
        ({"format": 5}, 422),
    ],
)
def test_what_is_no_call_is_refused(api: Api, session: str, body: dict[str, Any], status: int) -> None:
    assert api.problem("POST", f"{session}/recall/tool", body)["status"] == status


@pytest.mark.parametrize(
    ("method", "path", "body"), [("GET", "recall?q=a", None), ("POST", "recall/tool", {"format": "openai"})]
)
def test_a_missing_session_is_not_found(api: Api, method: str, path: str, body: dict[str, Any] | None) -> None:
    assert api.problem(method, f"/sessions/nowhere/{path}", body)["name"] == "not-found"
