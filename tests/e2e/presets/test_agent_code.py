"""agent-code's microcompact, summary and context collapse, its threshold and its counts, in sessions of its users."""

from __future__ import annotations

import json
from math import floor
from typing import Any, Final

import pytest

from foldline.engine.formats import rules
from tests.e2e.presets.driven import (
    FAILING,
    MOODY,
    STORY,
    WINDOWS,
    Driven,
    Service,
    goes_on,
    is_cleared,
    lines,
    results_of,
    text_of,
)
from tests.support.pictures import picture
from tests.support.processes.api import assistant, calling, result, user
from tests.support.processes.scripted_llm import TRUNCATED

SECRET: Final = "sk-proj-Ab3dEf6hIj9lMn2pQr5tUv8xYz1aBc4dEf7gHi0j"
HEADINGS: Final = ("Decisions", "Files", "Progress", "Next steps")


# Of a small window, less is kept than the preset's 10,000 tokens.
FEW_KEPT: Final = {"name": "summarize", "keep_texts": 2, "keep_tokens": 500, "keep_tokens_most": 1_000}


def image(number: int) -> dict[str, Any]:
    """A user message with a number and a picture."""
    url = f"data:image/gif;base64,{picture(300, 3_000, number)}"
    return {
        "role": "user",
        "content": [{"type": "text", "text": f"{number}"}, {"type": "image_url", "image_url": {"url": url}}],
    }


def quiet(service: Service, window: int, **fields: Any) -> Driven:
    return service.start("agent-code", window, auto_compact=False, **fields)


def test_the_threshold_in_a_window_of_200000_is_167000(service: Service) -> None:
    (row,) = {
        row["trigger_tokens"]
        for row in service.get("/models?preset=agent-code")["items"]
        if row["context_window"] == 200_000
    }
    assert row == 167_000
    session = quiet(service, 200_000)
    session.say(user("Go."))
    assert session.stats["trigger_tokens"] == pytest.approx(167_000, abs=50)
    assert session.stats["available_input_tokens"] == pytest.approx(180_000, abs=0.02 * 200_000)
    # A size in a model's name counts as a word only.
    rows = {row["model"]: row["context_window"] for row in service.get("/models?preset=agent-code")["items"]}
    assert rows["1m"] == 1_000_000
    assert service.start("agent-code", model="nobody/some-haiku-5").get()["context_window"] == 200_000
    assert service.start("agent-code", model="nobody/thing-1m").get()["context_window"] == 1_000_000


