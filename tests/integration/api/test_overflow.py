from __future__ import annotations

import pytest

from foldline.log.compaction.enqueue import INTERACTIVE
from foldline.log.events import Event, OverflowReported
from foldline.log.jobs import claims
from tests.support.pictures import picture
from tests.support.processes.api import Api, Json, assistant, user

REFUSED = "prompt is too long"
NOTHING_SAID = {
    "is_overflow": False,
    "is_too_large": False,
    "is_reasoning_refused": False,
    "provider": None,
    "actual_tokens": None,
    "limit_tokens": None,
    "retryable": False,
}


def filled(api: Api, turns: int = 20, **fields: object) -> tuple[str, Json]:
    """A session with some turns that fit its budget, and what it is then."""
    session = api.session(**{"context_window": 16_000, **fields})
    api.fill(session, turns)
    return session, api.get(session)


def report(api: Api, session: str, error: object = REFUSED, **fields: object) -> Json:
    """What is said of the view as it is now."""
    return {"error": error, "version": api.get(session)["version"], **fields}


def is_unchanged(api: Api, session: str, before: Json) -> bool:
    listed = [api.get(f"{session}/{what}")["items"] for what in ("compactions", "jobs")]
    return bool(api.get(session) == before and listed == [[], []])


def test_a_refused_view_shrinks_and_fits(api: Api) -> None:
    session, before = filled(api)
    used, version = before["budget"]["used"], before["version"]
    answer = api.post(f"{session}/overflow", {"error": REFUSED, "version": version})
    assert answer["verdict"] == {**NOTHING_SAID, "is_overflow": True, "provider": "anthropic", "retryable": True}
    result = answer["result"]
    assert (result["compacted"], result["tokens_before"]) == (True, used)
    assert result["tokens_after"] <= used // 2
    view = api.get(f"{session}/context")
    assert (view["version"], view["budget"]["used"]) == (answer["version"], result["tokens_after"])
    assert view["budget"]["fits"]
    assert answer["version"] > version
    assert view["messages"][-1]["content"].startswith("19 ")
    (made,) = api.get(f"{session}/compactions")["items"]
    assert (made["stages_used"], made["tokens_after"]) == (result["stages_used"], result["tokens_after"])
    assert made["reason"] == "overflow"
    target = answer["target"]
    assert target["least_tokens"] < result["tokens_after"] <= target["tokens"] < used
    assert target["reached"] is True


def test_a_view_that_shrinks_too_little_says_so(api: Api) -> None:
    session, before = filled(api, 4)
    api.say(session, user("all at once " * 400))
    used = api.get(session)["budget"]["used"]
    answer = api.post(f"{session}/overflow", report(api, session, f"{REFUSED}: {used} tokens > {used // 4}"))
    after, target = answer["result"]["tokens_after"], answer["target"]
    assert before["budget"]["used"] < target["least_tokens"] <= after < used
    assert (target["reached"], target["tokens"] < after) == (False, True)


def test_images_that_a_refusal_leaves_out_have_its_reason(api: Api) -> None:
    session = api.session(model="openai/gpt-4o", context_window=64_000)
    for number in range(4):
        url = {"url": f"data:image/gif;base64,{picture(30, 300, number)}"}
        api.say(session, {"role": "user", "content": [{"type": "image_url", "image_url": url}]}, assistant("Seen."))
    answer = api.post(f"{session}/overflow", report(api, session, "413 request_too_large: too many images"))
    assert (answer["verdict"]["is_too_large"], answer["result"]["stages_used"]) == (True, ["omit_images"])
    (made,) = api.get(f"{session}/compactions")["items"]
    assert (made["reason"], answer["target"]) == ("overflow", None)


def test_what_a_report_puts_out_of_view_is_summarized(api: Api) -> None:
    session, _ = filled(api)
    api.post(f"{session}/overflow", report(api, session))
    assert api.get(f"{session}/stats")["pending_tokens"] > 0
    (job,) = api.get(f"{session}/jobs")["items"]
    assert job["id"] in api.do_jobs()
    assert api.get(f"{session}/stats")["pending_tokens"] == 0
    assert "They talked." in str(api.get(f"{session}/context")["messages"])


