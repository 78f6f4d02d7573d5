from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from foldline.client import Client
from foldline.engine import wording
from foldline.replay.drive import Drive
from foldline.replay.options import Options
from foldline.replay.record import SessionRecord
from foldline.replay.transcripts import Transcript
from tests.support.processes.faulty_service import Script, faulty_service

JsonDict = dict[str, Any]


def call(call_id: str) -> JsonDict:
    return {"id": call_id, "type": "function", "function": {"name": "look", "arguments": "{}"}}


TRANSCRIPT = Transcript(
    "one",
    "openai",
    [
        {"role": "user", "content": "what is it?"},
        {"role": "assistant", "content": None, "tool_calls": [call("c1"), call("c2")]},
        {"role": "tool", "tool_call_id": "c1", "content": "a stone"},
        {"role": "tool", "tool_call_id": "c2", "content": "a bird"},
        {"role": "assistant", "content": "both"},
        {"role": "user", "content": "thanks"},
        {"role": "assistant", "content": "welcome"},
    ],
    system="be brief",
)
SETTINGS = Options("openai/gpt-4o", 8000, patience_seconds=0.1)
DISABLED = replace(SETTINGS, is_compacting=False)


def driven(script: Script, transcript: Transcript = TRANSCRIPT, settings: Options = SETTINGS) -> SessionRecord:
    with faulty_service(script) as url, Client(url) as service:
        return Drive(service, transcript, settings, lambda _count: None, lambda _text, _style: None).run()


def notes_of(script: Script, settings: Options = SETTINGS) -> tuple[list[tuple[str, str]], SessionRecord]:
    """The notes of a replay, each with its style, and its record."""
    notes: list[tuple[str, str]] = []
    with faulty_service(script) as url, Client(url) as service:
        drive = Drive(
            service, TRANSCRIPT, settings, lambda _count: None, lambda text, style: notes.append((text, style))
        )
        return notes, drive.run()


def test_a_service_that_keeps_its_promises_has_no_violations() -> None:
    record = driven(Script())

    assert record.violations == record.listed == []
    assert (record.turns, record.messages, record.model_calls, record.waiting_points) == (2, 7, 3, 0)
    assert record.tokens_with == record.tokens_without > record.appended_tokens


def drop_last(view: JsonDict) -> None:
    del view["messages"][-1]


def drop_system(view: JsonDict) -> None:
    view["system"] = None


def overfill(view: JsonDict) -> None:
    view["budget"]["limit"] = 1


def rewrite_first(view: JsonDict) -> None:
    if len(view["messages"]) > 6:
        view["messages"][1] = {"role": "user", "content": "what was it?"}


@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        (drop_last, "the last user message is not at the end of the view"),
        (drop_last, "the call c2 has no result right after it"),
        (drop_system, "`system` is not the session's system prompt"),
        (overfill, "of 1 tokens"),
        (rewrite_first, "the prefix changed without a compaction, from message 1"),
    ],
)
def test_a_spoilt_view_is_a_violation(spoil: Callable[[JsonDict], None], expected: str) -> None:
    record = driven(Script(spoil=spoil))

    assert any(expected in text for text in record.violations)


def summarize_all_but_the_last(view: JsonDict) -> None:
    del view["messages"][1:-1]
    view["messages"].insert(1, {"role": "user", "content": wording.SUMMARY})
    view["budget"]["used"] -= 1


@pytest.mark.parametrize(("preset", "is_held"), [("pi", True), ("foldline", False), ("of-tomorrow", False)])
def test_a_view_without_what_the_presets_own_program_shows_is_a_violation(preset: str, *, is_held: bool) -> None:
    record = driven(Script(spoil=summarize_all_but_the_last), settings=replace(SETTINGS, policy=preset))

    assert record.views_too_deep == (3 if is_held else 0)
    found = [text for text in record.violations if "the preset's own program would have hidden 0, or 0 now" in text]
    assert len(found) == record.views_too_deep
    # In the first view, the last message is the only one.
    is_known = preset != "of-tomorrow"
    assert (record.views_compared, record.views_beyond_program) == ((4, 3) if is_known else (0, 0))
    assert (record.out_of_view, record.program_out_of_view) == ((14, 0) if is_known else (0, 0))


def test_a_refused_view_is_a_violation_where_it_would_have_fitted() -> None:
    record = driven(Script(refusal=(422, "view-does-not-fit")))

    assert "422 view-does-not-fit" in record.violations[0]
    assert record.listed == []


