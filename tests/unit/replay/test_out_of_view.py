from __future__ import annotations

from typing import Any

import pytest

from foldline.engine import wording
from foldline.engine.formats import FORMATS
from foldline.engine.models.gauge import Frame
from foldline.engine.policies.presets import PRESETS
from foldline.engine.tokens.counter import count_messages
from foldline.replay.options import Options
from foldline.replay.out_of_view import OutOfViewWatch, PresetProgram, watch_of
from foldline.replay.transcripts import Transcript
from tests.support.recorded import chat_session, coding_session

JsonDict = dict[str, Any]
CHAT = chat_session(1, turns=40, length=60)
OTHERS = [name for name, policy in PRESETS.items() if policy.counter != PRESETS["foldline"].counter]
# What programs hide of CHAT in a window of 4,000 tokens, for those that then show an older message before newer ones
# that they hide: their last stage keeps what comes first in their view, after the summary.
WITH_HOLES = {
    "neurolink": ([(1, 56), (58, 67)], 66),
    "neurolink@program": ([(1, 56), (58, 67)], 66),
    "agent-code@program": ([(1, 73), (75, 76)], 75),
}
# No program compacts in it.
LARGE = 1_000_000


def watch_for(preset: str, window: int, messages: list[JsonDict] = CHAT, system: str | None = None) -> OutOfViewWatch:
    """A watch that has seen these messages."""
    transcript = Transcript("one", "openai", messages, system=system)
    watch = watch_of(PRESETS[preset], Frame("openai/gpt-4o", window), transcript)
    watch.appended(FORMATS["openai"].parse(messages))
    return watch


def view_of(messages: list[JsonDict], limit: int = 100_000) -> JsonDict:
    return {"messages": messages, "budget": {"used": count_messages(FORMATS["openai"].parse(messages)), "limit": limit}}


def own(text: str) -> JsonDict:
    return {"role": "user", "content": text}


SUMMARIZED = {
    "role": "user",
    "content": [{"type": "text", "text": wording.SUMMARY}, {"type": "text", "text": "so it was"}],
}


def test_a_whole_view_has_nothing_out_of_view() -> None:
    watch = watch_for("pi", LARGE, system="be brief")

    assert watch.saw(view_of([{"role": "system", "content": "be brief"}, *CHAT])) is None
    assert (watch.views, watch.ours, watch.by_program, watch.beyond) == (1, 0, 0, 0)


@pytest.mark.parametrize(
    "standing_in",
    [own(wording.hidden(10)), own(wording.HIDDEN), own(f"{wording.interim(10)}\n## Rules"), SUMMARIZED],
)
def test_a_message_is_out_of_view_where_something_else_stands_for_it(standing_in: JsonDict) -> None:
    watch = watch_for("pi", LARGE)

    found = watch.saw(view_of([standing_in, *CHAT[10:]]))

    assert found is not None
    assert (watch.ours, found.ours, found.program) == (10, 10, 0)


def test_a_message_whose_content_was_cleared_is_in_view() -> None:
    messages = coding_session(2, turns=2, calls=2)
    cleared = [{**said, "content": wording.CLEARED} if said["role"] == "tool" else said for said in messages]
    watch = watch_for("pi", LARGE, messages)

    assert watch.saw(view_of(cleared)) is None
    assert watch.ours == 0


def test_a_stub_is_no_message_that_was_sent() -> None:
    messages = coding_session(2, turns=1, calls=1)
    at = next(index for index, said in enumerate(messages) if said["role"] == "tool")
    stub = {**messages[at], "content": f"[error]\n{wording.UNANSWERED}"}
    unanswered = [*messages[:at], *messages[at + 1 :]]
    watch = watch_for("pi", LARGE, unanswered)

    assert watch.saw(view_of([*messages[:at], stub, *messages[at + 1 :]])) is None
    assert watch.ours == 0


@pytest.mark.parametrize("preset", OTHERS)
def test_no_program_hides_what_its_own_trigger_has_room_for(preset: str) -> None:
    watch = watch_for(preset, 200_000)

    watch.saw(view_of(CHAT))

    assert watch.by_program == 0


@pytest.mark.parametrize("preset", sorted(PRESETS.keys() - WITH_HOLES.keys()))
def test_a_program_hides_all_but_the_newest_messages_of_a_history_that_is_too_long(preset: str) -> None:
    watch = watch_for(preset, 4_000)

    watch.saw(view_of(CHAT))

    hidden = [seq for first, last in watch.program.hidden for seq in range(first, last + 1)]
    assert hidden == list(range(1, watch.by_program + 1))
    assert len(CHAT) // 3 < watch.by_program < len(CHAT)


@pytest.mark.parametrize("preset", WITH_HOLES)
def test_a_program_may_show_an_older_message_than_the_newest_that_it_hides(preset: str) -> None:
    watch = watch_for(preset, 4_000)

    watch.saw(view_of(CHAT))

    assert (watch.program.hidden, watch.by_program) == WITH_HOLES[preset]


@pytest.mark.parametrize("preset", PRESETS)
def test_a_program_keeps_what_it_hid_and_hides_more_as_the_session_grows(preset: str) -> None:
    transcript = Transcript("one", "openai", CHAT)
    watch = watch_of(PRESETS[preset], Frame("openai/gpt-4o", 4_000), transcript)
    hidden = []
    for message in FORMATS["openai"].parse(CHAT):
        watch.appended([message])
        before = watch.by_program
        watch.saw(view_of(CHAT))
        hidden.append(watch.by_program - before)

    assert hidden == sorted(hidden)
    assert len(set(hidden)) > 2


