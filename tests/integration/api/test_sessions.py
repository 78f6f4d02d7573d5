from __future__ import annotations

from datetime import UTC, datetime

import pytest

from foldline.settings import InvalidSettings, load_settings
from tests.support.processes.api import SMALL_WINDOW, Api, open_api, user
from tests.support.processes.databases import each_kind

# Pages are SQL.
database_kind = each_kind

NEW = {"model": "nobody/nothing", "context_window": SMALL_WINDOW}


def test_a_session_is_created_with_what_was_asked_for(api: Api) -> None:
    tools = [{"name": "look", "description": "Looks.", "parameters": {}}]
    asked = {**NEW, "max_output_tokens": 500, "system": "Be brief.", "tools": tools, "policy": {"trigger": 0.9}}
    created = api.post("/sessions", asked, 201)
    assert created == api.get(f"/sessions/{created['id']}")
    assert (created["version"], created["message_count"], created["auto_compact"]) == (1, 0, True)
    assert (created["system"], created["tools"]) == ("Be brief.", tools)
    assert (created["policy"]["trigger"], created["policy"]["preset"]) == (0.9, "foldline")
    assert created["budget"]["limit"] == SMALL_WINDOW - 500 - 40
    assert abs((datetime.now(UTC) - datetime.fromisoformat(created["created_at"])).total_seconds()) < 60


def test_a_creation_says_where_the_session_is(api: Api) -> None:
    answer = api.client.post("/sessions", json=NEW)
    assert answer.headers["location"] == f"/sessions/{answer.json()['id']}"


def test_the_days_for_which_a_session_is_kept_are_given_shown_changed_and_taken_back(api: Api) -> None:
    path = api.session(retention_days=7)
    assert api.get(path)["retention_days"] == 7
    assert api.call("PATCH", path, {"retention_days": 30})["retention_days"] == 30
    assert api.call("PATCH", path, {"auto_compact": False})["retention_days"] == 30
    assert api.call("PATCH", path, {"retention_days": None})["retention_days"] is None
    for days in (0, 36_501, 1.5):
        assert api.problem("PATCH", path, {"retention_days": days})["name"] == "invalid-request"


def test_a_window_may_be_written_as_people_do(api: Api) -> None:
    assert api.post("/sessions", {**NEW, "context_window": "128k"}, 201)["context_window"] == 128_000


def test_a_known_model_needs_no_window(api: Api) -> None:
    assert api.post("/sessions", {"model": "openai/gpt-4o"}, 201)["context_window"] == 128_000


def test_an_unknown_model_without_a_window_is_refused(api: Api) -> None:
    problem = api.problem("POST", "/sessions", {"model": "nobody/nothing"})
    assert (problem["name"], problem["status"], problem["model"]) == ("unknown-model", 422, "nobody/nothing")


def test_fixed_parts_that_cannot_fit_are_refused_with_the_numbers(api: Api) -> None:
    problem = api.problem("POST", "/sessions", {**NEW, "system": "too much of it " * 1000})
    assert (problem["name"], problem["status"]) == ("fixed-parts-do-not-fit", 422)
    assert problem["fixed_tokens"] > problem["target_tokens"] > 0


def test_an_id_of_ones_own_is_used_once(api: Api) -> None:
    assert api.post("/sessions", {**NEW, "id": "mine"}, 201)["id"] == "mine"
    assert api.problem("POST", "/sessions", {**NEW, "id": "mine"})["name"] == "conflict"
    api.call("DELETE", "/sessions/mine", status=204)
    assert api.post("/sessions", {**NEW, "id": "mine"}, 201)["message_count"] == 0


def test_a_session_of_a_deleted_ones_id_starts_above_its_versions(api: Api) -> None:
    session = api.session(id="once-more")
    api.say(session, user("hello"))
    old = api.client.get(f"{session}/context").headers["etag"]
    api.call("DELETE", session, status=204)
    assert api.get(api.session(id="once-more"))["version"] == 3
    api.call("DELETE", session, status=204)
    assert api.get(api.session(id="once-more"))["version"] == 4
    assert api.client.get(f"{session}/context", headers={"If-None-Match": old}).status_code == 200
    problem = api.problem("POST", f"{session}/messages", {"messages": [user("more")]}, If_Match=old)
    assert (problem["name"], problem["current_version"]) == ("stale-version", 4)


def test_a_deleted_session_is_gone_with_its_jobs(api: Api) -> None:
    session = api.session()
    api.fill(session)
    (job,) = api.get(f"{session}/jobs")["items"]
    api.call("DELETE", session, status=204)
    for path in (session, f"{session}/context", f"{session}/jobs", f"/jobs/{job['id']}"):
        assert api.problem("GET", path)["name"] == "not-found"
    assert api.problem("DELETE", session)["name"] == "not-found"
    assert job["id"] not in api.do_jobs()


def test_sessions_are_listed_a_page_at_a_time_oldest_first(api: Api) -> None:
    made = [api.session().removeprefix("/sessions/") for _ in range(5)]
    listed: list[str] = []
    cursor = ""
    while True:
        page = api.get(f"/sessions?limit=2{cursor}")
        assert len(page["items"]) <= 2
        listed += [item["id"] for item in page["items"]]
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"
    assert len(listed) == len(set(listed))
    assert listed[-5:] == made


