"""NeuroLink's four stages in sessions of its users: what each changes, in which order, and where it stops."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tests.e2e.presets.driven import (
    AWAY,
    CHINESE,
    FAILING,
    MOODY,
    STORY,
    WINDOWS,
    WORKS,
    Driven,
    Service,
    is_cleared,
    lines,
    results_of,
    text_of,
)
from tests.support.processes.api import assistant, calling, result, user

STAGES: Final = ("prune", "deduplicate", "summarize", "truncate")


SECTIONS: Final = [
    "## Primary Request and Intent",
    "## Key Technical Concepts",
    "## Files and Code Sections",
    "## Problem Solving",
    "## Pending Tasks",
    "## Task Evolution",
    "## Current Work",
    "## Next Step",
    "## Required Files",
]
# Outputs of any size, so that a large window is filled by few.
UNLIMITED: Final[dict[str, Any]] = {"output_bytes": 0, "output_lines": 0}


def scaled(window: int) -> dict[str, Any]:
    """The stages of the preset, with pruning for the size of the window."""
    prune = {
        "name": "prune",
        "excerpt_over_chars": 0,
        "protect_tokens": min(40_000, window // 10),
        "minimum_saving_tokens": min(20_000, window // 20),
    }
    return {"stages": [prune, *STAGES[1:]], **UNLIMITED}


def quiet(service: Service, window: int, **fields: Any) -> Driven:
    """A session that compacts only on request."""
    return service.start("neurolink", window, policy=scaled(window), auto_compact=False, **fields)


@pytest.mark.parametrize("window", WINDOWS)
def test_pruning_clears_old_outputs_and_protects_the_newest_and_those_of_skills(service: Service, window: int) -> None:
    session = quiet(service, window)
    size = window // 25
    session.say(*session.using("skill", lines(size), name="deploy"))
    for number in range(8):
        session.say(*session.reading(f"part_{number}.py", size))
    before = session.stats["counted_tokens"]

    answer = session.compact(stages=["prune"], summarize=False)["result"]

    assert (answer["compacted"], answer["stages_used"]) == (True, ["prune"])
    assert answer["tokens_saved"] == answer["tokens_before"] - answer["tokens_after"] > 0
    skill, *others = results_of(session.view)
    assert skill == lines(size)
    # The newest are protected, with the one that crosses the line; they come last.
    states = list(map(is_cleared, others))
    assert states == sorted(states, reverse=True)
    kept = states.count(False)
    assert 1 <= kept <= 5
    assert others[-1].startswith("version 1\n0: the quick")
    saved = before - session.stats["counted_tokens"]
    assert saved >= min(20_000, window // 20)
    assert len(session.view) == 9 * 4


@pytest.mark.parametrize("window", WINDOWS)
def test_pruning_that_saves_less_than_its_minimum_changes_nothing(service: Service, window: int) -> None:
    session = quiet(service, window)
    for number in range(6):
        session.say(*session.reading(f"part_{number}.py", window // 40))
    before = session.view

    answer = session.compact(stages=["prune"], summarize=False, policy={"stages": [
        {"name": "prune", "protect_tokens": 0, "minimum_saving_tokens": window, "excerpt_over_chars": 0}
    ]})["result"]  # fmt: skip

    assert (answer["compacted"], answer["stages_used"], answer["tokens_saved"]) == (False, [], 0)
    assert session.view == before


@pytest.mark.parametrize("window", WINDOWS)
def test_of_many_reads_of_a_file_the_latest_stays(service: Service, window: int) -> None:
    session = quiet(service, window)
    session.work(8, 0.04, names=("src/a.py", "src/b.py"))

    answer = session.compact(stages=["deduplicate"], target_tokens=window // 8, summarize=False)["result"]

    assert (answer["stages_used"], answer["files_deduped"], answer["messages_removed"]) == (["deduplicate"], 2, 0)
    states = list(map(is_cleared, results_of(session.view)))
    assert states == [True] * 6 + [False] * 2
    again = session.compact(stages=["deduplicate"], target_tokens=window // 8, summarize=False)["result"]
    assert (again["compacted"], again["stages_used"]) == (False, [])
    # A pointer stays as it is when the file is read once more: providers cache what is before.
    texts = session.texts
    session.say(*session.reading("src/a.py", window // 25, 9))
    assert session.texts[: len(texts)] == texts


def test_reads_are_known_by_their_words_too_under_this_preset(service: Service) -> None:
    session = quiet(service, 32_000)
    for number in range(4):
        session.say(*session.using("shell", f"Reading src/main.py\n{number}\n{lines(900)}", command="show main"))

    answer = session.compact(stages=["deduplicate"], target_tokens=2_000, summarize=False)["result"]

    assert (answer["stages_used"], answer["files_deduped"]) == (["deduplicate"], 1)
    assert list(map(is_cleared, results_of(session.view))) == [True] * 3 + [False]


@pytest.mark.parametrize("window", WINDOWS)
def test_older_messages_become_one_summary_which_the_next_takes_up(service: Service, window: int) -> None:
    session = quiet(service, window)
    session.work(9, 0.05)
    whole = session.view
    cut = session.compact(stages=["summarize"], target_tokens=window // 3, dry_run=True)["summary"]
    assert (cut["first_entry_id"], cut["replaces"]) == ("e0-1", [])

    answer = session.compact(stages=["summarize"], target_tokens=window // 3, instructions="Keep the dates.")

    assert "summarize" in answer["result"]["stages_used"]
    assert answer["job"]["summarizer"] == WORKS
    first, *rest = session.view
    assert (first["role"], text_of(first).startswith("[Summary of")) == ("user", True)
    assert STORY in text_of(first)
    # At least four messages stay, word for word.
    assert 4 <= len(rest) < len(whole)
    assert rest == whole[-len(rest) :]
    (request,) = (request for request in service.works.requests if session.mark in request.prompt)
    prompt = request.prompt
    assert request.body["model"] == "scripted/works"
    assert [line.partition(":")[0] for line in prompt.split("\n") if line.startswith("## ")][:9] == SECTIONS
    assert "Keep the dates." in prompt
    entries = {entry["id"]: entry for entry in session.items("entries")}
    made = next(entry for entry in entries.values() if entry["kind"] == "compaction")
    assert made["tags"]["is_summary"] is True
    assert answer["job"]["compaction_id"] == made["id"]
    assert entries["e0-1"]["tags"]["condense_parent"] == made["tags"]["condense_id"]

    session.work(6, 0.05)
    session.compact(stages=["summarize"], target_tokens=window // 4)
    *_, newest = service.prompts(session.mark)
    assert "<earlier-summary" in newest
    assert STORY in newest
    assert sum(text.startswith("[Summary of") for text in session.texts) == 1


@pytest.mark.parametrize("stages", [["summarize"], ["truncate"]])
def test_nothing_is_taken_from_four_messages(service: Service, stages: list[str]) -> None:
    session = quiet(service, 32_000)
    session.say(*session.reading("src/a.py", 2_000))
    before = session.view

    answer = session.compact(stages=stages)

    assert (answer["job"], answer["result"]["compacted"]) == (None, False)
    assert session.view == before


@pytest.mark.parametrize("window", WINDOWS)
def test_the_sliding_window_keeps_the_first_pair_and_removes_half_of_the_rest(service: Service, window: int) -> None:
    session = quiet(service, window)
    for number in range(12):
        session.say(user(f"{session.mark} {number} {CHINESE}"), assistant(lines(window // 40)))
    before = session.view

    used = session.stats["estimated_input_tokens"]
    response = session.compact(stages=["truncate"], summarize=False, target_tokens=int(0.9 * used), ended=None)

    removed = response["result"]["messages_removed"]
    assert response["result"]["stages_used"][0] == "truncate"
    assert removed % 2 == 0
    assert 8 <= removed <= 14
    session.rest()
    view = session.view
    assert view[:2] == before[:2]
    assert view[-4:] == before[-4:]
    # The removed messages are stored, tagged, and in a summary by now.
    tagged = [
        entry for entry in session.items("entries") if entry["tags"].keys() & {"truncation_parent", "condense_parent"}
    ]
    assert len(tagged) == removed
    assert session.stats["pending_tokens"] == 0


@pytest.mark.parametrize("window", WINDOWS)
def test_a_session_without_further_settings_is_compacted_at_80_percent_and_the_stages_run_in_order(
    service: Service, window: int
) -> None:
    session = service.start("neurolink", window, policy=scaled(window))
    answers = session.work(30)

    stats = session.stats
    assert stats["trigger_tokens"] == pytest.approx(0.8 * (window - min(64_000, 0.35 * window)), rel=0.05)
    assert len(session.steps) >= 2
    for answer, step in ((answer, answer["compaction"]) for answer in answers if answer["compaction"]):
        order = [STAGES.index(name) for name in step["stages_used"]]
        assert order == sorted(order)
        assert step["tokens_after"] <= step["tokens_before"]
        assert answer["budget"]["fits"]
        assert step["stages_used"] or step["job_id"]
    session.rest()
    assert session.stats["counted_tokens"] <= stats["trigger_tokens"]
    assert {job["state"] for job in session.items("jobs")} <= {"succeeded", "superseded"}


@pytest.mark.parametrize("left_out", STAGES)
def test_a_stage_that_is_left_out_does_not_run(service: Service, left_out: str) -> None:
    stages = [
        stage
        for stage in scaled(8_000)["stages"]
        if left_out not in (stage, stage["name"] if isinstance(stage, dict) else "")
    ]
    session = service.start("neurolink", 8_000, policy={"stages": stages, "trigger": 0.6})
    session.work(24, names=("src/a.py", "src/b.py", "src/c.py"))
    session.rest()

    used = {name for made in session.items("compactions") for name in made["stages_used"]}

    # What would not fit is truncated all the same, and what was truncated is summarized.
    assert left_out not in used - {"truncate", "summarize"}
    if left_out == "summarize":
        assert all("summarize" not in step["stages_used"] for step in session.steps)


@pytest.mark.parametrize("window", WINDOWS)
def test_a_view_fits_though_truncating_is_no_stage(service: Service, window: int) -> None:
    session = service.start("neurolink", window, policy={"stages": ["prune"]})
    for number in range(30):
        answer = session.say(user(f"{session.mark} {number} {CHINESE}"), assistant(lines(window // 20)))
        assert answer["budget"]["fits"]
    assert any("truncate" in step["stages_used"] for step in session.steps)


@pytest.mark.parametrize("window", WINDOWS)
def test_compaction_that_is_off_happens_on_request_only_and_an_earlier_trigger_at_once(
    service: Service, window: int
) -> None:
    session = quiet(service, window)
    session.work(9)
    answer = session.say(user("And now?"))
    assert answer["compaction"] is None
    assert session.items("compactions") == []

    changed = session.service.call("PATCH", session.path, {"auto_compact": True, "policy": {
        "preset": "neurolink", **scaled(window), "trigger": 0.2, "target": 0.1
    }})  # fmt: skip
    assert changed["compaction"] is not None
    session.rest()
    assert session.stats["counted_tokens"] < window // 5


def test_a_buffer_leaves_so_many_tokens_free(service: Service) -> None:
    plain, buffered = (
        service.start("neurolink", 32_000, policy={"trigger": 0.96, "buffer_tokens": buffer}) for buffer in (0, 8_000)
    )
    for session in (plain, buffered):
        session.say(user("Go."))
    assert 20_800 - buffered.stats["trigger_tokens"] == pytest.approx(8_000, rel=0.1)
    assert plain.stats["trigger_tokens"] > buffered.stats["trigger_tokens"]
    assert plain.stats["target_tokens"] > buffered.stats["target_tokens"]


@pytest.mark.parametrize("window", WINDOWS)
def test_messages_are_compacted_without_a_session(service: Service, window: int) -> None:
    whole = quiet(service, window)
    whole.work(14, 0.06, names=("src/a.py", "src/b.py"), must_fit=False)
    messages = whole.get("/context?format=openai&fit=none")["messages"]
    body = {"messages": messages, "context_window": window, "policy": {"preset": "neurolink", **scaled(window)}}

    answer = service.post("/compact", body)

    assert answer["budget"]["fits"]
    order = [STAGES.index(name) for name in answer["stages_used"]]
    assert order == sorted(order)
    assert answer["tokens_saved"] == answer["tokens_before"] - answer["tokens_after"] > 0
    assert answer["messages"][0] == messages[0]
    assert answer["messages"][-1] == messages[-1]
    for stages in (["prune"], ["deduplicate"], ["prune", "deduplicate"], ["truncate"]):
        alone = service.post("/compact", {**body, "stages": stages, "target_tokens": window // 10})
        assert set(alone["stages_used"]) <= {*stages, "truncate"}
        assert alone["stages_used"]
    assert (
        "summarize"
        in service.post("/compact", {**body, "summarize": True, "target_tokens": window // 5})["stages_used"]
    )


def test_calls_and_results_without_each_other_are_repaired_in_every_view(service: Service) -> None:
    said = [
        user("Look."),
        calling("c1", "c2"),
        result("c1"),
        user("Never mind."),
        result("c2", "late"),
        assistant("Yes."),
    ]
    session = quiet(service, 8_000)
    session.say(*said)
    view = session.view
    assert [message["role"] for message in view] == ["user", "assistant", "tool", "tool", "user", "user", "assistant"]
    assert "recorded" in text_of(view[3])
    assert "late" in text_of(view[5])
    # Stubs and quotes are of the view alone.
    assert len(session.items("entries")) == len(said)

    stateless = service.post("/compact", {"messages": said, "context_window": 8_000, "policy": {"preset": "neurolink"}})
    assert (stateless["orphaned_calls_fixed"], stateless["orphaned_results_fixed"]) == (1, 1)
    assert [message["role"] for message in stateless["messages"]] == [message["role"] for message in view]


@pytest.mark.parametrize("window", WINDOWS)
def test_a_turn_that_is_too_long_is_cut_inside_and_a_request_that_is_is_refused_with_its_numbers(
    service: Service, window: int
) -> None:
    session = service.start("neurolink", window, policy=scaled(window))
    session.work(3)
    answer = session.say(*session.using("bash", lines(int(window * 1.5)), command="make"))
    assert answer["budget"]["fits"]
    (output,) = [text for text in results_of(session.view) if text.endswith(lines(int(window * 1.5))[-40:])][-1:] or [
        ""
    ]
    assert len(output) < len(lines(window))

    session.say(user(lines(int(window * 1.2))))
    refused = service.problem("GET", f"{session.path}/context")
    assert refused["name"] == "view-does-not-fit"
    assert refused["used_tokens"] > refused["limit_tokens"]
    assert refused["entries"][0]["tokens"] > refused["limit_tokens"]


@pytest.mark.parametrize("window", WINDOWS)
def test_a_very_long_output_is_cut_to_an_excerpt_also_the_newest_and_its_entry_has_all(
    service: Service, window: int
) -> None:
    size = window // 10
    prune = {"name": "prune", "excerpt_over_chars": len(lines(size)) // 2, "protect_tokens": window}
    session = service.start("neurolink", window, policy={"stages": [prune]}, auto_compact=False)
    session.say(*session.reading("src/small.py", size // 10))
    session.say(*session.using("bash", lines(size), command="make"))

    answer = session.compact(summarize=False, target_tokens=window // 20)

    assert answer["result"]["stages_used"][0] == "prune"
    small, large = results_of(session.view)
    assert small.endswith(lines(size // 10))
    assert len(large) < len(lines(size))
    assert large.startswith("0: the quick")
    assert large.rstrip().endswith(lines(size).rstrip()[-40:])
    assert lines(size) in [entry["message"].get("content") for entry in session.items("entries") if "message" in entry]


@pytest.mark.parametrize("window", WINDOWS)
def test_a_summary_that_fails_is_passed_over_and_its_refused_call_not_repeated(service: Service, window: int) -> None:
    session = service.start("neurolink", window, policy={"stages": [*STAGES[1:]], **UNLIMITED}, summarizer=MOODY)
    with service.refusing():
        session.work(24)
        jobs = session.rest()
    assert {job["state"] for job in jobs} == {"failed"}
    assert all("401" in job["error"] for job in jobs)
    assert len(service.prompts(session.mark, service.moody)) == len(jobs) > 0
    assert any("truncate" in step["stages_used"] for step in session.steps)
    assert session.stats["pending_tokens"] > 0


@pytest.mark.parametrize("window", WINDOWS)
def test_an_output_over_the_limits_is_an_excerpt_from_the_first_view_on(service: Service, window: int) -> None:
    size = window // 20
    whole = lines(size)
    limits: tuple[dict[str, Any], ...] = ({"output_bytes": len(whole) // 3}, {"output_lines": whole.count("\n") // 3})
    for limit in limits:
        session = service.start("neurolink", window, policy=limit)
        session.say(*session.using("bash", lines(size // 4), command="true"))
        answer = session.say(*session.using("bash", whole, command="make"))
        short, shown = results_of(session.view)
        assert short == lines(size // 4)
        assert 0 < len(shown) < len(whole) // 2
        assert shown.startswith("0: the quick")
        assert answer["compaction"] is not None
        stored = [entry["message"]["content"] for entry in session.items("entries") if "message" in entry]
        assert whole in stored


def test_the_limits_of_the_document_are_those_of_the_preset(service: Service) -> None:
    policy = service.start("neurolink", 128_000).get()["policy"]
    assert (policy["output_bytes"], policy["output_lines"]) == (51_200, 2_000)


@pytest.mark.parametrize(("window", "summarizer"), FAILING)
def test_a_session_of_neurolinks_goes_on_whatever_its_model_does(
    service: Service, window: int, summarizer: str
) -> None:
    session = service.start("neurolink", window, policy=UNLIMITED, summarizer=summarizer)
    session.work(30)
    assert session.steps
    states = {job["state"] for job in session.rest()}
    assert states <= ({"failed"} if summarizer == AWAY else {"succeeded", "failed", "superseded"})
    assert session.view[-1]["role"] == "assistant"
