from __future__ import annotations

from typing import Any

import pytest
from foldline_api import sent_views

from foldline.engine.formats import FORMATS, rules
from foldline.log.storage.rows import Path
from foldline.log.storage.store import Transaction
from foldline.log.use_cases.views import View, next_view
from foldline.log.views.following import ViewEnd
from tests.support.processes.api import Api, assistant, calling, result, user

ANTHROPIC_CALL = {
    "role": "assistant",
    "content": [
        {"type": "text", "text": "Looking."},
        {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"at": "a"}},
        {"type": "tool_use", "id": "toolu_2", "name": "look", "input": {}},
    ],
}
ANTHROPIC_RESULTS = {
    "role": "user",
    "content": [
        {"type": "tool_result", "tool_use_id": "toolu_1", "content": "one"},
        {"type": "tool_result", "tool_use_id": "toolu_2", "content": "two"},
        {"type": "text", "text": "Go on."},
    ],
}


def test_an_append_says_what_it_did(api: Api) -> None:
    session = api.session()
    answer = api.say(session, user("hello"), calling("c1", "c2"), result("c1"))
    assert len(answer["entry_ids"]) == 3
    assert (answer["version"], answer["open_calls"], answer["compaction"]) == (2, ["c2"], None)
    assert answer["budget"]["fits"]
    assert answer["budget"]["used"] == sum(answer["budget"]["breakdown"].values())


def test_a_view_is_what_was_said_while_it_fits(api: Api) -> None:
    session = api.session(system="Be brief.")
    messages = [user("hello"), calling("c1"), result("c1"), assistant("done")]
    api.say(session, *messages)
    view = api.get(f"{session}/context")
    assert view["messages"] == [{"role": "system", "content": "Be brief."}, *messages]
    assert (view["system"], view["version"], view["lossy"], view["open_calls"]) == ("Be brief.", 2, 0, [])


@pytest.mark.parametrize("format_name", FORMATS)
def test_every_format_reads_what_any_format_wrote(api: Api, format_name: str) -> None:
    session = api.session(context_window=8000)
    api.say(session, user("hello"))
    api.say(session, ANTHROPIC_CALL, ANTHROPIC_RESULTS)
    api.say(session, calling("c1"), result("c1"), format="openai")
    view = api.get(f"{session}/context?format={format_name}")
    assert rules.check(format_name, view["messages"], view["system"]) == []
    assert {"one", "two", "seen"} <= set(_texts(view["messages"]))


SEARCH = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "folds"}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"type": "web_search_result", "url": "u"}]}


@pytest.mark.parametrize(
    ("message", "own", "marks"),
    [
        ({"role": "assistant", "content": [SEARCH, FOUND]}, "anthropic", 2),
        ({"role": "assistant", "content": [{"type": "compaction", "content": "so far"}]}, "anthropic", 1),
        ({"role": "assistant", "content": None, "audio": {"id": "audio_1"}}, "openai", 1),
        ({"role": "assistant", "content": [{"type": "mystery", "x": 1}]}, "openai", 1),
    ],
)
def test_a_message_of_parts_that_nobody_knows_counts_and_is_seen(
    api: Api, message: dict[str, Any], own: str, marks: int
) -> None:
    session = api.session()
    before = api.say(session, user("hello"))["budget"]["used"]
    after = api.say(session, message)["budget"]["used"]
    assert after > before + 10
    view = api.get(f"{session}/context?format={own}")
    assert (view["messages"][-1], view["lossy"]) == (message, 0)
    (other,) = {"openai", "anthropic"} - {own}
    view = api.get(f"{session}/context?format={other}")
    assert str(view["messages"][-1]["content"]).count(" left out]") == view["lossy"] == marks


def test_reasoning_alone_is_left_out_and_counted(api: Api) -> None:
    session = api.session()
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s"}
    api.say(session, user("hello"), {"role": "assistant", "content": [thinking]}, user("go on"))
    view = api.get(f"{session}/context?format=anthropic")
    assert [message["role"] for message in view["messages"]] == ["user", "user"]
    assert (view["reasoning"], view["lossy"]) == ({"shown": 0, "left_out": {"alone": 1}}, 0)
    api.say(session, {"role": "assistant", "content": None, "reasoning_content": "hm"})
    assert api.get(f"{session}/context")["lossy"] == 1


def test_roles_alternate_where_that_is_asked_for(api: Api) -> None:
    session = api.session()
    api.say(session, user("hello"), user("are you there?"), assistant("yes"), assistant("I am"))
    view = api.get(f"{session}/context?roles=alternate")
    assert view["messages"] == [user("hello\n\nare you there?"), assistant("yes\n\nI am")]
    assert len(api.get(f"{session}/context")["messages"]) == 4
    assert "etag" not in api.client.get(f"{session}/context?roles=alternate").headers
    items = api.get(f"{session}/context?format=responses")["messages"]
    assert api.get(f"{session}/context?format=responses&roles=alternate")["messages"] == items


