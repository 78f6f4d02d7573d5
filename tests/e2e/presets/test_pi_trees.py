"""pi's tree: branches that are left, their summaries, and the files that add up over both kinds of summaries."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.presets.driven import MOODY, STORY, WINDOWS, WITHOUT_MODEL, Driven, Service, lines, text_of
from tests.support.processes.api import Json, assistant, user


def forked(service: Service, window: int, **fields: Any) -> tuple[Driven, str]:
    """A session with a shared turn and a branch after it that read and changed files; the shared turn's last entry."""
    policy = {"branch_reserve_tokens": 0, **fields.pop("policy", {})}
    session = service.start("pi", window, policy=policy, **fields)
    shared = session.say(user(f"{session.mark} on the shared line"), assistant("Yes."))["entry_ids"][-1]
    session.say(*session.reading("src/parser.py", window // 20))
    session.say(*session.using("edit_file", "done", said="Change it.", path="src/reader.py"))
    session.say(user("And?"), assistant("The parser drops commas. The quick brown fox jumps over the lazy dog."))
    return session, shared


def leave(session: Driven, entry_id: str, **fields: Any) -> Json:
    """The answer to a move with a summary of what is left, when its job has ended."""
    moved: Json = session.post("/branch", {"entry_id": entry_id, "summarize": True, **fields})
    session.rest()
    return moved


def summaries(session: Driven) -> list[Json]:
    return [entry for entry in session.items("entries") if entry["kind"] == "branch_summary"]


@pytest.mark.parametrize("window", WINDOWS)
def test_a_branch_that_is_left_gets_a_summary_where_the_session_goes_on(service: Service, window: int) -> None:
    session, shared = forked(service, window)
    left = session.items("entries")[-1]
    branches = session.items("branches")
    assert [branch["is_head"] for branch in branches] == [True]

    moved = leave(session, shared, instructions="Say what was found out.")

    (entry,) = summaries(session)
    job = service.get(f"/jobs/{moved['job']['id']}")
    assert (job["kind"], job["state"], job["entry_id"]) == ("branch_summary", "succeeded", entry["id"])
    assert (entry["parent_id"], entry["left_entry_id"], entry["from_hook"]) == (shared, left["id"], None)
    assert entry["created_at"] >= left["created_at"]
    assert STORY in entry["summary"]
    assert entry["details"] == {"read_files": ["src/parser.py"], "modified_files": ["src/reader.py"]}
    # All that was said after the common entry is sent, in the structure of every summary.
    (prompt,) = service.prompts(session.mark)
    for said in ("a branch that was left", "Say what was found out.", "src/parser.py", "drops commas", "## Goal"):
        assert said in prompt
    assert "on the shared line" not in prompt
    *_, last = session.view
    assert last["role"] == "user"
    text = text_of(last)
    assert text.startswith("[Summary of another branch")
    assert STORY in text
    assert "<read-files>\nsrc/parser.py" in text
    assert "<modified-files>\nsrc/reader.py" in text
    # The branch that was left is there to go back to.
    assert sorted(branch["is_head"] for branch in session.items("branches")) == [False, True]
    back = session.post("/branch", {"entry_id": left["id"]})
    assert back["job"] is None
    assert text_of(session.view[-1]).startswith("The parser drops commas")
    assert summaries(session) == []


def test_a_move_without_a_request_or_without_anything_left_has_no_summary(service: Service) -> None:
    session, shared = forked(service, 32_000)
    tip = session.items("entries")[-1]["id"]
    assert leave(session, tip)["job"] is None
    assert session.post("/branch", {"entry_id": shared})["job"] is None
    # Forward again: all of the old path is on the new one.
    assert leave(session, tip)["job"] is None
    assert (summaries(session), session.items("jobs")) == ([], [])


@pytest.mark.parametrize("window", WINDOWS)
def test_of_a_long_branch_the_newest_is_read_that_the_budget_has_room_for(service: Service, window: int) -> None:
    session = service.start("pi", window, policy={"branch_reserve_tokens": window}, auto_compact=False)
    shared = session.say(user("shared"), assistant("Yes."))["entry_ids"][-1]
    for number in range(16):
        session.say(*session.reading(f"src/part_{number}.py", window // 20))
    leave(session, shared)
    (entry,) = summaries(session)
    # Files are listed of all that was left, also of what was not read.
    assert entry["details"]["read_files"] == sorted(f"src/part_{number}.py" for number in range(16))
    prompt = service.prompts(session.mark)[0]
    assert "Read src/part_0.py." not in prompt
    assert prompt.index("Read src/part_14.py.") < prompt.index("Read src/part_15.py.")


@pytest.mark.parametrize("window", WINDOWS)
def test_of_a_branch_that_is_one_huge_message_that_is_read(service: Service, window: int) -> None:
    session = service.start("pi", window, policy={"branch_reserve_tokens": window}, auto_compact=False)
    shared = session.say(user("shared"), assistant("Yes."))["entry_ids"][-1]
    session.say(user(f"{session.mark} first"), assistant(lines(window * 3 // 4)))
    leave(session, shared)
    assert "the quick brown fox" in summaries(session)[0]["summary"].lower()


def test_files_add_up_over_branches_and_compactions(service: Service) -> None:
    session, shared = forked(service, 32_000)
    leave(session, shared)
    there = session.say(*session.reading("docs/notes.md", 900))["entry_ids"][-1]
    # Off to a third branch, which gets the files of both others.
    leave(session, shared)
    newest = summaries(session)[-1]
    assert {"src/parser.py", "docs/notes.md"} <= {*newest["details"]["read_files"]}
    assert newest["details"]["modified_files"] == ["src/reader.py"]
    # Back and on: a compaction lists what the branch's summary lists.
    session.post("/branch", {"entry_id": there})
    for number in range(6):
        session.say(*session.reading(f"src/part_{number}.py", 900))
    policy = {"preset": "pi", "stages": [{"name": "summarize", "keep_tokens": 1_000}]}
    session.compact(policy=policy)
    made = session.items("compactions")[-1]
    assert {"src/parser.py", "docs/notes.md", "src/part_0.py"} <= {*made["details"]["read_files"]}
    assert made["details"]["modified_files"] == ["src/reader.py"]


@pytest.mark.parametrize("window", WITHOUT_MODEL)
def test_a_branchs_summary_without_a_model_has_no_text_of_one(service: Service, window: int) -> None:
    session, shared = forked(service, window, summarizer="away,extractive")
    leave(session, shared)
    assert "commas" in summaries(session)[0]["summary"]
    refused, shared = forked(service, window, summarizer=MOODY)
    with service.refusing():
        moved = leave(refused, shared)
    assert service.get(f"/jobs/{moved['job']['id']}")["state"] == "failed"
    assert summaries(refused) == []
    assert len(refused.view) == 2
