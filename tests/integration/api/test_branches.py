from __future__ import annotations

import pytest

from foldline.engine.summaries.prompt import SummaryDraft
from foldline.engine.wording import BRANCH
from foldline.log.compaction.enqueue import INTERACTIVE
from foldline.log.jobs import claims, publish
from tests.support.processes.api import Api, Json, assistant, calling, result, user

WHOLE = {"branch_reserve_tokens": 0}


def writing(call_id: str, path: str) -> list[Json]:
    call = calling(call_id)
    call["tool_calls"][0]["function"] = {"name": "write_file", "arguments": f'{{"path": "{path}"}}'}
    return [call, result(call_id)]


def supply(api: Api, job: Json, draft: SummaryDraft) -> None:
    """Publish this for a job; those that other tests left are done on the way."""
    while (claim := claims.claim(api.store, INTERACTIVE)) is not None:
        publish.publish(api.store, claim, draft)
        if claim.job_id == job["id"]:
            return
    pytest.fail("the job does not wait")


def test_what_is_left_behind_is_summarized_by_a_job_at_the_new_head(api: Api) -> None:
    session = api.session(policy=WHOLE)
    asked, *_, last = api.say(session, user("one"), assistant("two"), *writing("c1", "a.py"))["entry_ids"]
    moved = api.post(f"{session}/branch", {"entry_id": asked, "summarize": True, "instructions": "Mind the names."})
    job = moved["job"]
    assert (moved["summary_entry_id"], job["kind"], job["state"]) == (None, "branch_summary", "queued")
    assert api.get(f"{session}/context")["messages"] == [user("one")]
    assert job["id"] in api.do_jobs("They tried two.")
    ended = api.get(f"/jobs/{job['id']}")
    assert (ended["state"], ended["compaction_id"], ended["degraded"]) == ("succeeded", None, False)
    entry = api.get(f"{session}/entries/{ended['entry_id']}")
    assert (entry["kind"], entry["summary"], entry["left_entry_id"]) == ("branch_summary", "They tried two.", last)
    assert (entry["details"], entry["from_hook"]) == ({"read_files": [], "modified_files": ["a.py"]}, None)
    assert [item["id"] for item in api.get(f"{session}/entries")["items"]] == [asked, entry["id"]]
    shown = api.get(f"{session}/context")["messages"]
    assert (len(shown), shown[1]["role"]) == (2, "user")
    assert BRANCH in str(shown[1])
    assert "They tried two." in str(shown[1])
    assert api.get(session)["message_count"] == 1
    assert api.get(f"{session}/compactions")["items"] == []


@pytest.mark.parametrize("route", ["pins", "branch"])
def test_an_entry_that_a_body_names_is_no_session_that_is_gone(api: Api, route: str) -> None:
    session = api.session()
    api.say(session, user("one"))
    for entry_id in ("e0-9", "e3-1", "none"):
        refused = api.problem("POST", f"{session}/{route}", {"entry_id": entry_id})
        assert (refused["status"], refused["name"], refused["path"]) == (422, "invalid-request", "entry_id")
        assert entry_id in refused["detail"]
    gone = api.problem("POST", f"/sessions/none/{route}", {"entry_id": "e0-1"})
    assert (gone["status"], gone["name"]) == (404, "not-found")


def test_what_was_summarized_before_is_there_at_once(api: Api) -> None:
    session = api.session(policy=WHOLE)
    asked, answered = api.say(session, user("one"), assistant("two"))["entry_ids"]
    api.post(f"{session}/branch", {"entry_id": asked, "summarize": True})
    api.do_jobs("They tried two.")
    api.post(f"{session}/branch", {"entry_id": answered})
    moved = api.post(f"{session}/branch", {"entry_id": asked, "summarize": True})
    assert moved["job"] is None
    assert api.get(f"{session}/entries/{moved['summary_entry_id']}")["summary"] == "They tried two."
    assert "They tried two." in str(api.get(f"{session}/context")["messages"])
    assert moved["budget"] == api.get(f"{session}/context")["budget"]


def test_nothing_is_summarized_where_nothing_is_left_or_nobody_asks(api: Api) -> None:
    session = api.session(policy=WHOLE)
    asked, answered = api.say(session, user("one"), assistant("two"))["entry_ids"]
    for entry_id, summarize in ((answered, True), (asked, False), (answered, True)):
        moved = api.post(f"{session}/branch", {"entry_id": entry_id, "summarize": summarize})
        assert (moved["job"], moved["summary_entry_id"]) == (None, None)
    assert api.get(f"{session}/jobs")["items"] == []


def test_instructions_are_for_a_summary(api: Api) -> None:
    session = api.session()
    (entry,) = api.say(session, user("one"))["entry_ids"]
    problem = api.problem("POST", f"{session}/branch", {"entry_id": entry, "instructions": "Mind the names."})
    assert (problem["name"], problem["path"]) == ("invalid-request", "instructions")
    unknown = api.problem("POST", f"{session}/branch", {"entry_id": "e9-9", "summarize": True})
    assert (unknown["name"], unknown["path"]) == ("invalid-request", "entry_id")
    assert api.get(session)["version"] == 2