def test_a_system_message_of_anthropic_follows_the_model(api: Api) -> None:
    reminder = {"role": "system", "content": "Be kind."}
    session = api.session(model="anthropic/claude-opus-4-8")
    api.say(session, user("hello"), reminder, format="anthropic")
    assert api.get(f"{session}/context?format=anthropic")["messages"][-1] == reminder
    api.client.patch(session, json={"model": "anthropic/claude-sonnet-4-5"})
    assert api.get(f"{session}/context?format=anthropic")["messages"][-1]["role"] == "user"


def test_a_format_comes_back_as_it_went_in(api: Api) -> None:
    session = api.session()
    api.say(session, user("hello"), ANTHROPIC_CALL, ANTHROPIC_RESULTS)
    assert api.get(f"{session}/context?format=anthropic")["messages"] == [
        user("hello"),
        ANTHROPIC_CALL,
        ANTHROPIC_RESULTS,
    ]


def test_a_leading_system_message_becomes_the_sessions_own(api: Api) -> None:
    session = api.session()
    answer = api.say(session, {"role": "system", "content": "Be brief."}, user("hello"))
    assert len(answer["entry_ids"]) == 1
    assert api.get(session)["system"] == "Be brief."


def test_a_view_waits_for_open_calls(api: Api) -> None:
    session = api.session()
    api.say(session, user("hello"), calling("c1", "c2"))
    problem = api.problem("GET", f"{session}/context")
    assert (problem["name"], problem["status"], problem["open_calls"]) == ("calls-open", 409, ["c1", "c2"])
    stubbed = api.get(f"{session}/context?open=stub")
    assert rules.check("openai", stubbed["messages"], stubbed["system"]) == []
    assert stubbed["open_calls"] == ["c1", "c2"]
    api.say(session, result("c2"), result("c1"))
    assert api.get(f"{session}/context")["messages"][-2:] == [result("c2"), result("c1")]


def test_a_view_that_was_read_before_is_not_sent_again(api: Api) -> None:
    session = api.session()
    api.say(session, user("hello"))
    tag = api.client.get(f"{session}/context?format=anthropic").headers["etag"]
    assert tag == '"2-anthropic"'
    for known in (tag, f'"1-anthropic", W/{tag}'):
        again = api.client.get(f"{session}/context?format=anthropic", headers={"If-None-Match": known})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    assert api.client.get(f"{session}/context", headers={"If-None-Match": tag}).status_code == 200
    api.say(session, user("again"))
    assert api.client.get(f"{session}/context?format=anthropic", headers={"If-None-Match": tag}).status_code == 200


def test_a_view_of_any_kind_is_known_to_whoever_names_all(api: Api) -> None:
    session = api.session()
    api.say(session, user("hello"))
    assert api.client.get(f"{session}/context", headers={"If-None-Match": "*"}).status_code == 304