def test_a_program_whose_estimate_is_too_low_compacts_what_its_provider_would_refuse() -> None:
    messages = [{"role": role, "content": "漢字を読む。" * 12} for role in ("user", "assistant")] * 40
    watch = watch_for("pi", 6_000, messages)
    seen = sum(watch.program.gauge.measure.counted(entry).tokens for entry in watch.program.entries)

    watch.saw(view_of(messages))

    assert seen <= watch.program.gauge.goals.trigger
    assert count_messages(FORMATS["openai"].parse(messages)) > watch.program.exact.limit
    assert watch.by_program > 0


def test_a_program_shows_excerpts_of_outputs_over_its_limits() -> None:
    messages = coding_session(2, turns=1, calls=1)
    at = next(index for index, said in enumerate(messages) if said["role"] == "tool")
    messages[at] = {**messages[at], "content": "a line of the log\n" * 8_000}
    limited, whole = (watch_for(preset, 200_000, messages).program for preset in ("neurolink", "neurolink@program"))

    assert limited.live.cells[at + 1].kind == "excerpt"
    assert not whole.live.cells
    assert limited.tokens < whole.tokens / 2


def test_a_view_without_what_the_program_shows_is_wrong_where_that_would_fit() -> None:
    watch = watch_for("pi", 4_000)
    watch.saw(view_of(CHAT))

    found = watch.saw(view_of([SUMMARIZED, *CHAT[-1:]]))

    assert found is not None
    assert (found.ours, found.is_demanded, found.is_wrong) == (len(CHAT) - 1, False, True)
    lacking = FORMATS["openai"].parse(CHAT[found.due : -1])
    assert found.tokens == view_of([SUMMARIZED, *CHAT[-1:]])["budget"]["used"] + count_messages(lacking)


def test_what_does_not_fit_the_budget_may_be_out_of_view() -> None:
    watch = watch_for("pi", 4_000)

    found = watch.saw(view_of([SUMMARIZED, *CHAT[-1:]], limit=300))

    assert found is not None
    assert (found.is_demanded, found.is_wrong) == (True, False)
    assert (watch.beyond, watch.by_budget) == (1, 1)


def test_what_had_to_go_once_may_stay_out_of_view_but_nothing_more() -> None:
    watch = watch_for("pi", 4_000)
    watch.saw(view_of([SUMMARIZED, *CHAT[-3:]], limit=300))

    again, more = watch.saw(view_of([SUMMARIZED, *CHAT[-3:]])), watch.saw(view_of([SUMMARIZED, *CHAT[-1:]]))

    assert again is not None
    assert more is not None
    assert (again.is_wrong, more.is_wrong) == (False, True)


@pytest.mark.parametrize(
    ("hidden_before", "compactions", "is_wrong"), [(0, 0, False), (63, 0, False), (0, 1, False), (63, 1, True)]
)
def test_as_much_as_is_due_may_be_out_of_view_unless_the_program_compacted_meanwhile_without_hiding(
    *, hidden_before: int, compactions: int, is_wrong: bool
) -> None:
    watch = watch_for("pi", 4_000, CHAT[:70])
    watch.saw(view_of([SUMMARIZED, *CHAT[hidden_before:70]] if hidden_before else CHAT[:70]))
    watch.appended(FORMATS["openai"].parse(CHAT[70:]))
    watch.program.compactions += compactions
    due = watch.program.due[-1][1]

    found = watch.saw(view_of([SUMMARIZED, *CHAT[due:]]))

    assert found is not None
    assert (found.ours, found.program) == (due, 63)
    assert found.is_wrong == is_wrong


def test_what_was_hidden_when_the_program_did_not_fit_either_may_stay_out_of_view(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(PresetProgram, "compact", lambda _self: None)
    monkeypatch.setattr(PresetProgram, "due", [])
    watch = watch_for("pi", LARGE)
    watch.program.exact_tokens = watch.program.exact.limit + 1

    first = watch.saw(view_of([SUMMARIZED, *CHAT[10:]]))
    watch.program.exact_tokens = 0
    second, deeper = (watch.saw(view_of([SUMMARIZED, *CHAT[hidden:]])) for hidden in (10, 20))

    assert first is not None
    assert second is not None
    assert deeper is not None
    assert (first.is_wrong, second.is_wrong, deeper.is_wrong) == (False, False, True)


def test_what_was_due_after_any_append_since_the_last_compaction_may_be_out_of_view(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dues = iter([[(1, 10)], [(1, 4)], [], [], []])
    monkeypatch.setattr(PresetProgram, "compact", lambda _self: None)
    monkeypatch.setattr(PresetProgram, "is_near", True)
    monkeypatch.setattr(PresetProgram, "due", property(lambda _self: next(dues)))
    watch = watch_for("pi", LARGE, CHAT[:-1])
    watch.appended(FORMATS["openai"].parse(CHAT[-1:]))

    found = [watch.saw(view_of([SUMMARIZED, *CHAT[hidden:]])) for hidden in (10, 10, 12)]

    assert [beyond and (beyond.due, beyond.is_wrong) for beyond in found] == [(10, False), (10, False), (0, True)]


@pytest.mark.parametrize(
    ("options", "is_held"),
    [
        (Options("openai/gpt-4o", 8_000, "pi"), True),
        (Options("openai/gpt-4o", 8_000), False),
        (Options("openai/gpt-4o", 8_000, "of-tomorrow"), False),
        (Options("openai/gpt-4o", 8_000, "pi", compact_every=3), False),
    ],
)
def test_views_are_held_against_the_programs_of_other_systems(*, options: Options, is_held: bool) -> None:
    assert options.has_own_program == is_held