def test_a_repeated_request_leaves_a_branch_once(api: Api) -> None:
    session = api.session(policy=WHOLE)
    asked, _ = api.say(session, user("one"), assistant("two"))["entry_ids"]
    body = {"entry_id": asked, "summarize": True}
    first, second = (api.post(f"{session}/branch", body, Idempotency_Key=f"leave {session}") for _ in range(2))
    assert first == second
    assert len(api.get(f"{session}/jobs")["items"]) == 1


def test_a_hook_that_supplied_the_summary_of_a_branch_is_named(api: Api) -> None:
    session = api.session(policy=WHOLE)
    asked, _ = api.say(session, user("one"), assistant("two"))["entry_ids"]
    job = api.post(f"{session}/branch", {"entry_id": asked, "summarize": True})["job"]
    supply(api, job, SummaryDraft("Said.", degraded=False, summarizer="hook notes", details={"ticket": 7}))
    placed = api.get(f"/jobs/{job['id']}")["entry_id"]
    entry = api.get(f"{session}/entries/{placed}")
    assert (entry["from_hook"], entry["details"]["ticket"]) == ("notes", 7)


def test_the_last_entry_of_a_branch_that_was_left_can_be_read(api: Api) -> None:
    """Also of one on which nothing was said yet, so that its last entry is another's."""
    session = api.session(policy=WHOLE)
    asked, answered, _ = api.say(session, user("one"), assistant("two"), user("three"))["entry_ids"]
    api.post(f"{session}/branch", {"entry_id": answered})
    api.post(f"{session}/branch", {"entry_id": asked, "summarize": True})
    api.do_jobs()
    placed = api.get(f"{session}/entries")["items"][-1]
    assert api.get(f"{session}/entries/{placed['left_entry_id']}")["message"] == assistant("two")


def test_a_summary_of_a_branch_is_tagged_with_the_summary_that_covers_it(api: Api) -> None:
    session = api.session(policy=WHOLE, auto_compact=False)
    asked, _ = api.say(session, user("one"), assistant("two"))["entry_ids"]
    api.post(f"{session}/branch", {"entry_id": asked, "summarize": True})
    api.do_jobs()
    api.fill(session, turns=4)
    api.post(f"{session}/compact", {"summarize": True}, 202)
    api.do_jobs()
    first, placed, *_ = api.get(f"{session}/entries")["items"]
    assert "They talked." in str(api.get(f"{session}/context")["messages"][0])
    assert first["tags"].keys() == {"condense_parent"}
    assert placed["tags"] == first["tags"]


def test_a_compaction_with_a_summary_lists_what_is_kept_and_the_files_and_an_inline_one_does_not(api: Api) -> None:
    session = api.session(auto_compact=False)
    api.say(session, user("one"), *writing("c1", "a.py"))
    api.fill(session, turns=4)
    api.post(f"{session}/compact", {"stages": ["truncate"], "target_tokens": 700, "summarize": False}, 202)
    api.do_jobs()
    inline, summarized = api.get(f"{session}/compactions")["items"]
    reported = ("first_kept_entry_id", "details", "from_hook")
    assert [inline[name] for name in reported] == [None, None, None]
    assert summarized["details"] == {"read_files": [], "modified_files": ["a.py"]}
    assert summarized["from_hook"] is None
    covered = [entry for entry in api.get(f"{session}/entries")["items"] if "condense_parent" in entry["tags"]]
    after = int(covered[-1]["id"].removeprefix("e0-")) + 1
    assert summarized["first_kept_entry_id"] == f"e0-{after}"


def test_a_hook_that_supplied_a_summary_is_named_in_the_list(api: Api) -> None:
    session = api.session(auto_compact=False)
    api.fill(session, turns=4)
    job = api.post(f"{session}/compact", {"summarize": True}, 202)["job"]
    supply(api, job, SummaryDraft("Said.", degraded=False, summarizer="hook notes", details={"ticket": 7}))
    (made,) = api.get(f"{session}/compactions")["items"]
    assert (made["from_hook"], made["details"]["ticket"]) == ("notes", 7)


@pytest.mark.parametrize(("preset", "counted"), [("pi", 580), ("foldline", None)])
def test_the_statistics_count_by_what_was_reported_where_the_policy_trusts_that(
    api: Api, preset: str, counted: int | None
) -> None:
    session = api.session(policy={"preset": preset}, context_window=40_000)
    api.say(session, user("one"))
    api.say(session, assistant("two"), usage={"version": 2, "input": 500, "output": 80})
    reported = api.get(f"{session}/stats")["counted_tokens"]
    # The JSON of no tools is a token by the estimate, and none of the history.
    assert reported == counted - 1 if counted else reported < 20