@pytest.mark.parametrize("separator", [",", ""])
def test_the_target_is_a_share_of_the_limit_that_the_provider_names(api: Api, separator: str) -> None:
    session, before = filled(api)
    used = before["budget"]["used"]
    assert used > 2_000
    figures = [f"{number:,}".replace(",", separator) for number in (used, 2_000)]
    error = {"error": {"type": "invalid_request_error", "message": f"{REFUSED}: {figures[0]} tokens > {figures[1]}"}}
    answer = api.post(f"{session}/overflow", {"error": error, "version": before["version"]})
    assert (answer["verdict"]["actual_tokens"], answer["verdict"]["limit_tokens"]) == (used, 2_000)
    assert api.get(session)["multiplier"] == 1.0
    assert 0 < answer["result"]["tokens_after"] <= 1_000


def test_the_room_for_the_answer_is_not_the_inputs(api: Api) -> None:
    session, before = filled(api)
    used = before["budget"]["used"]
    error = f"input length and `max_tokens` exceed context limit: {used} + 3000 > 5000"
    answer = api.post(f"{session}/overflow", report(api, session, error))
    assert answer["verdict"]["limit_tokens"] == 5_000
    assert answer["result"]["tokens_after"] <= 1_000


def test_the_least_of_the_limits_counts(api: Api) -> None:
    session, before = filled(api, turns=6, context_window=2_000, auto_compact=False)
    used, limit = before["budget"]["used"], before["budget"]["limit"]
    assert used > limit
    answer = api.post(f"{session}/overflow", report(api, session, f"{REFUSED}: {used} tokens > {used - 1}"))
    assert answer["result"]["tokens_after"] <= limit // 2


def test_a_policy_that_aims_high_gives_way(api: Api) -> None:
    session, before = filled(api, policy={"trigger": 0.99, "target": 0.95, "stages": ["prune"]})
    answer = api.post(f"{session}/overflow", report(api, session))
    assert answer["result"]["stages_used"] == ["truncate"]
    assert answer["result"]["tokens_after"] <= before["budget"]["used"] * 0.7


def test_what_the_provider_counted_raises_the_multiplier(api: Api) -> None:
    session, before = filled(api)
    used = before["budget"]["used"]
    error = f"{REFUSED}: {used * 3 // 2} tokens > {used}"
    answer = api.post(f"{session}/overflow", {"error": error, "version": before["version"]})
    after = api.get(session)
    assert after["multiplier"] == pytest.approx(1.5, abs=0.002)
    assert answer["result"]["tokens_before"] == pytest.approx(used * 1.5, abs=2)
    assert after["budget"]["used"] <= used // 2


@pytest.mark.parametrize(("actual", "limit", "multiplier"), [(100_000, 50_000, 2.0), (100, 50, 1.0)])
def test_the_multiplier_stays_between_one_and_two(api: Api, actual: int, limit: int, multiplier: float) -> None:
    session, before = filled(api)
    answer = api.post(f"{session}/overflow", report(api, session, f"{REFUSED}: {actual} tokens > {limit}"))
    assert api.get(session)["multiplier"] == multiplier
    # The limit is half of what the provider counted, whatever its tokens are; the target, half of that.
    assert answer["result"]["tokens_after"] <= before["budget"]["used"] * multiplier / 4


def test_the_multiplier_is_never_lowered(api: Api) -> None:
    session, before = filled(api)
    used = before["budget"]["used"]
    api.post(f"{session}/overflow", report(api, session, f"{REFUSED}: {used * 2} tokens > {used}"))
    api.fill(session, turns=1)
    now = api.get(session)["budget"]["used"]
    api.post(f"{session}/overflow", report(api, session, f"{REFUSED}: {now // 2} tokens > {now // 3}"))
    assert api.get(session)["multiplier"] == 2.0


