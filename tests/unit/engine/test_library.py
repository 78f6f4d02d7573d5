from typing import Any

import pytest

from foldline.engine.errors import FixedPartsDoNotFit, InvalidMessage, InvalidPolicy, UnknownModel
from foldline.engine.formats import FORMATS, rules
from foldline.engine.library import budget, compact
from foldline.engine.tokens.counter import MARK, MESSAGE, count_messages, count_text, count_tools

LONG = "fold the line\n" * 100
TOOL = {"type": "function", "function": {"name": "ls", "parameters": {"type": "object"}}}


def openai(turns: int = 12) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "system", "content": "Be brief."}]
    for number in range(turns):
        call = {"id": f"c{number}", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
        messages += [
            {"role": "user", "content": f"Look at part {number}, and never touch config_{number}.toml."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": LONG},
            {"role": "assistant", "content": f"Part {number} is fine."},
        ]
    return messages


def anthropic(turns: int = 12) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    for number in range(turns):
        use = {"type": "tool_use", "id": f"c{number}", "name": "ls", "input": {}}
        result = {"type": "tool_result", "tool_use_id": f"c{number}", "content": LONG}
        messages += [
            {"role": "user", "content": f"Look at part {number}."},
            {"role": "assistant", "content": [use]},
            {"role": "user", "content": [result]},
            {"role": "assistant", "content": f"Part {number} is fine."},
        ]
    return messages


def native(turns: int = 12) -> list[dict[str, Any]]:
    return FORMATS["native"].render(FORMATS["openai"].parse(openai(turns)), None).messages


@pytest.mark.parametrize("messages", [openai(), anthropic(), native()], ids=["openai", "anthropic", "native"])
@pytest.mark.parametrize("is_summarized", [False, True])
def test_messages_come_back_in_their_format_valid_and_within_the_budget(
    messages: list[dict[str, Any]], *, is_summarized: bool
) -> None:
    compacted = compact(messages, context_window="4k", summarize=is_summarized)
    name = "native" if "parts" in messages[0] else "anthropic" if messages[0]["role"] == "user" else "openai"
    assert compacted.fits
    assert compacted.tokens_after < compacted.tokens_before
    assert compacted.tokens_saved == compacted.tokens_before - compacted.tokens_after
    assert rules.check(name, compacted.messages, None) == []
    assert count_messages(FORMATS[name].parse(compacted.messages)) <= compacted.budget.used


def test_tokens_before_and_after_are_those_of_the_whole_view() -> None:
    messages = openai()
    compacted = compact(messages, context_window="4k", system="Be kind.", tools=[TOOL])
    before, after = (
        budget(view, context_window="4k", system="Be kind.", tools=[TOOL]) for view in (messages, compacted.messages)
    )
    assert (compacted.tokens_before, compacted.tokens_after) == (before.used, after.used)
    assert compacted.budget.used == after.used < before.used


def test_messages_that_are_small_come_back_as_they_are() -> None:
    messages = openai(2)
    compacted = compact(messages, model="openai/gpt-4o")
    assert compacted.messages == messages
    assert (compacted.stages_used, compacted.tokens_saved) == ((), 0)


def test_system_messages_at_the_front_and_the_last_user_message_stay() -> None:
    messages = openai()
    compacted = compact(messages, context_window="4k")
    assert compacted.messages[0] is messages[0]
    assert messages[-4] in compacted.messages


def test_a_target_of_ones_own_is_gone_down_to() -> None:
    compacted = compact(openai(), model="openai/gpt-4o", target_tokens=1_000)
    assert compacted.budget.used <= 1_000
    nothing = compact(openai(), model="openai/gpt-4o", target_tokens=1_000, stages=[])
    for found, is_reached in ((compacted, True), (nothing, False)):
        assert found.target is not None
        assert found.target.answered(found.tokens_after)["reached"] is is_reached
        assert 0 < found.target.least_tokens < compacted.tokens_after


def test_only_the_named_stages_run() -> None:
    assert compact(openai(), context_window="4k", stages=["truncate"]).stages_used == ("truncate",)
    assert compact(openai(), model="openai/gpt-4o", target_tokens=1_000, stages=[]).tokens_saved == 0


def test_a_summary_holds_what_was_demanded() -> None:
    compacted = compact(openai(30), context_window="6k", summarize=True)
    assert "summarize" in compacted.stages_used
    # All of them do not fit: the oldest give way.
    assert "never touch config_13.toml" in str(compacted.messages)


def test_compacting_again_changes_nothing() -> None:
    once = compact(openai(), context_window="4k")
    again = compact(openai(), context_window="4k")
    assert once == again
    assert compact(once.messages, context_window="4k").messages == once.messages


def test_what_cannot_fit_is_said_not_hidden() -> None:
    compacted = compact([{"role": "user", "content": LONG * 9}], context_window="4k")
    assert not compacted.fits
    assert compacted.messages[0]["content"] == LONG * 9


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"model": "openai/gpt-99"}, UnknownModel),
        ({}, InvalidPolicy),
        ({"context_window": "huge"}, InvalidPolicy),
        ({"context_window": "4k", "format_name": "xml"}, InvalidPolicy),
        ({"context_window": "4k", "target_tokens": 0}, InvalidPolicy),
        ({"context_window": "4k", "policy": {"preset": "nobody"}}, InvalidPolicy),
        ({"context_window": "4k", "stages": ["fold"]}, InvalidPolicy),
        ({"context_window": "4k", "system": LONG * 9}, FixedPartsDoNotFit),
    ],
)
def test_what_cannot_work_is_refused(arguments: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        compact(openai(1), **arguments)


def test_a_message_of_the_wrong_shape_is_named() -> None:
    with pytest.raises(InvalidMessage, match=r"messages\[1\]"):
        compact([{"role": "user", "content": "go"}, {"role": "nobody"}], context_window="4k")


def test_a_budget_says_what_takes_how_much() -> None:
    answer = budget(
        openai(1),
        model="openai/gpt-4o",
        system="Be kind.",
        tools=[TOOL],
        prompt="And now?",
        pins=["Use tabs."],
        files=[],
    )
    assert answer.breakdown["system"] == 2 * (MESSAGE + MARK) + count_text("Be kind.") + count_text("Be brief.")
    assert answer.breakdown["prompt"] == MESSAGE + count_text("And now?")
    assert answer.breakdown["tools"] == count_tools([TOOL])
    assert answer.breakdown["files"] == 0
    assert answer.used == sum(answer.breakdown.values())
    assert answer.fits
    assert set(answer.breakdown) == {"system", "history", "tools", "pins", "prompt", "files"}


def test_a_budget_places_files_in_what_is_left() -> None:
    files = [{"path": "big.log", "size_bytes": 50_000_000}, {"path": "a.py", "content": "x = 1"}]
    answer = budget(openai(1), context_window="8k", files=files)
    assert [(placed.path, placed.action) for placed in answer.files] == [("big.log", "preview"), ("a.py", "keep")]
    assert answer.fits
    assert budget([], context_window="8k").used == 0


def test_what_the_view_stubs_and_quotes_is_counted() -> None:
    broken = [message for message in openai(2) if message["role"] != "tool"]
    late = {"role": "tool", "tool_call_id": "c0", "content": "late"}
    mended = compact([*broken, late, openai(3)[-4], openai(3)[-3]], context_window="64k")
    assert (mended.orphaned_calls_fixed, mended.orphaned_results_fixed) == (2, 1)
    again = compact(mended.messages, context_window="64k")
    assert (again.orphaned_calls_fixed, again.orphaned_results_fixed) == (0, 0)


def test_what_went_out_of_view_needs_no_mending() -> None:
    broken = [message for message in openai(60) if message["role"] != "tool"]
    mended = compact(broken, context_window="4k")
    stubs = [message for message in mended.messages if message["role"] == "tool"]
    assert 0 < mended.orphaned_calls_fixed == len(stubs) < 60


@pytest.mark.parametrize(
    ("max_images", "max_image_bytes", "left_out"),
    [(None, None, 0), (3, None, 0), (1, None, 2), (None, 100, 1), (3, 0, 3)],
)
def test_the_newest_images_stay(max_images: int | None, max_image_bytes: int | None, left_out: int) -> None:
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{'A' * 40}"}}
    messages = [{"role": "user", "content": [{"type": "text", "text": str(number)}, picture]} for number in range(3)]
    kept = compact(messages, context_window="64k", max_images=max_images, max_image_bytes=max_image_bytes)
    assert kept.images_left_out == left_out
    assert [picture in message["content"] for message in kept.messages] == [n >= left_out for n in range(3)]
    assert kept.tokens_saved == compact(messages, context_window="64k").tokens_after - kept.tokens_after
