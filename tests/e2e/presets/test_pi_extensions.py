"""pi's extensions as hooks: what they get before summaries, what they may answer, and the outcomes they get."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.presets.driven import AWAY, MOODY, WINDOWS, Driven, Service, lines, text_of
from tests.e2e.presets.test_pi_trees import forked, leave, summaries
from tests.support.eventually import eventually
from tests.support.processes.api import assistant, calling, result, user
from tests.support.processes.scripted_llm import slow


def long_turn(service: Service, window: int, **fields: Any) -> Driven:
    """A session whose last turn but one is longer than what is kept."""
    stages = [{"name": "summarize", "keep_tokens": window // 12}]
    session = service.start("pi", window, policy={"stages": stages}, auto_compact=False, **fields)
    session.say(*session.using("edit_file", "done", path="src/lib.py"))
    session.say(*session.reading("src/parser.py", window // 30))
    session.say(user(f"{session.mark} Look everywhere."))
    for number in range(10):
        session.say(calling(f"c{number}"), result(f"c{number}", lines(window // 30)))
    session.say(assistant("I have looked."), user("And?"))
    return session


def preparation_of(service: Service, job_id: str) -> Any:
    return service.extension.preparations[job_id]


def outcomes_of(service: Service, session: Driven) -> list[Any]:
    return [found for found in service.extension.outcomes if session.path.endswith(found.session_id)]


@pytest.mark.parametrize("window", WINDOWS)
def test_an_extension_gets_what_is_about_to_be_summarized(service: Service, window: int) -> None:
    session = long_turn(service, window)
    cut = session.compact(dry_run=True)["summary"]
    used = session.stats["estimated_input_tokens"]

    job = session.compact(instructions="Keep the dates.")["job"]

    prepared = preparation_of(service, job["id"])
    assert (prepared.kind, prepared.reason, prepared.job_id) == ("compact", "asked", job["id"])
    assert len(prepared.request.messages) == cut["messages"] == 8
    assert len(prepared.request.turn_prefix) == cut["turn_prefix_messages"] > 0
    assert prepared.is_split_turn is cut["is_split_turn"] is True
    assert prepared.first_kept_entry_id == cut["first_kept_entry_id"]
    assert prepared.first_entry_id == "e0-1"
    assert prepared.tokens_before == used
    assert 0 < prepared.max_tokens < used
    assert prepared.policy["preset"] == "pi"
    assert prepared.details == {"read_files": ["src/parser.py"], "modified_files": ["src/lib.py"]}
    assert (prepared.request.instructions, prepared.request.previous) == ("Keep the dates.", ())

    for number in range(6):
        session.say(*session.reading(f"src/part_{number}.py", window // 30))
    again = session.compact()["job"]
    (previous,) = preparation_of(service, again["id"]).request.previous
    assert "quick brown fox" in previous
    assert "<read-files>" not in previous


@pytest.mark.parametrize("window", WINDOWS)
def test_the_reason_is_the_trigger_where_nobody_asked(service: Service, window: int) -> None:
    stages = [{"name": "summarize", "keep_tokens": window // 12}]
    session = service.start("pi", window, policy={"stages": stages})
    session.work(24)
    (job, *_) = session.rest()
    assert preparation_of(service, job["id"]).reason == "trigger"

    refused = service.start("pi", window, policy={"stages": stages}, auto_compact=False)
    refused.work(7)
    refused.post("/overflow", {"error": "prompt is too long", "version": refused.get()["version"]})
    (job, *_) = refused.rest()
    assert preparation_of(service, job["id"]).reason == "trigger"


@pytest.mark.parametrize("window", WINDOWS)
def test_an_extension_cancels_or_supplies_a_summary_or_adds_to_the_instructions(service: Service, window: int) -> None:
    session = long_turn(service, window)
    before = session.view
    cancelled = session.compact(instructions="cancel it", ended="cancelled")["job"]
    assert "not now" in cancelled["error"]
    assert session.view == before

    supplied = session.compact(instructions="supply it")["job"]
    (made,) = session.items("compactions")
    assert (made["from_hook"], made["details"]["ticket"]) == ("extension", 7)
    assert made["details"]["modified_files"] == ["src/lib.py"]
    assert "- By hand." in text_of(session.view[0])
    assert service.prompts(session.mark) == []

    eventually(lambda: len(outcomes_of(service, session)) == 2)
    first, second = outcomes_of(service, session)
    assert (first.kind, first.state, first.job_id, first.error) == (
        "compact",
        "cancelled",
        cancelled["id"],
        cancelled["error"],
    )
    assert (second.state, second.entry_id) == ("succeeded", supplied["compaction_id"])
    assert (second.facts["from_hook"], second.facts["tokens_before"]) == ("extension", made["tokens_before"])

    advised = long_turn(service, window)
    advised.compact(instructions="advise him")
    assert any("advise him\n\nKeep every figure." in prompt for prompt in service.prompts(advised.mark))


@pytest.mark.parametrize("window", WINDOWS)
def test_an_extension_gets_a_branch_that_is_left_and_its_summary(service: Service, window: int) -> None:
    session, shared = forked(service, window)
    left = session.items("entries")[-1]["id"]

    job = leave(session, shared, instructions="Say what was found out.")["job"]

    prepared = preparation_of(service, job["id"])
    assert (prepared.kind, prepared.left_entry_id, prepared.first_kept_entry_id) == ("branch", left, None)
    assert service.get(f"{session.path}/entries/{prepared.first_entry_id}")["parent_id"] == shared
    assert prepared.last_entry_id == left
    assert len(prepared.request.messages) == 10
    assert prepared.request.instructions == "Say what was found out."
    eventually(lambda: outcomes_of(service, session))
    (outcome,) = outcomes_of(service, session)
    (entry,) = summaries(session)
    assert (outcome.kind, outcome.state, outcome.entry_id) == ("branch", "succeeded", entry["id"])
    assert (outcome.facts["from"], outcome.facts["summary"]) == (left, entry["summary"])


def test_an_extension_supplies_or_cancels_a_branchs_summary(service: Service) -> None:
    session, shared = forked(service, 32_000)
    leave(session, shared, instructions="supply it")
    (entry,) = summaries(session)
    assert (entry["from_hook"], entry["details"]["ticket"]) == ("extension", 7)
    assert entry["summary"].startswith("# Decided\n- By hand.")
    assert entry["details"]["read_files"] == ["src/parser.py"]
    assert service.prompts(session.mark) == []

    other, shared = forked(service, 32_000)
    job = leave(other, shared, instructions="cancel it")["job"]
    assert service.get(f"/jobs/{job['id']}")["state"] == "cancelled"
    assert summaries(other) == []


def test_failures_and_inline_compactions_are_outcomes_too(service: Service) -> None:
    session = long_turn(service, 32_000, summarizer=MOODY)
    with service.refusing():
        failed = session.compact(ended="failed")["job"]
    eventually(lambda: outcomes_of(service, session))
    (outcome,) = outcomes_of(service, session)
    assert (outcome.state, outcome.job_id, outcome.error) == ("failed", failed["id"], failed["error"])

    inline = service.start("pi", 32_000, summarizer=AWAY, auto_compact=False)
    inline.work(7)
    inline.post("/compact", {"stages": ["truncate"], "target_tokens": 4_000, "summarize": False}, 202)
    eventually(lambda: outcomes_of(service, inline))
    (made,) = inline.items("compactions")
    first = outcomes_of(service, inline)[0]
    assert (first.state, first.entry_id, first.facts["is_inline"]) == ("succeeded", made["id"], True)


def test_a_job_is_cancelled_while_its_model_writes(service: Service) -> None:
    session = long_turn(service, 32_000, summarizer=MOODY)
    service.moody.script(slow(20))
    job = session.post("/compact", {}, 202)["job"]
    eventually(lambda: service.get(f"/jobs/{job['id']}")["state"] == "running")
    service.call("DELETE", f"/jobs/{job['id']}")
    (ended,) = session.rest()
    assert ended["state"] == "cancelled"
    assert session.items("compactions") == []


def test_a_cancelled_job_does_not_wait_for_an_extension(service: Service) -> None:
    session = long_turn(service, 32_000)
    job = session.post("/compact", {"instructions": "hang on"}, 202)["job"]
    eventually(lambda: job["id"] in service.extension.preparations)
    service.call("DELETE", f"/jobs/{job['id']}")
    (ended,) = session.rest()
    assert (ended["state"], session.items("compactions")) == ("cancelled", [])
    # Its worker is free for the next job, while the hook still hangs.
    assert session.compact(instructions="advise him")["job"]["state"] == "succeeded"
    service.extension.may_go_on.set()