def test_a_report_of_an_older_version_changes_nothing_and_says_what_is(api: Api) -> None:
    session, before = filled(api)
    used, version = before["budget"]["used"], before["version"]
    body = {"error": f"{REFUSED}: {used * 2} tokens > {used}", "version": version - 1}
    answer = api.post(f"{session}/overflow", body)
    assert (answer["verdict"]["is_overflow"], answer["version"]) == (True, version)
    assert (answer["result"]["compacted"], answer["result"]["tokens_after"]) == (False, used)
    assert is_unchanged(api, session, before)


def test_two_reports_of_one_view_shrink_it_once(api: Api) -> None:
    session, before = filled(api)
    body = {"error": REFUSED, "version": before["version"]}
    first, second = (api.post(f"{session}/overflow", body) for _ in range(2))
    assert (first["result"]["compacted"], second["result"]["compacted"]) == (True, False)
    assert (second["version"], second["result"]["tokens_after"]) == (first["version"], first["result"]["tokens_after"])


@pytest.mark.parametrize(
    "error",
    [
        "429 Too Many Requests: too many tokens",
        "Internal server error",
        "",
        {},
        {"error": {"message": "no such model"}},
    ],
)
def test_what_is_no_overflow_changes_nothing(api: Api, error: object) -> None:
    session, before = filled(api)
    answer = api.post(f"{session}/overflow", {"error": error, "version": before["version"]})
    assert (answer["verdict"], answer["result"]["compacted"]) == (NOTHING_SAID, False)
    assert is_unchanged(api, session, before)


def test_an_overflow_that_no_compacting_helps_changes_nothing(api: Api) -> None:
    session, before = filled(api)
    answer = api.post(
        f"{session}/overflow", report(api, session, "exceed context limit: 900 + 9000 > 8000, context length exceeded")
    )
    assert (answer["verdict"]["is_overflow"], answer["verdict"]["retryable"]) == (True, False)
    assert is_unchanged(api, session, before)


@pytest.mark.parametrize("messages", [[], [user("hello")], [user("all at once " * 200)]])
def test_a_view_that_cannot_shrink_is_refused_and_stays(api: Api, messages: list[Json]) -> None:
    session = api.session()
    api.say(session, *messages)
    before = api.get(session)
    problem = api.problem("POST", f"{session}/overflow", report(api, session, f"{REFUSED}: 9000 tokens > 8000"))
    assert (problem["name"], problem["status"]) == ("cannot-shrink", 422)
    assert (problem["target_tokens"] < problem["used_tokens"]) == bool(messages)
    verdict = problem["verdict"]
    assert (verdict["is_overflow"], verdict["actual_tokens"], verdict["limit_tokens"]) == (True, 9000, 8000)
    assert is_unchanged(api, session, before)


def test_a_repeated_report_is_answered_again(api: Api) -> None:
    session, before = filled(api)
    body = report(api, session)
    first, again = (api.post(f"{session}/overflow", body, Idempotency_Key="once") for _ in range(2))
    assert again == first
    assert len(api.get(f"{session}/compactions")["items"]) == 1
    other = api.problem("POST", f"{session}/overflow", {"error": "another", "version": 1}, Idempotency_Key="once")
    assert other["name"] == "idempotency-mismatch"
    assert first["result"]["tokens_before"] == before["budget"]["used"]


def test_whoever_is_named_is_the_provider(api: Api) -> None:
    session, _ = filled(api)
    answer = api.post(f"{session}/overflow", report(api, session, "input is too long", provider="anthropic"))
    assert answer["verdict"]["provider"] == "anthropic"


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"version": 1}, "error"),
        ({"error": ["too long"], "version": 1}, "error"),
        ({"error": REFUSED, "version": 99}, "version"),
        ({"error": REFUSED, "version": "2"}, "version"),
        ({"error": REFUSED, "version": 1, "provider": 3}, "provider"),
        ({"error": REFUSED, "version": 1, "limit": 3}, "limit"),
        ({"error": REFUSED}, "version"),
    ],
)
def test_a_report_that_cannot_be_is_refused(api: Api, body: Json, path: str) -> None:
    problem = api.problem("POST", f"{api.session()}/overflow", body)
    assert (problem["name"], problem["path"]) == ("invalid-request", path)


