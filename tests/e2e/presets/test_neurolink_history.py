"""NeuroLink's history that can come back: tags, the effective history, and an undo of what was compacted."""

from __future__ import annotations

import pytest

from tests.e2e.presets.driven import WINDOWS, Driven, Service, lines, text_of
from tests.support.processes.api import Json, assistant, user


def talked(service: Service, window: int, turns: int = 12) -> Driven:
    """A session of turns that each take a thirtieth of the window, which compacts only on request."""
    session = service.start("neurolink", window, auto_compact=False)
    for number in range(turns):
        session.say(user(f"{session.mark} question {number}"), assistant(lines(window // 30)))
    return session


def tags_of(session: Driven) -> dict[str, Json]:
    return {entry["id"]: entry["tags"] for entry in session.items("entries")}


@pytest.mark.parametrize("window", WINDOWS)
def test_hidden_messages_have_tags_of_their_marker_until_an_undo_brings_all_back(service: Service, window: int) -> None:
    # The summary of what is hidden is not written, as its model is away.
    session = service.start("neurolink", window, auto_compact=False, summarizer="away")
    for number in range(12):
        session.say(user(f"question {number}"), assistant(lines(window // 30)))
    before, originals = session.view, [entry["message"] for entry in session.items("entries")]
    used = session.stats["estimated_input_tokens"]

    session.post("/compact", {"stages": ["truncate"], "target_tokens": int(0.9 * used), "summarize": False}, 202)

    (made,) = [entry for entry in session.items("entries") if entry["kind"] == "compaction"]
    assert made["tags"]["is_truncation_marker"] is True
    parents = [tags.get("truncation_parent") for tags in tags_of(session).values()]
    hidden = parents.count(made["tags"]["truncation_id"])
    assert hidden >= 6
    assert set(parents) == {None, made["tags"]["truncation_id"]}
    # One marker, a user message, or a digest in its place, stands for the run.
    view = session.view
    (marker,) = [message for message in view if "earlier messages" in text_of(message)]
    assert marker["role"] == "user"
    assert len(view) == len(before) - hidden + 1
    assert [entry["message"] for entry in session.items("entries") if entry["kind"] == "message"] == originals

    session.post(f"/compactions/{made['id']}/undo", {})

    assert session.view == before
    assert all("truncation_parent" not in tags for tags in tags_of(session).values())
    session.post("/redo", {})
    assert session.view == view


@pytest.mark.parametrize("window", WINDOWS)
def test_summarized_messages_have_tags_of_their_summary_until_an_undo(service: Service, window: int) -> None:
    session = talked(service, window)
    before = session.view
    answer = session.compact(stages=["summarize"], target_tokens=window // 5)
    summary = answer["job"]["compaction_id"]
    compacted = session.view
    tags = tags_of(session)
    assert tags[summary]["is_summary"] is True
    covered = [name for name, found in tags.items() if found.get("condense_parent") == tags[summary]["condense_id"]]
    assert covered[0] == "e0-1"
    assert len(compacted) == len(before) - len(covered) + 1

    later = session.say(user("And this?"), assistant("That came later."))["entry_ids"]
    second = session.compact(stages=["summarize"], target_tokens=window // 10)["job"]
    # Later compactions are undone with it; what was said since stays.
    undone = session.post(f"/compactions/{summary}/undo", {})["undone"]
    assert summary in undone
    assert (second is None) or second["compaction_id"] in undone
    assert session.view == [*before, user("And this?"), assistant("That came later.")]
    assert all("condense_parent" not in found for found in tags_of(session).values())
    assert set(later) <= tags_of(session).keys()
    session.post("/redo", {})
    assert session.view[0] == compacted[0] or second is not None


def test_a_result_with_a_summary_hides_what_was_hidden_before_under_it(service: Service) -> None:
    session = talked(service, 16_000)
    used = session.stats["estimated_input_tokens"]
    session.compact(stages=["truncate"], target_tokens=int(0.9 * used), summarize=False)
    session.rest()
    assert session.stats["pending_tokens"] == 0
    parents = [tags.keys() & {"truncation_parent", "condense_parent"} for tags in tags_of(session).values()]
    assert {"condense_parent"} in parents
    assert {"truncation_parent"} not in parents
    # The summary is in the place of the first message that it covers.
    assert any(text.startswith("[Summary of") for text in session.texts)
