"""Code Buddy's tiers, levels, windows and results, in sessions of its users."""

from __future__ import annotations

import re
from datetime import datetime
from math import ceil
from typing import Any, Final

import pytest

from foldline.engine.tokens.counter import count_text
from foldline.engine.tokens.estimates import ESTIMATES
from tests.e2e.presets.driven import (
    AWAY,
    CHINESE,
    FAILING,
    MOODY,
    NARROW,
    STORY,
    WINDOWS,
    WITHOUT_MODEL,
    WORKING,
    Driven,
    Service,
    lines,
    results_of,
    text_of,
)
from tests.support.processes.api import assistant, result, user
from tests.support.processes.program import foldline
from tests.support.processes.scripted_llm import TRUNCATED

# The system prompt, and the list of no tools, by its estimate.
FIXED_TOKENS: Final = 9
RULE: Final = "Never touch the vendor folder."
# A model that takes so many tokens refuses a chunk, and reads half of it.
HALF_OF_8K: Final = 1_900
HALVES: Final = (
    pytest.param("codebuddy", 8_000, HALF_OF_8K),
    pytest.param("codebuddy@program", 8_000, 3_000),
    *(pytest.param("codebuddy", window, 7_000, marks=pytest.mark.thorough) for window in (32_000, 128_000, 1_000_000)),
)
FIGURES: Final = ("original_count", "final_count", "original_tokens", "final_tokens", "tier", "warning_level")


def chunk_of(window: int) -> int:
    """The most that a prompt takes, as the document has it."""
    return int(min(0.4 * window, 12_000))


def estimated(prompt: str) -> int:
    """What a prompt takes by its estimate: each message, and what is around them."""
    parts = re.split(r"\n(?=User: |Assistant: |Tool: |</conversation>)", prompt)
    return sum(map(ESTIMATES["codebuddy"].text, parts))


def quiet(service: Service, window: int, **fields: Any) -> Driven:
    return service.start("codebuddy", window, auto_compact=False, **fields)


