"""A session under each preset, and what the presets say of their compactions."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from foldline.engine.formats import rules
from foldline.engine.policies.policy import FIGURES
from foldline.engine.policies.presets import PRESETS
from foldline.engine.summaries.prompt import said_tokens
from foldline.log.compaction.enqueue import INTERACTIVE
from foldline.log.jobs import claims, endings
from tests.support.eventually import eventually
from tests.support.processes.api import Api, Json, assistant, calling, result, user

WINDOW = 16_000
LINES = "".join(f"{number}: the quick brown fox jumps over the lazy dog\n" for number in range(60))


def reading(number: int, *, path: str = "main.py") -> list[Json]:
    """A turn in which a file is read."""
    call_id, arguments = f"c{number}", f'{{"path": "{path}"}}'
    call = {"id": call_id, "type": "function", "function": {"name": "read_file", "arguments": arguments}}
    return [
        user(f"Please look at {path} once more, for the {number}th time."),
        {"role": "assistant", "content": "I read it.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call_id, "content": f"version {number}\n{LINES}"},
        assistant(f"It is as it was {number} turns ago, and needs no change."),
    ]


# All that is due in one summary.
AT_ONCE: Json = {
    "preset": "codebuddy",
    "stages": ["strip", {"name": "summarize", "chunk_share": 0.0, "chunk_tokens": 0}, "truncate"],
}


def until_compacted(api: Api, session: str) -> Json:
    """Turns until one is compacted; what that was."""
    steps: list[Json] = []
    for number in range(60):
        answer = api.say(session, *reading(number))
        assert answer["budget"]["fits"]
        steps += filter(None, [answer["compaction"]])
        if steps:
            break
    return steps[0]


def figures(answer: Json) -> set[str]:
    return {name for name in FIGURES if name in answer}


@pytest.mark.parametrize("preset", PRESETS)
def test_a_session_under_a_preset_is_compacted_and_reports_the_figures_of_the_preset(api: Api, preset: str) -> None:
    wanted = set(PRESETS[preset].report)
    session = api.session(context_window=WINDOW, policy={"preset": preset}, system="Be brief.")

    step = until_compacted(api, session)
    assert figures(step) == wanted
    assert step["tokens_after"] <= step["tokens_before"]

    context = api.get(f"{session}/context")
    assert context["budget"]["fits"]
    assert rules.check("openai", context["messages"], context["system"]) == []

    api.do_jobs()
    for number in range(100, 105):
        api.say(session, *reading(number, path=f"part{number}.py"))
    asked = api.post(f"{session}/compact", {"summarize": True, "instructions": preset}, 202)
    assert figures(asked["result"]) == wanted
    api.do_jobs()
    job = api.get(f"/jobs/{asked['job']['id']}")
    assert (job["state"], figures(job["result"])) == ("succeeded", wanted)
    assert job["result"]["tokens_saved"] == job["result"]["tokens_before"] - job["result"]["tokens_after"]
    assert job["result"]["stages_used"][0] == "summarize"

    listed = api.get(f"{session}/compactions")["items"]
    assert {frozenset(figures(compaction)) for compaction in listed} == {frozenset(wanted)}
    (made,) = (compaction for compaction in listed if compaction["id"] == job["compaction_id"])
    assert {name: made[name] for name in wanted} == {name: job["result"][name] for name in wanted}
    assert api.get(f"{session}/context")["budget"]["fits"]


def test_a_job_that_has_not_ended_has_no_result(api: Api) -> None:
    session = api.session(context_window=WINDOW, policy={"preset": "codebuddy"})
    api.say(session, *reading(1), *reading(2))
    job = api.post(f"{session}/compact", {"summarize": True}, 202)["job"]
    assert (job["state"], job["result"]) == ("queued", None)
    api.call("DELETE", f"/jobs/{job['id']}")
    assert api.get(f"/jobs/{job['id']}")["result"] is None


def test_the_tiers_of_code_buddy(api: Api) -> None:
    session = api.session(context_window=WINDOW, policy=AT_ONCE)
    nothing = api.post(f"{session}/compact", {})["result"]
    assert (nothing["tier"], nothing["compacted"], nothing["original_count"], nothing["final_count"]) == (
        0,
        False,
        0,
        0,
    )
    assert (nothing["original_tokens"], nothing["final_tokens"], nothing["warning_level"]) == (0, 0, "none")

    # It is counted by length: this is three quarters of the window by that, and less than half of it exactly.
    for number in range(9):
        api.say(session, *reading(number))
    stripped = api.post(f"{session}/compact", {"stages": ["strip"], "target_tokens": 1000, "summarize": False})[
        "result"
    ]
    assert (stripped["tier"], stripped["compacted"], stripped["stages_used"]) == (1, True, ["strip"])
    assert stripped["original_count"] == stripped["final_count"] == 36
    assert stripped["final_tokens"] < stripped["original_tokens"] / 3

    asked = api.post(f"{session}/compact", {"stages": [], "summarize": True}, 202)
    assert (asked["result"]["tier"], asked["result"]["compacted"]) == (0, False)
    api.do_jobs()
    published = api.get(f"/jobs/{asked['job']['id']}")["result"]
    assert (published["tier"], published["original_count"]) == (2, 36)
    # A summary stands for all but the four newest.
    assert published["final_count"] == 5

    for number in range(10, 13):
        api.say(session, *reading(number))
    asked = api.post(f"{session}/compact", {"stages": [], "summarize": True, "instructions": "again"}, 202)
    api.do_jobs("They talked, as far as one can say without a model.", degraded=True)
    assert api.get(f"/jobs/{asked['job']['id']}")["result"]["tier"] == 4


def test_a_summary_of_many_chunks_is_tier_two(api: Api) -> None:
    session = api.session(context_window=64_000, policy={"preset": "codebuddy"})
    for number in range(24):
        api.say(session, *reading(number, path=f"part{number}.py"))
    api.post(f"{session}/compact", {"stages": [], "summarize": True}, 202)
    claim = claims.claim(api.store, INTERACTIVE)
    assert claim is not None
    assert claim.request.call_tokens is not None
    assert said_tokens(claim.request) > claim.request.call_tokens
    endings.release(api.store, claim)
    api.do_jobs()
    assert [job["result"]["tier"] for job in api.get(f"{session}/jobs")["items"]] == [2]


def test_a_summary_whose_input_has_to_be_cut_is_one_of_all_that_was_due(api: Api) -> None:
    summarize = {"name": "summarize", "keep_messages": 4, "keep_tokens": 0}
    session = api.session(context_window=400_000, policy={"stages": [summarize], "report": ["tier"]})
    api.say(session, user("Read it."), calling("c1"), result("c1", "word " * 120_000))
    api.say(session, user("And?"), assistant("I did."), user("Go on."), assistant("I will."))
    asked = api.post(f"{session}/compact", {"summarize": True}, 202)
    api.do_jobs()
    assert api.get(f"/jobs/{asked['job']['id']}")["result"]["tier"] == 2


def test_what_is_only_put_out_of_view_is_tier_four_also_while_a_job_waits(api: Api) -> None:
    session = api.session(context_window=WINDOW, policy={"preset": "codebuddy"})
    for number in range(9):
        api.say(session, *reading(number))
    asked = api.post(f"{session}/compact", {"stages": ["truncate"], "target_tokens": 1500, "summarize": False}, 202)
    assert (asked["result"]["tier"], asked["result"]["stages_used"]) == (4, ["truncate"])
    assert asked["job"] is not None
    (hidden,) = api.get(f"{session}/compactions")["items"]
    assert hidden["tier"] == 4
    assert hidden["final_count"] < hidden["original_count"] == 36


def waited_for(api: Api, session: str, body: Json) -> Json:
    """The answer to a compaction that was waited for until its job had ended."""
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(api.post, f"{session}/compact", body, 200, Prefer="wait=20")

        def is_answered() -> bool:
            api.do_jobs()
            return waiting.done()

        eventually(is_answered, seconds=20)
        answer: Json = waiting.result()
    return answer


@pytest.mark.parametrize("preset", ["foldline", "codebuddy"])
@pytest.mark.parametrize("stages", [[], ["truncate"]])
def test_a_request_that_waits_says_that_its_job_compacted(api: Api, preset: str, stages: list[str]) -> None:
    session = api.session(context_window=WINDOW, policy={"preset": preset})
    for number in range(9):
        api.say(session, *reading(number))
    answer = waited_for(api, session, {"summarize": True, "stages": stages, "target_tokens": 3000})
    reported = answer["result"]
    assert (reported["compacted"], reported["stages_used"]) == (True, [*stages, "summarize"])
    assert figures(reported) == set(PRESETS[preset].report)
    assert (answer["job"]["result"]["compacted"], reported["tokens_saved"] > 0) == (True, True)


def test_a_request_that_waits_reports_both_compactions_as_one(api: Api) -> None:
    session = api.session(context_window=WINDOW, policy=AT_ONCE)
    for number in range(9):
        api.say(session, *reading(number))
    before = api.get(f"{session}/stats")
    reported = waited_for(api, session, {"summarize": True})["result"]
    assert (reported["tier"], reported["original_count"], reported["final_count"]) == (2, 36, 5)
    assert reported["warning_level"] == before["warning_level"]


def test_the_figures_of_neurolink_count_files_and_messages(api: Api) -> None:
    session = api.session(context_window=WINDOW, policy={"preset": "neurolink"}, auto_compact=False)
    for number in range(8):
        api.say(session, *reading(number, path=f"file{number % 2}.py"))
    body = {"stages": ["deduplicate"], "target_tokens": 1000, "summarize": False}
    deduplicated = api.post(f"{session}/compact", body)["result"]
    assert (deduplicated["files_deduped"], deduplicated["messages_removed"]) == (2, 0)
    body = {"stages": ["truncate"], "target_tokens": 1000, "summarize": False}
    truncated = api.post(f"{session}/compact", body, 202)["result"]
    assert truncated["files_deduped"] == 0
    assert truncated["messages_removed"] >= 4


def test_a_policy_of_the_request_reports_its_own_figures(api: Api) -> None:
    session = api.session(context_window=WINDOW)
    for number in range(5):
        api.say(session, *reading(number))
    body = {"stages": [], "summarize": True, "policy": {"report": ["tier"]}}
    asked = api.post(f"{session}/compact", body, 202)
    assert figures(asked["result"]) == {"tier"}
    api.do_jobs()
    assert figures(api.get(f"/jobs/{asked['job']['id']}")["result"]) == {"tier"}
    assert figures(api.post(f"{session}/compact", {})["result"]) == set()


@pytest.mark.parametrize(
    ("text", "most"),
    [("x" * 60_001, 32_000), ("line\n" * 2_001, 4_000), ("漢字" * 10_000, 4_000), ("x" * 51_000, 51_000)],
    ids=["bytes", "lines", "wide", "within"],
)
def test_a_long_output_is_an_excerpt_from_the_first_view_on_and_stays_whole_in_its_entry(
    api: Api, text: str, most: int
) -> None:
    session = api.session(context_window=128_000, policy={"preset": "neurolink"})
    appended = api.say(session, user("look"), calling("a"), result("a", text))
    shown = api.get(f"{session}/context")["messages"][2]["content"]
    assert len(shown) <= most
    assert (appended["compaction"] is None) == (shown == text)
    if appended["compaction"] is not None:
        assert appended["compaction"]["stages_used"] == ["limit_outputs"]
        assert shown[:100] == text[:100]
    entries = api.get(f"{session}/entries")["items"]
    assert entries[2]["message"]["content"] == text


def test_a_policy_may_limit_outputs_on_its_own(api: Api) -> None:
    session = api.session(context_window=128_000, policy={"preset": "foldline", "output_bytes": 1_000})
    api.say(session, user("look"), calling("a", "b"), result("a", "word " * 400), result("b", "word " * 100))
    first, second = (message["content"] for message in api.get(f"{session}/context")["messages"][2:])
    assert len(first) < 500 <= len(second)
    (made,) = api.get(f"{session}/compactions")["items"]
    assert made["reason"] == "outputs"
    api.post(f"{session}/compactions/{made['id']}/undo", {})
    assert len(api.get(f"{session}/context")["messages"][2]["content"]) == 2_000


def test_whoever_asks_after_an_append_that_was_compacted_gets_room_too(api: Api) -> None:
    session = api.session(context_window=128_000, policy={"preset": "neurolink"})
    for number in range(4):
        api.say(session, *talking(number))
    api.say(session, user("look"), calling("a"), result("a", "word " * 60_000), assistant("I see."))
    before = api.get(f"{session}/context")["budget"]["used"]
    assert api.post(f"{session}/compact", {}, 202)["job"]
    api.do_jobs()
    after = api.get(f"{session}/context")["budget"]["used"]
    assert after < 0.7 * before
    assert api.post(f"{session}/compact", {})["job"] is None


@pytest.mark.parametrize("preset", ["neurolink", "neurolink@program"])
def test_the_first_pair_stays_when_the_window_slides_and_an_even_number_goes(api: Api, preset: str) -> None:
    # Without the stage before it: a summary would stand for the first pair too.
    session = api.session(context_window=16_000, policy={"preset": preset, "stages": ["prune", "truncate"]})
    opening = [user("Rule: never touch the file main.lock."), assistant("Understood.")]
    turns = [said for number in range(18) for said in (user(f"{number}?"), assistant(f"{number}: {LINES}"))]
    appended = api.say(session, *opening, *turns, user("And now?"))
    assert "truncate" in appended["compaction"]["stages_used"]
    view = api.get(f"{session}/context")
    assert view["budget"]["fits"]
    assert [message["content"] for message in view["messages"][:2]] == [said["content"] for said in opening]
    hidden = [entry for entry in api.get(f"{session}/entries")["items"] if "truncation_parent" in entry["tags"]]
    assert len(hidden) % 2 == 0
    assert len(hidden) > 0


def talking(number: int) -> list[Json]:
    """A turn of some hundred tokens without tools."""
    return [user(f"What do you say to the {number}th of them?"), assistant(f"That there are {number} lines.\n{LINES}")]


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("is_talk", [False, True], ids=["tools", "talk"])
def test_whoever_asks_gets_room_far_below_the_trigger_and_asking_again_changes_nothing(
    api: Api, preset: str, *, is_talk: bool
) -> None:
    session = api.session(context_window=128_000, policy={"preset": preset}, system="Be brief.")
    for number in range(14):
        turn = talking(number) if is_talk else reading(number, path=f"part{number}.py")
        assert api.say(session, *turn)["compaction"] is None
    before = api.get(f"{session}/context")["budget"]["used"]
    assert 10_000 < before < 16_000

    assert api.client.post(f"{session}/compact", json={}).status_code in {200, 202}
    api.do_jobs()
    after = api.get(f"{session}/context")["budget"]["used"]
    assert after < 0.6 * before

    again = api.post(f"{session}/compact", {})
    assert (again["job"], again["result"]["stages_used"]) == (None, [])
    assert api.get(f"{session}/context")["budget"]["used"] == after


def test_an_overflow_is_reported_with_the_figures_of_the_preset(api: Api) -> None:
    session = api.session(context_window=WINDOW, policy={"preset": "codebuddy"})
    version = api.say(session, *reading(1), *reading(2), *reading(3))["version"]
    reported = [
        api.post(f"{session}/overflow", {"error": error, "version": version})["result"]
        for error in ("Rate limit reached", "prompt is too long: 213462 tokens > 200000 maximum")
    ]
    assert [figures(answer) for answer in reported] == [set(PRESETS["codebuddy"].report)] * 2
    assert [answer["tier"] > 0 for answer in reported] == [False, True]
    assert reported[1]["final_tokens"] < reported[1]["original_tokens"] == reported[0]["original_tokens"]


@pytest.mark.parametrize(
    ("preset", "levels"),
    [
        ("foldline", ["none", "warning", "critical"]),
        ("neurolink", ["none", "notice", "compact"]),
        ("agent-code", ["none", "warning", "compact", "blocking"]),
        ("codebuddy", ["none", "warning", "critical"]),
    ],
)
def test_statistics_name_the_highest_level_of_the_presets_own(api: Api, preset: str, levels: list[str]) -> None:
    session = api.session(context_window=64_000, policy={"preset": preset}, auto_compact=False)
    seen = []
    for number in range(80):
        api.say(session, *reading(number))
        seen.append(api.get(f"{session}/stats")["warning_level"])
    assert list(dict.fromkeys(seen)) == levels


def test_the_level_for_another_model_is_by_what_its_provider_counts(api: Api) -> None:
    session = api.session(model="openai/o1", context_window=None, policy={"preset": "neurolink"})
    api.say(session, user("word " * 66_000))
    assert api.get(f"{session}/stats")["warning_level"] == "notice"
    assert api.get(f"{session}/stats?model=anthropic/claude-sonnet-4-5")["warning_level"] == "compact"


def test_a_window_that_only_the_preset_knows_stays_with_the_session(api: Api) -> None:
    fields = {"model": "qwen/qwen-plus", "context_window": None}
    assert api.problem("POST", "/sessions", fields)["name"] == "unknown-model"
    session = api.session(**fields, policy={"preset": "codebuddy"})
    api.say(session, *reading(1), *reading(2))
    api.post(f"{session}/compact", {"policy": {"preset": "foldline"}, "stages": ["truncate"]})
    for policy in (None, {"preset": "neurolink"}, {"preset": "foldline"}):
        changed = api.call("PATCH", session, {"policy": policy})
        assert changed["context_window"] == 131_072
    assert api.problem("PATCH", session, {"context_window": None})["name"] == "unknown-model"


def test_a_window_that_nobody_chose_goes_with_its_model(api: Api) -> None:
    neurolink = {"preset": "neurolink"}
    session = api.session(model="openai/gpt-4o", context_window=None)
    for change, window in (
        ({"model": "vertex/gemini-1.5-pro", "policy": neurolink}, 2_097_152),
        ({"model": "vertex/gemini-1.5-flash"}, 1_048_576),
        ({"policy": None}, 1_048_576),
        ({"model": "openai/gpt-4o"}, 128_000),
        ({"context_window": 64_000}, 64_000),
        ({"model": "vertex/gemini-1.5-flash"}, 64_000),
        ({"context_window": None, "policy": neurolink}, 1_048_576),
    ):
        assert api.call("PATCH", session, change)["context_window"] == window


def test_the_models_of_a_preset_are_those_its_system_knows(api: Api) -> None:
    found = {row["model"]: row for row in api.get("/models?preset=neurolink")["items"]}
    gpt_5 = found["openai/gpt-5"]
    assert (gpt_5["context_window"], gpt_5["listed_window"], gpt_5["trigger_tokens"]) == (400_000, 1_047_576, 268_800)
    assert found["bedrock/amazon.nova-pro-v1:0"]["context_window"] == 300_000
    words = {row["model"]: row["trigger_tokens"] for row in api.get("/models?preset=agent-code%40program")["items"]}
    assert (words["sonnet"], words["haiku"]) == (170_616, 178_808)
    refused = api.problem("GET", "/models?preset=unheard-of")
    assert (refused["status"], refused["path"]) == (422, "query.preset")
    assert "codebuddy@program" in refused["detail"]