def test_a_view_is_made_once_for_a_version(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def noted(tx: Transaction, path: Path, format_name: str, after: ViewEnd | None) -> View:
        made.append(format_name)
        return next_view(tx, path, format_name, after)

    monkeypatch.setattr(sent_views, "next_view", noted)
    session = api.session()
    api.say(session, user("one"))
    first, again = api.get(f"{session}/context"), api.get(f"{session}/context")
    assert first == again
    assert made == ["openai"]
    api.get(f"{session}/context?format=anthropic")
    api.say(session, user("two"))
    assert len(api.get(f"{session}/context")["messages"]) == 2
    assert made == ["openai", "anthropic", "openai"]


def test_a_new_session_of_a_deleted_ones_id_has_its_own_view(api: Api) -> None:
    for text in ("one", "two"):
        session = api.session(id="again")
        api.say(session, user(text))
        assert api.get(f"{session}/context")["messages"] == [user(text)]
        api.call("DELETE", session, status=204)


@pytest.mark.parametrize("known", ["*", '"2-openai"'])
def test_a_view_that_is_refused_is_refused_whatever_the_client_knows(api: Api, known: str) -> None:
    waiting, large = api.session(), api.session()
    api.say(waiting, user("hello"), calling("c1"))
    api.say(large, user("far too much " * 2000))
    for session, status in ((waiting, 409), (large, 422)):
        answer = api.client.get(f"{session}/context", headers={"If-None-Match": known})
        assert answer.status_code == status


@pytest.mark.parametrize("query", ["fit=none", "open=stub", "model=openai/gpt-4o"])
def test_a_view_that_is_not_the_sessions_own_has_no_tag(api: Api, query: str) -> None:
    session = api.session()
    api.say(session, user("hello"))
    tag = api.client.get(f"{session}/context").headers["etag"]
    answer = api.client.get(f"{session}/context?{query}", headers={"If-None-Match": tag})
    assert (answer.status_code, "etag" in answer.headers) == (200, False)


@pytest.mark.parametrize("tag", ['"2"', '"2-openai"', "2", "*", '"1", "2-native"', 'W/"2", "2"'])
def test_an_append_for_the_present_version_is_taken(api: Api, tag: str) -> None:
    session = api.session()
    api.say(session, user("hello"))
    api.post(f"{session}/messages", {"messages": [user("more")]}, 201, If_Match=tag)


@pytest.mark.parametrize("tag", ['W/"2"', 'W/"2-openai", W/"1"', '"1", "3"', '"1", W/"2"'])
def test_an_append_for_none_of_the_versions_it_names_is_refused(api: Api, tag: str) -> None:
    session = api.session()
    api.say(session, user("hello"))
    problem = api.problem("POST", f"{session}/messages", {"messages": [user("x")]}, If_Match=tag)
    assert (problem["name"], problem["status"], problem["current_version"]) == ("stale-version", 412, 2)


def test_an_append_for_another_version_is_refused(api: Api) -> None:
    session = api.session()
    api.say(session, user("hello"))
    problem = api.problem("POST", f"{session}/messages", {"messages": [user("x")]}, If_Match='"1-openai"')
    assert (problem["name"], problem["status"], problem["current_version"]) == ("stale-version", 412, 2)
    problem = api.problem("POST", f"{session}/messages", {"messages": [user("x")]}, If_Match='"soon"')
    assert (problem["name"], problem["path"]) == ("invalid-request", "If-Match")
    assert api.get(session)["message_count"] == 1


def test_a_parent_is_the_newest_message_or_later(api: Api) -> None:
    session = api.session()
    first = api.say(session, user("hello"), assistant("hi"))["entry_ids"]
    second = api.say(session, user("more"), parent=first[-1])["entry_ids"]
    for parent in (first[0], first[1], "e7-1", "nonsense", ""):
        problem = api.problem("POST", f"{session}/messages", {"messages": [user("x")], "parent": parent})
        assert (problem["name"], problem["status"], problem["newest_message"]) == ("unknown-parent", 412, second[0])
    assert api.get(session)["message_count"] == 3


def test_a_session_is_compacted_in_the_append_that_fills_it(api: Api) -> None:
    session = api.session()
    answers = api.fill(session)
    made = [answer["compaction"] for answer in answers if answer["compaction"]]
    assert {"truncate"} == {stage for step in made for stage in step["stages_used"]}
    assert all(answer["budget"]["fits"] for answer in answers)
    listed = api.get(f"{session}/compactions")["items"]
    assert [item["id"] for item in listed] == [name for step in made for name in step["ids"]]
    assert all(step["id"] == (step["ids"] or [None])[-1] for step in made)
    (job,) = api.get(f"{session}/jobs")["items"]
    assert {step["job_id"] for step in made} == {job["id"]}


def test_an_append_that_cannot_fit_is_kept_and_its_view_refused_with_the_numbers(api: Api) -> None:
    session = api.session()
    answer = api.say(session, user("far too much " * 2000))
    assert answer["budget"]["fits"] is False
    problem = api.problem("GET", f"{session}/context")
    assert (problem["name"], problem["status"]) == ("view-does-not-fit", 422)
    assert problem["used_tokens"] > problem["limit_tokens"]
    assert problem["entries"] == [{"id": answer["entry_ids"][0], "tokens": problem["used_tokens"]}]
    assert len(api.get(f"{session}/context?fit=none")["messages"]) == 1
    assert len(api.get(f"{session}/context?model=openai/gpt-4o")["messages"]) == 1


def test_a_view_may_be_held_against_another_models_window(api: Api) -> None:
    session = api.session(context_window=16_000)
    api.fill(session, turns=24)
    small = api.problem("GET", f"{session}/context?model=openai/gpt-4")
    assert small["name"] == "view-does-not-fit"
    large = api.get(f"{session}/context?model=openai/gpt-4o")
    assert large["budget"]["limit"] == 128_000 - 44_800
    assert api.problem("GET", f"{session}/context?model=nobody/else")["name"] == "unknown-model"


@pytest.mark.parametrize(
    ("model", "usage", "expected"),
    [
        ("openai/gpt-4o", {"input": 1000, "cache_read": 500, "cache_write": 100}, 1000),
        ("anthropic/claude-sonnet-4-5", {"input": 400, "cache_read": 500, "cache_write": 100}, 1000),
        ("openai/gpt-4o", {"model": "anthropic/claude-3", "input": 900, "cache_read": 100}, 1000),
    ],
)
def test_reported_usage_counts_every_token_of_the_prompt_once(
    api: Api, model: str, usage: dict[str, Any], expected: int
) -> None:
    session = api.session(model=model, context_window=None)
    used = api.say(session, user("word " * 800))["budget"]["used"]
    api.say(session, assistant("ok"), usage={"version": 2, "output": 1, **usage})
    assert api.get(session)["multiplier"] == pytest.approx(expected / used, abs=0.001)


def test_an_append_of_nothing_is_an_append(api: Api) -> None:
    session = api.session()
    answer = api.say(session)
    assert (answer["entry_ids"], answer["version"]) == ([], 2)


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for item in items for text in _texts(item)]