def chatted(service: Service, window: int, turns: int = 12, **fields: Any) -> Driven:
    """A session of turns without tools that each take a thirtieth of the window."""
    session = quiet(service, window, **fields)
    for number in range(turns):
        session.say(user(f"{session.mark} question {number}"), assistant(lines(window // 30)))
    return session


@pytest.mark.parametrize("window", WINDOWS)
def test_levels_rise_with_the_share_of_the_window_and_the_trigger_follows(service: Service, window: int) -> None:
    session = quiet(service, window)
    seen = []
    for _ in range(40):
        session.say(user("Go on."), assistant(lines(window // 40)))
        stats = session.stats
        counted = stats["counted_tokens"] + FIXED_TOKENS
        seen.append(stats["warning_level"])
        assert seen[-1] == ("critical" if counted >= 0.9 * window else "warning" if counted >= 0.8 * window else "none")
        assert stats["should_compact"] == (counted > 0.9 * window)
        assert (stats["trigger_tokens"], stats["target_tokens"]) == (
            0.9 * window - FIXED_TOKENS,
            0.5 * window - FIXED_TOKENS,
        )
    assert list(dict.fromkeys(seen)) == ["none", "warning", "critical"]


@pytest.mark.parametrize("window", WINDOWS)
def test_nothing_is_done_before_the_highest_level(service: Service, window: int) -> None:
    session = service.start("codebuddy", window)
    levels = []
    while not session.steps:
        levels.append(session.stats["warning_level"])
        session.say(*session.using("bash", lines(window // 60)), user("Go on."), assistant(lines(window // 60)))
        assert len(levels) < 60
    assert list(dict.fromkeys(levels)) == ["none", "warning"]
    (step,) = session.steps
    assert (step["warning_level"], step["tier"], step["stages_used"]) == ("critical", 1, ["strip"])


@pytest.mark.parametrize("window", WINDOWS)
def test_tier_1_strips_long_contents_of_older_messages_without_a_model(service: Service, window: int) -> None:
    session = quiet(service, window)
    nothing = session.compact()["result"]
    assert [nothing[name] for name in FIGURES] == [0, 0, 0, 0, 0, "none"]
    session.say(*session.using("bash", "short", command="true"))
    for number in range(7):
        session.say(*session.reading(f"part_{number}.py", window // 20))
    before = session.view

    answer = session.compact(stages=["strip"], target_tokens=1_000, summarize=False)["result"]

    assert (answer["tier"], answer["compacted"], answer["stages_used"]) == (1, True, ["strip"])
    assert answer["original_count"] == answer["final_count"] == 32
    assert answer["final_tokens"] < answer["original_tokens"]
    assert answer["tokens_after"] < answer["tokens_before"]
    view = session.view
    assert view[-4:] == before[-4:]
    short, *old, newest = results_of(view)
    assert short == "short"
    assert all(len(text) < 400 for text in old)
    assert newest == results_of(before)[-1]
    assert service.prompts(session.mark) == []


@pytest.mark.parametrize("window", WINDOWS)
def test_tier_2_summarizes_older_messages_in_chunks_and_keeps_the_newest(service: Service, window: int) -> None:
    session = chatted(service, window, 17)
    before = session.view

    answer = session.compact(stages=["summarize"], summarize=True)

    session.rest()
    prompts = service.prompts(session.mark)
    assert session.stats["estimated_input_tokens"] < 0.6 * window
    assert len(prompts) >= 2
    assert max(map(estimated, prompts)) <= chunk_of(window)
    assert any("User: " in prompt and "Assistant: " in prompt for prompt in prompts)
    assert answer["result"]["tier"] == 2
    view = session.view
    assert text_of(view[0]).startswith("[Summary of")
    assert STORY in text_of(view[0])
    assert sum(text_of(message).startswith("[Summary of") for message in view) == 1
    assert view[-4:] == before[-4:]
    originals = [entry["message"] for entry in session.items("entries") if entry["kind"] == "message"]
    assert originals == before
    (made, *rest) = session.items("compactions")
    assert {compaction["tier"] for compaction in (made, *rest)} == {2}
    assert made["final_count"] < made["original_count"]
    assert {name for name in FIGURES if name in made} == {*FIGURES}


def test_chunks_are_as_large_as_the_document_or_the_program_has_them(service: Service) -> None:
    for preset, least, most in (("codebuddy", 7_904, 12_000), ("codebuddy@program", 12_000, 47_104)):
        session = service.start(preset, 128_000, auto_compact=False)
        for number in range(16):
            session.say(user(f"{session.mark} question {number}"), assistant(lines(3_000)))
        session.compact(stages=["summarize"], summarize=True)
        assert least < max(map(estimated, service.prompts(session.mark))) <= most


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("text", [CHINESE, "{" + "a = 1; " * 9 + "}\n", "Plain words, one after the other.\n"])
def test_each_prompt_is_within_a_chunk_also_beside_an_earlier_summary(service: Service, window: int, text: str) -> None:
    session = quiet(service, window)
    for again in range(2):
        for number in range(8):
            size = int(window * 0.03 / ESTIMATES["codebuddy"].text(text)) + 1
            session.say(user(f"{session.mark} {again} {number}: {STORY}"), assistant(text * size))
        answer = session.compact(stages=["summarize"], summarize=True, instructions=f"Round {again}.")
        assert answer["result"]["tier"] == 2
        session.rest()
    prompts = service.prompts(session.mark)
    assert any("<earlier-summary" in prompt for prompt in prompts)
    assert max(map(estimated, prompts)) <= chunk_of(window)


@pytest.mark.parametrize("window", WINDOWS)
def test_a_refusal_that_names_its_limit_makes_the_chunks_smaller(service: Service, window: int) -> None:
    # In a small window, the document's chunks are small enough.
    session = service.start("codebuddy@program", window, auto_compact=False, summarizer=NARROW)
    for number in range(20):
        session.say(user(f"{session.mark} question {number}"), assistant(lines(window // 40)))
    answer = session.compact(stages=["summarize"], summarize=True)
    # The service has learned from the first refusal what the model takes, and all that was due is summarized.
    assert service.narrow.refused > 0
    assert (answer["job"]["state"], answer["job"]["degraded"], answer["result"]["tier"]) == ("succeeded", False, 2)
    session.rest()
    assert text_of(session.view[0]).startswith("[Summary of")
    assert len(session.view) == 5


@pytest.mark.parametrize(("preset", "window", "most"), HALVES)
def test_tier_3_summarizes_the_oldest_half_where_the_whole_is_refused(
    service: Service, preset: str, window: int, most: int
) -> None:
    session = service.start(preset, window, auto_compact=False, summarizer=MOODY)
    for number in range(20):
        session.say(user(f"{session.mark} question {number}."), assistant(lines(min(window // 40, 2_000))))
    before = session.view

    with service.refusing_over(most):
        answer = session.compact(stages=["summarize"], summarize=True)

    assert (answer["job"]["summarizer"], answer["job"]["degraded"], answer["result"]["tier"]) == (MOODY, False, 3)
    prompts = service.prompts(session.mark, service.moody)
    refused = [prompt for prompt in prompts if count_text(prompt) > most]
    assert refused
    assert len({*prompts}) == len(prompts)
    # What was read in the end is the oldest half, and the newer one is as it was.
    asked = [question for question in range(20) if any(f"question {question}." in prompt for prompt in prompts[-1:])]
    assert asked[-1] < 10
    summary, *rest = session.view
    assert text_of(summary).startswith("[Summary of")
    assert STORY in text_of(summary)
    assert 20 <= len(rest) <= 30
    assert rest == before[-len(rest) :]
    assert [job["state"] for job in session.items("jobs")] == ["succeeded"]


def test_tier_3_comes_by_itself_too(service: Service) -> None:
    session = service.start("codebuddy", 8_000, summarizer=MOODY)
    with service.refusing_over(HALF_OF_8K):
        while not session.steps:
            session.say(user(f"{session.mark} Go on."), assistant(lines(200)))
        session.rest()
    # A job that was queued has done nothing yet.
    assert [step["tier"] for step in session.steps] == [0]
    assert [made["tier"] for made in session.items("compactions")] == [3]
    assert session.stats["warning_level"] == "none"


def ruled(service: Service, window: int, summarizer: str) -> Driven:
    """A session with a rule of the user at its beginning."""
    session = quiet(service, window, summarizer=summarizer)
    session.say(user(RULE), assistant("I will not."))
    for number in range(10):
        session.say(user(f"{session.mark} question {number}"), assistant(lines(window // 30)))
    session.say(user("Go on."), assistant("I do."), user("Good."), assistant("Yes."))
    return session


@pytest.mark.parametrize("summarizer", [MOODY, f"{MOODY},extractive", AWAY])
@pytest.mark.parametrize("window", WITHOUT_MODEL)
def test_tier_4_is_a_description_without_a_model(service: Service, window: int, summarizer: str) -> None:
    session = ruled(service, window, summarizer)
    before = session.view
    with service.refusing_over(0):
        answer = session.compact(stages=["summarize"], summarize=True)
    assert (answer["result"]["tier"], answer["job"]["summarizer"], answer["job"]["degraded"]) == (4, "extractive", True)
    # A range that is too large for one job is described by several.
    assert {job["summarizer"] for job in session.rest()} == {"extractive"}
    summary, *rest = session.view
    assert RULE in text_of(summary)
    assert f"{session.mark} question 1" in text_of(summary)
    assert rest == before[-4:]


@pytest.mark.parametrize("window", WINDOWS)
def test_what_is_put_out_of_view_without_a_model_is_tier_4_and_described(service: Service, window: int) -> None:
    session = service.start("codebuddy", window, summarizer=MOODY)
    session.say(user(RULE), assistant("I will not."))
    with service.refusing_over(0):
        for number in range(30):
            session.say(user(f"{session.mark} question {number}"), assistant(lines(window // 20)))
            assert session.stats["within_budget"]
            assert any(RULE in text for text in session.texts)
        session.rest()
    # The job does nothing, and nothing leaves the view before it has to.
    asked, *hidden = session.steps
    assert (asked["tier"], asked["stages_used"], asked["final_count"]) == (0, [], asked["original_count"])
    assert hidden
    assert {(step["tier"], *step["stages_used"]) for step in hidden} == {(4, "truncate")}
    assert {job["state"] for job in session.items("jobs")} == {"failed"}
    assert text_of(session.view[0]).startswith("[Interim summary of")


def test_answers_that_are_cut_off_twice_are_replaced_by_the_description(service: Service) -> None:
    service.moody.script(TRUNCATED, TRUNCATED)
    session = chatted(service, 32_000, 8, summarizer=MOODY)
    answer = session.compact(stages=["summarize"], summarize=True)
    assert (answer["job"]["degraded"], answer["result"]["tier"]) == (True, 4)


@pytest.mark.parametrize(("window", "summarizer"), [*WORKING, *FAILING])
def test_a_session_is_compacted_before_each_call_and_its_latest_messages_stay_in_view(
    service: Service, window: int, summarizer: str
) -> None:
    session = service.start("codebuddy", window, summarizer=summarizer)
    for number in range(32):
        asked = user(f"{session.mark} question {number}")
        session.say(asked)
        view = session.view
        assert view[-1] == asked
        if number:
            assert text_of(view[-2]) == f"{lines(window // 20)}{number - 1}"
        session.say(assistant(f"{lines(window // 20)}{number}"))
    assert session.steps
    session.rest()
    # Nothing is there to be stripped; what a job has not replaced in time is put out of view.
    tiers = {made["tier"] for made in session.items("compactions")}
    assert {step["tier"] for step in session.steps} <= {0, 4}
    assert tiers == {4} if summarizer == AWAY else {2} <= tiers <= {2, 4}
    stats = session.stats
    assert stats["within_budget"]
    assert stats["counted_tokens"] <= stats["trigger_tokens"] or summarizer == AWAY
    assert stats["breakdown"]["system"] > 0


def test_the_tiers_run_in_order_and_stop_at_the_target(service: Service) -> None:
    session = service.start("codebuddy", 32_000)
    session.work(40)
    order = ("strip", "summarize", "truncate")
    assert session.steps
    for step in session.steps:
        places = [order.index(name) for name in step["stages_used"]]
        assert places == sorted(places)
        # Stripping is enough as long as there is something to strip.
        assert step["stages_used"][:1] in (["strip"], ["truncate"], [])
        assert step["stages_used"] != ["strip"] or step["tier"] == 1


@pytest.mark.parametrize(
    ("given", "window"), [("4k", 4_000), ("8k", 8_000), ("16k", 16_000), ("32k", 32_000), ("128k", 128_000)]
)
def test_a_window_is_given_as_people_write_it_and_wins_over_every_table(
    service: Service, given: str, window: int
) -> None:
    path = service.post("/sessions", {
        "model": "openai/gpt-4o", "context_window": given, "policy": {"preset": "codebuddy"}
    }, 201)  # fmt: skip
    assert path["context_window"] == window


def test_built_in_windows_are_listed_and_used(service: Service) -> None:
    rows = {row["model"]: row for row in service.get("/models?preset=codebuddy")["items"]}
    listed = [name for name, row in rows.items() if row["listed_window"]]
    assert len(listed) > 10
    assert all(row["trigger_tokens"] < row["context_window"] for row in rows.values())
    session = service.start("codebuddy", model="qwen/qwen-plus")
    assert session.get()["context_window"] == 131_072
    assert "qwen-plus" in foldline("models", "--preset", "codebuddy").stdout
    assert service.problem("POST", "/sessions", {"model": "nobody/nothing", "policy": {"preset": "codebuddy"}})


def test_tokens_are_counted_by_what_a_text_consists_of(service: Service) -> None:
    prose, foreign, code = "plain words in a row " * 30, "解析器改名为读取器" * 20, "{" + "a = 1; " * 50 + "}"
    for text, density in ((prose, 3.5), (foreign, 1.5), (code, 2.5)):
        session = quiet(service, 32_000)
        session.say(user(text))
        assert session.stats["counted_tokens"] == ceil(len(text) / density * 1.1)


def test_results_without_a_call_are_quoted_and_not_dropped(service: Service) -> None:
    session = quiet(service, 8_000)
    session.say(user("Look."), result("nobody", "found it"), assistant("Good."))
    assert any("found it" in text for text in session.texts)
    assert all(message["role"] != "tool" for message in session.view)


def test_what_saves_too_little_is_left_and_after_failures_the_pause_grows(service: Service) -> None:
    session = service.start("codebuddy", 8_000, policy={"minimum_saving": 0.9, "stages": ["strip"]})
    session.work(8)
    assert {answer["not_compacted"]["reason"] for answer in session.work(6) if answer["not_compacted"]} <= {
        "too_little",
        "recent",
    }

    alone = {"stages": [{"name": "summarize", "falls_back": False}]}
    refused = chatted(service, 8_000, 8, summarizer=MOODY, policy=alone)
    pauses = []
    for _ in range(2):
        with service.refusing():
            job = refused.compact(stages=["summarize"], summarize=True, ended="failed")["job"]
        service.call("PATCH", refused.path, {"auto_compact": True, "policy": {
            "preset": "codebuddy", "summarizer": MOODY, "trigger": 0.05, "target": 0.04, **alone
        }})  # fmt: skip
        held = refused.say(user("Go on."), assistant("I do."))["not_compacted"]
        assert held["reason"] == "held_back"
        pauses.append(_seconds(job["ended_at"], held["until"]))
    assert pauses[1] > pauses[0] * 1.5


def _seconds(start: str, end: str) -> float:
    return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()