@pytest.mark.parametrize("window", WINDOWS)
def test_a_session_compacts_above_the_threshold_and_not_on_each_turn(service: Service, window: int) -> None:
    session = service.start("agent-code", window, policy={"buffer_tokens": min(13_000, window // 8)})
    room = window - min(20_000, window // 2)
    trigger = max(room - min(13_000, window // 8), room // 2)
    compacted = []
    for number in range(36):
        session.say(*session.reading(f"src/part_{number}.py", window // 36))
        stats = session.stats
        assert stats["trigger_tokens"] == pytest.approx(trigger, rel=0.05)
        assert stats["target_tokens"] < stats["trigger_tokens"]
        assert not stats["should_compact"] or stats["counted_tokens"] > stats["trigger_tokens"]
        compacted.append(len(session.steps))
    assert 1 <= len(session.steps) <= 24
    for step in session.steps:
        assert set(step["stages_used"]) <= {"microcompact", "collapse", "truncate"}
    session.rest()


@pytest.mark.parametrize("window", WINDOWS)
def test_microcompact_clears_old_results_and_leaves_the_last_turns(service: Service, window: int) -> None:
    session = quiet(service, window)
    for number in range(6):
        session.say(*session.reading(f"src/part_{number}.py", window // 20))
    before = session.view

    answer = session.compact(stages=["microcompact"], summarize=False)

    assert (answer["job"], answer["result"]["stages_used"]) == (None, ["microcompact"])
    view = session.view
    assert list(map(is_cleared, results_of(view))) == [True] * 4 + [False] * 2
    assert view[-8:] == before[-8:]
    # Call and result stay paired.
    pairs = [(message.get("tool_call_id"), message["role"]) for message in view if message["role"] == "tool"]
    assert [name for name, _ in pairs] == [
        message["tool_calls"][0]["id"] for message in view if message.get("tool_calls")
    ]
    assert service.prompts(session.mark) == []

    one = service.start(
        "agent-code", window, auto_compact=False, policy={"stages": [{"name": "microcompact", "keep_turns": 1}]}
    )
    for number in range(6):
        one.say(*one.reading(f"src/part_{number}.py", window // 20))
    one.compact(summarize=False)
    assert list(map(is_cleared, results_of(one.view))) == [True] * 5 + [False]


@pytest.mark.parametrize("window", WINDOWS)
def test_a_summary_is_one_message_made_of_texts_calls_and_results(service: Service, window: int) -> None:
    session = quiet(service, window)
    for number in range(12):
        session.say(*session.reading(f"src/part_{number}.py", window // 40))
    # Of a small window, less is kept than the preset's 10,000 tokens.
    stages = [{"name": "summarize", "keep_tokens": window // 20, "keep_tokens_most": window // 10}]
    answer = session.compact(summarize=True, policy={"preset": "agent-code", "stages": stages})

    prompts = service.prompts(session.mark)
    assert len(prompts) == 1 or window > 100_000
    for said in ("Read src/part_0.py.", "src/part_0.py", "0: the quick brown fox", *HEADINGS):
        assert said in prompts[0]
    assert "Write the summary now" in prompts[0]
    first, *rest = session.view
    assert first["role"] == "user"
    assert text_of(first).startswith("[Summary of")
    assert STORY in text_of(first)
    assert len(rest) >= 5
    assert answer["result"]["stages_used"][-1] == "summarize"
    assert session.items("compactions")[-1]["live"] is True


def test_a_summary_without_a_model_has_decisions_files_progress_and_next_steps(service: Service) -> None:
    session = quiet(service, 16_000, summarizer="extractive")
    session.say(*session.reading("src/parser.py", 700))
    session.say(user("Rename the parser."), assistant("I decided to rename the parser to reader, because it reads."))
    session.say(*session.using("bash", "ERROR: 3 tests failed in test_reader.py\nexit code 1", command="make test"))
    session.say(*session.using("edit_file", "done", path="src/reader.py"))
    for number in range(6):
        session.say(user(f"Then step {number}."), assistant(lines(200) + "Next I will write the docs."))
    stages = [{"name": "summarize", "keep_tokens": 500, "keep_tokens_most": 800, "keep_texts": 2}]
    session.compact(summarize=True, policy={"preset": "agent-code", "summarizer": "extractive", "stages": stages})
    text = session.summary()
    assert "## Decisions\n" in text
    assert "## Files\n" in text
    assert "src/parser.py" in text
    assert "## Progress\n" in text
    assert "make test" in text
    assert "failed" in text


def test_a_refused_answer_is_requested_once_more(service: Service) -> None:
    service.moody.script(TRUNCATED)
    session = quiet(service, 32_000, summarizer=MOODY)
    for number in range(8):
        session.say(*session.reading(f"src/part_{number}.py", 1_000))
    stages = [{"name": "summarize", "keep_tokens": 1_000, "keep_tokens_most": 2_000}]
    policy = {"preset": "agent-code", "summarizer": MOODY, "stages": stages}
    before = len(service.moody.requests)
    job = session.compact(summarize=True, policy=policy)["job"]
    assert (job["degraded"], job["summarizer"]) == (False, MOODY)
    assert len(service.moody.requests) - before == 2


@pytest.mark.parametrize("window", WINDOWS)
def test_collapse_hides_the_middle_and_keeps_the_first_and_last_group(service: Service, window: int) -> None:
    session = service.start("agent-code", window, policy={"stages": ["collapse"]}, summarizer=MOODY)
    before = []
    # What is hidden is not summarized.
    with service.refusing():
        for number in range(20):
            turn = [user(f"{session.mark} question {number}"), assistant(lines(window // 12))]
            before += turn
            assert session.say(*turn)["budget"]["fits"]
            if session.steps:
                break
        session.rest()
    assert "collapse" in session.steps[0]["stages_used"]
    view = session.view
    assert view[:2] == before[:2]
    assert view[-2:] == before[-2:]
    assert len(view) < len(before)
    originals = [entry["message"] for entry in session.items("entries") if entry["kind"] == "message"]
    assert originals == before
    first = session.items("compactions")[0]["id"]
    session.post(f"/compactions/{first}/undo", {})
    assert session.get("/context?format=openai&fit=none")["messages"][1:] == before
    session.post("/redo", {})
    assert session.view == view


@pytest.mark.parametrize("window", WINDOWS)
def test_a_last_turn_that_is_too_long_is_cut_inside(service: Service, window: int) -> None:
    session = service.start("agent-code", window)
    session.say(user(f"{session.mark} Look everywhere."))
    for number in range(12):
        name = f"c{number}"
        session.say(calling(name))
        answer = session.say(result(name, lines(window // 10)))
        assert answer["budget"]["fits"]
        view = session.view
        assert view[0] == user(f"{session.mark} Look everywhere.")
        assert results_of(view)[-1].endswith(lines(window // 10)[-20:])
    assert session.steps


@pytest.mark.parametrize(("window", "summarizer"), FAILING)
def test_a_session_goes_on_whatever_its_model_does(service: Service, window: int, summarizer: str) -> None:
    session = service.start("agent-code", window, summarizer=summarizer)
    # Texts are not cleared, so only a summary helps.
    for number in range(20):
        session.say(user(f"{session.mark} {number}?"), assistant(lines(window // 25)))
    goes_on(session, 30, summarizer)


@pytest.mark.parametrize("window", WINDOWS)
def test_an_overflow_is_reported_by_its_wording_and_compacts_further(service: Service, window: int) -> None:
    session = service.start("agent-code", window, auto_compact=False)
    session.work(8, 0.03)
    before = session.get("/context")
    used = before["budget"]["used"]
    message = f"prompt is too long: {used + 500} tokens > {used} maximum"
    error = {"type": "error", "error": {"type": "invalid_request_error", "message": message}}

    answer = session.post("/overflow", {"error": error, "version": before["version"]})

    assert (answer["verdict"]["actual_tokens"], answer["verdict"]["limit_tokens"]) == (used + 500, used)
    assert "microcompact" in answer["result"]["stages_used"]
    assert session.get("/context")["budget"]["used"] <= 0.7 * used
    for text in ("413: prompt_too_long", "Request too large: prompt is too long"):
        assert session.post("/overflow", {"error": text, "version": before["version"]})["verdict"]["is_overflow"]
    session.rest()


def test_tokens_are_counted_by_bytes_with_the_json_of_calls(service: Service) -> None:
    def of(text: str) -> int:
        return floor(len(text.encode()) / 4 + 0.5)

    session = quiet(service, 32_000)
    arguments = {"path": "src/解析器.py", "from": 1}
    call = {"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": json.dumps(arguments)}}
    session.say(
        user("解析器" * 20), {"role": "assistant", "content": "I read.", "tool_calls": [call]}, result("c1", "x" * 81)
    )
    compact = json.dumps(arguments, separators=(",", ":"), ensure_ascii=False)
    expected = of("解析器" * 20) + of("I read.") + of("read_file") + of(compact) + of("x" * 81) + 3 * 4
    assert session.stats["counted_tokens"] == expected


def test_the_usage_of_an_answer_sets_how_tokens_are_counted(service: Service) -> None:
    session = quiet(service, 32_000)
    answer = session.say(user(lines(4_000)))
    used = answer["budget"]["used"]
    session.say(assistant("Done."), usage={"version": answer["version"], "input": int(used * 1.3), "output": 4})
    assert session.get()["multiplier"] == pytest.approx(1.3, abs=0.05)
    assert session.stats["estimated_input_tokens"] == pytest.approx(used * 1.3, rel=0.05)


def test_levels_are_distances_to_the_end_of_the_room(service: Service) -> None:
    session = quiet(service, 128_000)
    room = 108_000
    levels = []
    for _ in range(30):
        session.say(user("Go on."), assistant(lines(4_200)))
        stats = session.stats
        left = room - stats["counted_tokens"]
        levels.append(stats["warning_level"])
        for level, below in (("warning", 20_000), ("compact", 13_000), ("blocking", 3_000)):
            if stats["warning_level"] == level:
                assert left <= below + 100
    assert list(dict.fromkeys(levels)) == ["none", "warning", "compact", "blocking"]


def test_older_images_are_left_out(service: Service) -> None:
    said = [message for number in range(6) for message in (image(number), assistant("Seen."))]
    body = {"messages": said, "model": "openai/gpt-4o", "policy": {"preset": "agent-code"}}
    answer = service.post("/compact", {**body, "max_images": 2})
    assert answer["images_left_out"] == 4
    shown = [message for message in answer["messages"] if "image_url" in str(message["content"])]
    assert shown == [said[8], said[10]]
    assert service.post("/compact", {**body, "max_image_bytes": 9_000})["images_left_out"] >= 3


def test_no_secret_reaches_the_model_and_the_session_keeps_it(service: Service) -> None:
    session = quiet(service, 16_000)
    session.say(user(f"{session.mark} The key is {SECRET}, and the port is 4111."), assistant("I have noted the key."))
    for number in range(6):
        session.say(*session.reading(f"src/part_{number}.py", 500))
    stages = [{"name": "summarize", "keep_tokens": 500, "keep_tokens_most": 1_000}]
    session.compact(summarize=True, policy={"preset": "agent-code", "stages": stages})
    prompts = service.prompts(session.mark)
    assert prompts
    assert not any(SECRET in prompt for prompt in prompts)
    assert SECRET in str(session.items("entries")[0]["message"])


@pytest.mark.parametrize("wire_format", ["openai", "anthropic", "gemini", "responses"])
def test_each_view_obeys_the_rules_of_its_provider(service: Service, wire_format: str) -> None:
    session = service.start("agent-code", 8_000)
    session.say(user("Look."), calling("c1", "c2"), result("c1"), user(""), result("c2", "late"))
    session.say(
        calling("c3"), result("c3", ""), assistant("Good."), assistant("Very."), user("More."), user("And more.")
    )
    session.work(14)
    view = session.get(f"/context?format={wire_format}")
    assert rules.check(wire_format, view["messages"], view["system"]) == []
    assert view["budget"]["fits"]


def readings(session: Driven, turns: int) -> None:
    """Turns that read a file each, by the program's own tool, with results of a twelfth of the window."""
    for number in range(turns):
        path = f"src/part_{number}.py"
        session.say(*session.using("FileRead", f"{number}\n{lines(session.window // 12)}", path=path))


def refuse(session: Driven, share: float) -> dict[str, Any]:
    """The answer to a report that the provider takes this share of the view at most."""
    view = session.get("/context")
    used = view["budget"]["used"]
    error = f"413 prompt is too long: {used} tokens > {int(used * share)} maximum"
    answer: dict[str, Any] = session.post("/overflow", {"error": error, "version": view["version"]})
    return answer


@pytest.mark.parametrize("window", WINDOWS)
def test_whoever_asks_gets_free_context(service: Service, window: int) -> None:
    session = quiet(service, window, policy={"buffer_tokens": window // 16})
    readings(session, 4)
    used = session.get("/context")["budget"]["used"]
    assert not session.stats["should_compact"]

    answer = session.compact()

    assert answer["result"]["stages_used"][0] == "microcompact"
    assert session.get("/context")["budget"]["used"] <= 0.6 * used
    assert not is_cleared(results_of(session.view)[-1])
    (made, *_) = session.items("compactions")
    assert made["reason"] == "asked"
    again = session.compact()
    assert (again["job"], again["result"]["compacted"]) == (None, False)


@pytest.mark.parametrize("window", WINDOWS)
def test_the_program_keeps_five_results_two_when_asked_and_one_when_refused(service: Service, window: int) -> None:
    def cleared(session: Driven) -> int:
        marks = list(map(is_cleared, results_of(session.view)))
        assert marks == sorted(marks, reverse=True)
        return marks.count(True)

    policy = {"preset": "agent-code@program", "buffer_tokens": 0}
    early = {"stages": ["microcompact"], "buffer_tokens": window // 4}
    itself = service.start("agent-code@program", window, policy=early)
    while not itself.steps:
        readings(itself, 1)
    shown = len(results_of(itself.view))
    assert (itself.steps[0]["stages_used"], shown - cleared(itself)) == (["microcompact"], 5)

    asked = quiet(service, window, policy=policy)
    readings(asked, 4)
    asked.compact(stages=["microcompact"], summarize=False)
    assert cleared(asked) == 2

    refused = quiet(service, window, policy=policy)
    readings(refused, 4)
    answer = refuse(refused, 0.57)
    assert answer["result"]["stages_used"] == ["microcompact"]
    assert cleared(refused) == 3
    refused.rest()
    # A number that a request names counts for every reason.
    named = quiet(service, window, policy=policy)
    readings(named, 4)
    named.compact(policy={"stages": [{"name": "microcompact", "keep_results": 3}]}, summarize=False)
    assert cleared(named) == 1


@pytest.mark.parametrize("window", WINDOWS)
def test_a_refused_view_loses_more_results_and_then_its_middle(service: Service, window: int) -> None:
    session = quiet(service, window)
    readings(session, 4)

    first = refuse(session, 0.8)

    assert first["result"]["stages_used"] == ["microcompact"]
    assert list(map(is_cleared, results_of(session.view))) == [True] * 3 + [False]
    assert session.items("compactions")[0]["reason"] == "overflow"

    second = refuse(session, 0.9)

    # Clearing more would not be enough. The first and the last turn are what stays longest.
    assert "collapse" in second["result"]["stages_used"]
    assert session.texts[-1].startswith("Done with")
    session.rest()


def test_an_image_costs_2000_tokens_and_gives_them_back_when_it_is_left_out(service: Service) -> None:
    def seen(session: Driven) -> int:
        return sum("image_url" in str(message["content"]) for message in session.view)

    session = quiet(service, 128_000)
    session.say(user("Look at these."), assistant("I will."))
    before = session.stats["counted_tokens"]
    session.say(*(message for number in range(6) for message in (image(number), assistant("Seen."))))
    assert session.stats["counted_tokens"] == before + 6 * (2_000 + 4 + 4 + 1)

    program = service.start("agent-code@program", 128_000, policy={"max_images": 4})
    for number in range(4):
        program.say(image(number), assistant("Seen."))
    full = program.stats["counted_tokens"]
    assert (seen(program), program.steps) == (4, [])
    answer = program.say(image(4), assistant("Seen."))
    assert (answer["compaction"]["stages_used"], answer["budget"]["images"]) == (["omit_images"], 2)
    assert seen(program) == 2
    # Three are gone, and one has come.
    assert program.stats["counted_tokens"] == pytest.approx(full - 2 * 2_000, abs=120)
    policy = service.start("agent-code@program", 128_000).get()["policy"]
    assert (policy["max_images"], policy["max_image_bytes"]) == (32, 12 * 1024 * 1024)


def test_images_alone_bring_a_session_over_its_threshold(service: Service) -> None:
    session = service.start("agent-code", 32_000, policy={"stages": [FEW_KEPT]})
    for number in range(9):
        session.say(image(number), assistant("Seen."))
        if session.items("jobs"):
            break
    assert 2_000 * number <= session.stats["trigger_tokens"] < 2_000 * (number + 2)
    session.rest()
    assert session.texts[0].startswith("[Summary of")
    assert session.stats["counted_tokens"] < session.stats["trigger_tokens"]