def test_a_report_may_name_version_and_parent(api: Api) -> None:
    session, before = filled(api)
    stale = api.problem("POST", f"{session}/overflow", report(api, session), If_Match='"1"')
    assert (stale["name"], stale["current_version"]) == ("stale-version", before["version"])
    unknown = api.problem("POST", f"{session}/overflow", report(api, session, parent="e5-5"))
    assert unknown["name"] == "unknown-parent"
    assert api.problem("POST", "/sessions/none/overflow", {"error": REFUSED, "version": 1})["name"] == "not-found"
    assert is_unchanged(api, session, before)


def test_a_summary_that_waits_keeps_what_was_asked_of_it(api: Api) -> None:
    session, _ = filled(api)
    asked = api.post(f"{session}/compact", {"instructions": "keep the invoice numbers", "summarize": True}, 202)["job"]
    api.post(f"{session}/overflow", report(api, session))
    claim = claims.claim(api.store, INTERACTIVE)
    assert claim is not None
    assert (claim.job_id, claim.request.instructions) == (asked["id"], "keep the invoice numbers")


def test_reports_are_counted_once_whether_or_not_the_view_can_shrink(api: Api) -> None:
    heard: list[Event] = []
    session, _ = filled(api)
    api.store.subscribe(heard.append)
    body = report(api, session)
    for _ in range(2):
        api.client.post(f"{session}/overflow", json=body, headers={"Idempotency-Key": "once"})
    api.client.post("/sessions/none/overflow", json=body)
    assert [each for each in heard if isinstance(each, OverflowReported)] == [OverflowReported("anthropic")]
    heard.clear()
    small = api.session()
    api.say(small, user("hello"))
    api.problem("POST", f"{small}/overflow", report(api, small, provider="somebody"))
    assert heard == [OverflowReported("other")]


@pytest.mark.parametrize(
    ("error", "is_overflow"),
    [
        ({"message": "the call failed", "cause": {"message": REFUSED, "statusCode": 400, "isRetryable": False}}, True),
        (
            {"message": "the call failed", "cause": {"responseBody": '{"error": {"message": "prompt is too long"}}'}},
            True,
        ),
        ({"message": REFUSED, "statusCode": 429}, False),
        ({"message": REFUSED, "isRetryable": True}, False),
    ],
)
def test_the_error_of_a_client_library_is_read_with_its_cause(api: Api, error: Json, *, is_overflow: bool) -> None:
    session, _ = filled(api)
    answer = api.post(f"{session}/overflow", report(api, session, error))
    assert (answer["verdict"]["is_overflow"], answer["result"]["compacted"]) == (is_overflow, is_overflow)


@pytest.mark.parametrize(
    ("stop", "prompt", "output", "is_overflow"),
    [
        ("stop", 16_001, 10, True),
        ("end_turn", 15_999, 10, False),
        ("length", 15_990, 0, True),
        ("max_tokens", 15_990, 5, False),
        ("tool_use", 20_000, 5, False),
    ],
)
def test_an_answer_may_show_that_its_view_was_cut_silently(
    api: Api, stop: str, prompt: int, output: int, *, is_overflow: bool
) -> None:
    session, _ = filled(api)
    body = {"answer": {"stop": stop, "input": prompt, "output": output}, "version": api.get(session)["version"]}
    answer = api.post(f"{session}/overflow", body)
    assert (answer["verdict"]["is_overflow"], answer["result"]["compacted"]) == (is_overflow, is_overflow)
    assert api.problem("POST", f"{session}/overflow", {**body, "error": REFUSED})["path"] == "error"