def test_a_refused_view_is_listed_where_nothing_could_make_it_fit() -> None:
    record = driven(Script(refusal=(422, "view-does-not-fit"), limit=10))

    assert record.violations == []
    assert "the fixed parts and the last user message take" in record.listed[0]


def test_views_that_nothing_made_fit_are_listed_where_compaction_is_disabled() -> None:
    record = driven(Script(refusal=(422, "view-does-not-fit"), limit=10), settings=DISABLED)

    assert record.violations == []
    assert record.views_over_budget == 4
    assert record.listed == ["4 views did not fit: compaction is disabled"]


@pytest.mark.parametrize(
    ("refusal", "limit"), [((422, "view-does-not-fit"), 100_000), ((503, "unavailable"), 10), ((422, "conflict"), 10)]
)
def test_disabling_compaction_excuses_no_other_refusal(refusal: tuple[int, str], limit: int) -> None:
    record = driven(Script(refusal=refusal, limit=limit), settings=DISABLED)

    assert f"{refusal[0]} {refusal[1]}" in record.violations[0]
    assert record.views_over_budget == 0


def test_a_view_that_is_given_must_fit_also_where_compaction_is_disabled() -> None:
    assert any("of 1 tokens" in text for text in driven(Script(spoil=overfill), settings=DISABLED).violations)


def test_a_note_names_the_session_by_the_ids_of_file_and_service() -> None:
    notes, record = notes_of(Script(limit=60))

    assert [style for _, style in notes] == ["dim", "yellow"]
    assert all(text.startswith("one (s0): ") for text, _ in notes)
    assert record.usage_crossings == {"notice": 1, "warning": 1}


def test_use_is_counted_but_not_shown_where_compaction_is_disabled() -> None:
    notes, record = notes_of(Script(limit=60), DISABLED)

    assert notes == []
    assert record.usage_crossings == {"notice": 1, "warning": 1}


def test_any_other_refusal_is_a_violation() -> None:
    assert "503 unavailable" in driven(Script(refusal=(503, "unavailable"), limit=10)).violations[0]


def test_calls_reported_open_that_are_not_are_a_violation() -> None:
    assert "open calls are ['c9'], expected []" in driven(Script(open_calls=["c9"])).violations[0]


def test_pending_tokens_that_are_never_summarized_are_a_violation() -> None:
    record = driven(Script(pending_tokens=7, jobs=[{"id": "j", "state": "failed", "error": "no answer"}]))

    assert record.violations == ["message 7: 7 tokens stay pending and no job makes progress (j failed: no answer)"]


def test_a_job_that_never_ends_is_a_violation() -> None:
    record = driven(Script(jobs=[{"id": "j", "state": "running", "error": None}]))

    assert "j is running" in record.violations[0]


def test_a_visible_lack_of_room_is_listed() -> None:
    record = driven(Script(pending_tokens=7, jobs=[{"id": "j", "state": "failed", "error": "no-room"}]))

    assert record.violations == []
    assert "no-room: 7 tokens stay pending" in record.listed[0]


def forget_one(entries: list[JsonDict]) -> None:
    del entries[3]


def garble_one(entries: list[JsonDict]) -> None:
    entries[3] = {**entries[3], "message": {}}


@pytest.mark.parametrize(
    ("forget", "expected"),
    [(forget_one, "6 messages are stored of 7"), (garble_one, "messages [4] are not stored as they were sent")],
)
def test_a_message_that_was_lost_is_a_violation(forget: Callable[[list[JsonDict]], None], expected: str) -> None:
    assert driven(Script(forget=forget)).violations == [f"message 7: {expected}"]


def test_compactions_are_requested_at_the_given_interval() -> None:
    record = driven(Script(), settings=Options("openai/gpt-4o", 8000, compact_every=2, patience_seconds=0.1))

    assert record.requested_compactions == 1
    assert record.violations == []


def test_a_step_at_which_calls_stay_open_fetches_no_view() -> None:
    unanswered = [TRANSCRIPT.messages[0], TRANSCRIPT.messages[1], TRANSCRIPT.messages[2], TRANSCRIPT.messages[4]]
    transcript = Transcript("one", "openai", unanswered)

    record = driven(Script(), transcript)

    assert (record.waiting_points, record.model_calls) == (1, 1)
