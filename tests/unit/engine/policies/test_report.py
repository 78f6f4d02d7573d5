"""The figures that a policy says of a compaction."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from foldline.engine.edits import Edit
from foldline.engine.messages import Message, ToolCall, user
from foldline.engine.models.gauge import Frame
from foldline.engine.outline import Outline
from foldline.engine.policies.layouts import LAYOUTS
from foldline.engine.policies.policy import FIGURES
from foldline.engine.policies.presets import PRESETS
from foldline.engine.policies.report import Happened, level_of, report_of, together
from foldline.engine.tokens.estimates import COUNTERS
from foldline.engine.tokens.measures import measure_of
from tests.support.conversations import Conversation, answer, assistant

TEXT = "word " * 200
CLEAR = Edit("clear", 3, 3)
SUPERSEDE = Edit("supersede", 3, 3)
HIDE = Edit("hide", 1, 3)


def read(name: str, path: str) -> list[Message]:
    """A batch that reads a file."""
    return [assistant("", ToolCall(name, "read", f'{{"path": "{path}"}}')), answer(name, TEXT)]


TALK = Conversation.of([user("look"), *read("a", "a.py"), *read("b", "a.py"), *read("c", "c.py"), user("so?")]).outline


def condensed(*, first: int, last: int, tokens: int = 50) -> Edit:
    return Edit("condense", first, last, summary="sum-1", tokens=tokens, original_tokens=900)


def reported(*edits: Edit, before: Outline = TALK, **more: Any) -> dict[str, Any]:
    return report_of(FIGURES, Happened(before, before.edited(edits) if edits else before, edits, **more))


def test_every_figure_has_a_function_and_a_way_to_join_several() -> None:
    assert list(reported()) == list(FIGURES)
    assert list(together([reported(), reported()])) == list(FIGURES)


def test_nothing_done_is_reported_as_nothing() -> None:
    assert reported() == {
        "original_count": 8,
        "final_count": 8,
        "original_tokens": TALK.tokens,
        "final_tokens": TALK.tokens,
        "tier": 0,
        "warning_level": "none",
        "files_deduped": 0,
        "messages_removed": 0,
    }


@pytest.mark.parametrize(
    ("edits", "more", "tier"),
    [
        ((), {}, 0),
        ((CLEAR,), {}, 1),
        ((SUPERSEDE, Edit("excerpt", 5, 5)), {}, 1),
        ((HIDE,), {}, 4),
        ((condensed(first=1, last=3),), {}, 2),
        ((condensed(first=1, last=3),), {"is_half": True}, 3),
        ((condensed(first=1, last=3),), {"is_without_model": True}, 4),
        ((condensed(first=1, last=3),), {"is_without_model": True, "is_half": True}, 4),
        ((condensed(first=1, last=3), Edit("hide", 4, 5)), {}, 2),
    ],
)
def test_a_tier_says_how_far_a_compaction_went(edits: tuple[Edit, ...], more: dict[str, Any], tier: int) -> None:
    assert reported(*edits, **more)["tier"] == tier


def test_messages_are_counted_as_they_stand_in_view() -> None:
    # One marker for what is hidden, one message for a summary.
    assert reported(HIDE)["final_count"] == 8 - 3 + 1
    assert reported(condensed(first=1, last=5))["final_count"] == 8 - 5 + 1
    assert reported(HIDE, condensed(first=4, last=5))["final_count"] == 8 - 5 + 2
    hidden = TALK.edited([HIDE])
    assert reported(condensed(first=1, last=3), before=hidden)["original_count"] == 6


def test_removed_are_the_messages_that_went_out_of_view_without_a_summary() -> None:
    assert reported(HIDE)["messages_removed"] == 3
    hidden = TALK.edited([HIDE])
    assert reported(Edit("hide", 1, 5), before=hidden)["messages_removed"] == 2
    assert reported(condensed(first=1, last=5), before=hidden)["messages_removed"] == 0


def test_files_are_counted_once_however_many_reads_of_them_became_pointers() -> None:
    assert reported(SUPERSEDE)["files_deduped"] == 1
    assert reported(SUPERSEDE, Edit("supersede", 5, 5))["files_deduped"] == 1
    assert reported(SUPERSEDE, Edit("supersede", 7, 7))["files_deduped"] == 2
    assert reported(CLEAR)["files_deduped"] == 0


@pytest.mark.parametrize("counter", COUNTERS)
def test_tokens_are_the_counters_own(counter: str) -> None:
    seen = TALK.measured(measure_of(counter, "anthropic"))
    report = reported(CLEAR, before=seen)
    assert report["original_tokens"] == seen.tokens
    assert report["final_tokens"] == TALK.edited([CLEAR]).measured(measure_of(counter, "anthropic")).tokens
    assert report["final_tokens"] < report["original_tokens"]


def test_several_compactions_are_reported_as_one() -> None:
    first = reported(SUPERSEDE, level="critical")
    hidden = TALK.edited([SUPERSEDE])
    second = reported(HIDE, before=hidden)
    assert together([first, second]) == {
        "original_count": 8,
        "final_count": 6,
        "original_tokens": TALK.tokens,
        "final_tokens": hidden.edited([HIDE]).tokens,
        "tier": 4,
        "warning_level": "critical",
        "files_deduped": 1,
        "messages_removed": 3,
    }
    assert together([first, reported(before=hidden)])["tier"] == 1
    assert together([{}, {"tier": 3}]) == {"tier": 3}
    assert together([]) == {}


@pytest.mark.parametrize(
    ("preset", "tokens", "level"),
    [
        # Of the 132,000 tokens that are left for input.
        ("foldline", 105_599, "none"),
        ("foldline", 105_600, "warning"),
        ("foldline", 118_800, "critical"),
        ("neurolink", 81_599, "none"),
        ("neurolink", 81_600, "notice"),
        ("neurolink", 108_800, "compact"),
        ("agent-code", 159_999, "none"),
        ("agent-code", 160_000, "warning"),
        ("agent-code", 167_000, "compact"),
        ("agent-code", 177_000, "blocking"),
        ("agent-code@program", 170_616, "compact"),
        # Of the whole window.
        ("codebuddy", 159_999, "none"),
        ("codebuddy", 160_000, "warning"),
        ("codebuddy", 180_000, "critical"),
        ("codebuddy@program", 176_314, "critical"),
    ],
)
def test_a_level_is_reached_in_the_room_that_the_layout_divides(preset: str, tokens: int, level: str) -> None:
    assert level_of(PRESETS[preset], Frame("anthropic/claude-sonnet-4-5"), tokens) == level


@pytest.mark.parametrize("layout", LAYOUTS)
def test_nothing_reaches_no_level(layout: str) -> None:
    assert level_of(replace(PRESETS["foldline"], layout=layout), Frame("nobody/nothing", 300), 0) == "none"
