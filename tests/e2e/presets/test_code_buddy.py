"""Code Buddy's tiers, levels, windows and results, in sessions of its users."""

from __future__ import annotations

from datetime import datetime
from math import ceil
from typing import Any, Final

import pytest

from tests.e2e.presets.driven import (
    AWAY,
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

FIGURES: Final = ("original_count", "final_count", "original_tokens", "final_tokens", "tier", "warning_level")


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
    seen, due = [], []
    for _ in range(40):
        session.say(user("Go on."), assistant(lines(window // 40)))
        stats = session.stats
        share = (stats["counted_tokens"] + stats["breakdown"]["system"]) / window
        seen.append(stats["warning_level"])
        due.append(stats["should_compact"])
        assert (stats["warning_level"] == "none") == (share < 0.8 - 0.002) or 0.79 < share < 0.81
        assert stats["should_compact"] == (stats["usage_ratio"] > stats["trigger_ratio"])
    assert list(dict.fromkeys(seen)) == ["none", "warning", "critical"]
    assert due == sorted(due)
    assert {*due} == {False, True}
    rows = {"trigger": 0.9 * window, "target": 0.5 * window}
    assert session.stats["trigger_tokens"] <= rows["trigger"]
    assert session.stats["target_tokens"] <= rows["target"]


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
    due = session.stats["estimated_input_tokens"]
    assert due < 0.6 * window
    # A chunk takes at most 40 % of the window, and 12,000 tokens.
    assert len(prompts) >= 2
    assert any("User: " in prompt and "Assistant: " in prompt for prompt in prompts)
    # A range that takes more calls than a job may make is summarized in parts.
    assert answer["result"]["tier"] == 2 or window > 128_000
    view = session.view
    assert text_of(view[0]).startswith("[Summary of")
    assert STORY in text_of(view[0])
    assert sum(text_of(message).startswith("[Summary of") for message in view) == 1
    assert view[-4:] == before[-4:]
    originals = [entry["message"] for entry in session.items("entries") if entry["kind"] == "message"]
    assert originals == before
    (made, *_) = session.items("compactions")
    assert made["final_count"] < made["original_count"]
    assert {name for name in FIGURES if name in made} == {*FIGURES}


def test_chunks_are_as_large_as_the_document_or_the_program_has_them(service: Service) -> None:
    prompts = {}
    for preset in ("codebuddy", "codebuddy@program"):
        session = service.start(preset, 128_000, auto_compact=False)
        for number in range(16):
            session.say(user(f"{session.mark} question {number}"), assistant(lines(3_000)))
        session.compact(stages=["summarize"], summarize=True)
        prompts[preset] = len(service.prompts(session.mark))
    # At most 12,000 tokens, or 47,104 in this window.
    assert prompts["codebuddy"] >= 4 > prompts["codebuddy@program"] >= 1


@pytest.mark.parametrize("window", WINDOWS)
def test_tier_3_summarizes_a_part_where_the_whole_is_refused(service: Service, window: int) -> None:
    session = chatted(service, window, 20, summarizer=NARROW)
    answer = session.compact(stages=["summarize"], summarize=True)
    assert answer["job"]["state"] == "succeeded"
    # The service has learned from the first refusal what the model takes.
    assert service.narrow.refused > 0
    assert answer["result"]["tier"] in {2, 3}
    first, *rest = session.view
    assert text_of(first).startswith("[Summary of")
    assert len(rest) >= 4


@pytest.mark.parametrize("window", WITHOUT_MODEL)
def test_tier_4_is_a_description_without_a_model(service: Service, window: int) -> None:
    session = quiet(service, window, summarizer=f"{AWAY},extractive")
    session.say(user("Never touch the vendor folder."), assistant("I will not."))
    for number in range(10):
        session.say(user(f"{session.mark} question {number}"), assistant(lines(window // 30)))
    session.say(user("Go on."), assistant("I do."), user("Good."), assistant("Yes."))
    answer = session.compact(stages=["summarize"], summarize=True)
    assert (answer["result"]["tier"], answer["job"]["summarizer"]) == (4, "extractive")
    assert "Never touch the vendor folder." in text_of(session.view[0])
    assert f"{session.mark} question 1" in text_of(session.view[0])


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
    assert {step["tier"] for step in session.steps} <= {1, 2, 3, 4}
    session.rest()
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
        assert step["stages_used"] != ["strip"] or step["tier"] in {1, 2}


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

    refused = chatted(service, 8_000, 8, summarizer=MOODY)
    pauses = []
    for _ in range(2):
        with service.refusing():
            job = refused.compact(stages=["summarize"], summarize=True, ended="failed")["job"]
        service.call("PATCH", refused.path, {"auto_compact": True, "policy": {
            "preset": "codebuddy", "summarizer": MOODY, "trigger": 0.05, "target": 0.04, "stages": ["summarize"]
        }})  # fmt: skip
        held = refused.say(user("Go on."), assistant("I do."))["not_compacted"]
        assert held["reason"] == "held_back"
        pauses.append(_seconds(job["ended_at"], held["until"]))
    assert pauses[1] > pauses[0] * 1.5


def _seconds(start: str, end: str) -> float:
    return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()