def test_sessions_that_got_a_message_last_are_listed_on_one_page(api: Api) -> None:
    first, second = api.session(), api.session()
    for session in (second, first):
        api.say(session, user("hello"))
    page = api.get("/sessions?order=last_message&limit=2")
    assert [f"/sessions/{item['id']}" for item in page["items"]] == [first, second]
    assert page["next_cursor"] is None
    problem = api.problem("GET", "/sessions?order=last_message&cursor=MQ")
    assert (problem["name"], problem["path"]) == ("invalid-request", "query.cursor")


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=501", "limit=x", "cursor=%21", "cursor=LTU", "cursor=eA", "order=x"]
)
def test_a_page_that_cannot_be_is_refused(api: Api, query: str) -> None:
    problem = api.problem("GET", f"/sessions?{query}")
    assert (problem["name"], problem["path"]) == ("invalid-request", f"query.{query.partition('=')[0]}")


def test_a_change_changes_what_it_names_and_nothing_else(api: Api) -> None:
    session = api.session(system="Be brief.")
    before = api.get(session)
    changed = api.call("PATCH", session, {"context_window": 4000, "auto_compact": False})
    assert changed["compaction"] is None
    assert (changed["context_window"], changed["auto_compact"], changed["version"]) == (4000, False, 2)
    same = ("id", "model", "system", "policy", "tools", "message_count")
    assert [changed[name] for name in same] == [before[name] for name in same]
    assert api.call("PATCH", session, {"system": None})["system"] is None


def test_a_change_may_ask_for_the_version_it_was_made_for(api: Api) -> None:
    session = api.session()
    api.call("PATCH", session, {"auto_compact": False}, headers={"If_Match": '"1"'})
    problem = api.problem("PATCH", session, {"auto_compact": True}, If_Match='"1"')
    assert (problem["name"], problem["status"], problem["current_version"]) == ("stale-version", 412, 2)
    assert api.get(session)["auto_compact"] is False


def test_a_smaller_window_compacts_at_once(api: Api) -> None:
    session = api.session(context_window=16_000)
    api.fill(session)
    changed = api.call("PATCH", session, {"context_window": 2000})
    assert changed["compaction"]["stages_used"] == ["truncate"]
    assert changed["budget"]["fits"]
    assert [item["id"] for item in api.get(f"{session}/compactions")["items"]] == [changed["compaction"]["id"]]


def test_a_change_that_cannot_work_changes_nothing(api: Api) -> None:
    session = api.session()
    for change, name in (
        ({"model": "somebody/else", "context_window": None}, "unknown-model"),
        ({"context_window": 100, "system": "much " * 500}, "fixed-parts-do-not-fit"),
        ({"policy": {"target": 2}}, "invalid-request"),
        ({"model": ""}, "invalid-request"),
        ({"colour": "red"}, "invalid-request"),
    ):
        assert api.problem("PATCH", session, change)["name"] == name
    assert api.get(session)["version"] == 1


def test_lone_surrogates_and_nul_in_a_system_prompt_are_kept(api: Api) -> None:
    session = api.session()
    answer = api.client.patch(session, content=b'{"system": "a\\ud800b\\u0000c"}')
    assert b'"system":"a\\ud800b\\u0000c"' in answer.content
    api.say(session, user("hello"))
    assert b"a\\ud800b\\u0000c" in api.client.get(f"{session}/context").content


def test_the_service_may_have_a_policy_of_its_own(module_database: str) -> None:
    with open_api(module_database, policy='{"preset": "neurolink", "trigger": 0.7}', auto_compact=False) as api:
        session = api.session()
        found = api.get(session)
        assert (found["policy"]["preset"], found["policy"]["trigger"], found["auto_compact"]) == (
            "neurolink",
            0.7,
            False,
        )
        changed = api.get(api.session(policy={"target": 0.3}, auto_compact=True))
        assert (changed["policy"]["preset"], changed["policy"]["trigger"], changed["policy"]["target"]) == (
            "neurolink",
            0.7,
            0.3,
        )
        assert changed["auto_compact"]
        assert api.get(api.session(policy={"preset": "pi"}))["policy"]["preset"] == "pi"
        assert api.call("PATCH", session, {"policy": {"preset": "pi"}})["policy"]["preset"] == "pi"
        assert api.call("PATCH", session, {"policy": None})["policy"]["trigger"] == 0.7


def test_the_services_own_policy_refuses_no_session(module_database: str) -> None:
    """Only what a caller gave is refused: the target of this preset is above the service's trigger."""
    own = '{"preset": "agent-code@program", "trigger": 0.7, "buffer_tokens": 9000}'
    with open_api(module_database, policy=own) as api:
        created = api.post("/sessions", {"model": "openai/gpt-4o"}, 201)
        session = f"/sessions/{created['id']}"
        assert (created["policy"]["trigger"], created["policy"]["target"]) == (0.7, 1.0)
        # A buffer that is larger than the window is reduced, as a preset's own is.
        api.post("/sessions", {**NEW, "policy": {"keep_recent": 0.2}}, 201)
        api.call("PATCH", session, {"policy": {"preset": "pi"}})
        assert api.call("PATCH", session, {"policy": None})["policy"] == created["policy"]
        for given in ({"trigger": 0.8}, {"target": 0.9}):
            new = {"model": "openai/gpt-4o", "policy": given}
            assert api.problem("POST", "/sessions", new)["path"] == "policy.target"
            assert api.problem("PATCH", session, {"policy": given})["path"] == "policy.target"


@pytest.mark.parametrize("policy", ["nobody", '{"trigger": 2}', "{", '{"preset": "pi", "words": 1}'])
def test_a_policy_of_the_service_that_cannot_work_is_refused_at_the_start(policy: str) -> None:
    with pytest.raises(InvalidSettings, match="FOLDLINE_POLICY"):
        load_settings(policy=policy)
