from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from foldline.replay.view_check import Expected, check_content, check_view

JsonDict = dict[str, Any]
TOOLS = ({"name": "look"},)
EXPECTED = Expected(system="be brief", tools=TOOLS, user=("what is it?",))


def openai_view() -> JsonDict:
    return {
        "system": "be brief",
        "version": 3,
        "budget": {"limit": 100, "used": 80, "fits": True},
        "messages": [
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": "what is it?"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": call_id, "type": "function", "function": {"name": "look", "arguments": "{}"}}
                    for call_id in ("c1", "c2")
                ],
            },
            {"role": "tool", "tool_call_id": "c2", "content": "a stone"},
            {"role": "tool", "tool_call_id": "c1", "content": "a bird"},
            {"role": "assistant", "content": "both"},
        ],
    }


def anthropic_view() -> JsonDict:
    return {
        "system": "be brief",
        "version": 3,
        "budget": {"limit": 100, "used": 80, "fits": True},
        "messages": [
            {
                "role": "user",
                "content": [{"type": "text", "text": "a summary"}, {"type": "text", "text": "what is it?"}],
            },
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "look", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "a stone"}]},
        ],
    }


VIEWS: dict[str, Callable[[], JsonDict]] = {"openai": openai_view, "anthropic": anthropic_view}


@pytest.mark.parametrize("format_name", VIEWS)
def test_a_good_view_has_nothing_wrong(format_name: str) -> None:
    assert check_view(format_name, VIEWS[format_name](), EXPECTED) == []


def without(view: JsonDict, index: int) -> JsonDict:
    changed = deepcopy(view)
    del changed["messages"][index]
    return changed


def changed(view: JsonDict, *path: str | int, value: Any) -> JsonDict:
    result = deepcopy(view)
    target: Any = result
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = value
    return result


BAD_VIEWS: list[tuple[str, JsonDict, str]] = [
    ("openai", changed(openai_view(), "budget", "fits", value=False), "a view that does not fit"),
    ("openai", changed(openai_view(), "budget", "used", value=101), "by its own figure the view takes 101 of 100"),
    ("openai", changed(openai_view(), "budget", "used", value=20), "messages count"),
    ("openai", changed(openai_view(), "messages", 1, "role", value="nobody"), "is not a role"),
    ("openai", changed(openai_view(), "messages", 0, "content", value="be long"), "not the session's system prompt"),
    ("openai", changed(openai_view(), "system", value="be long"), "`system` is not"),
    ("openai", without(openai_view(), 0), "the first message is not"),
    ("openai", without(openai_view(), 1), "the last user message is not in the view"),
    ("openai", changed(openai_view(), "messages", 1, "content", value="what is"), "the last user message is not"),
    ("openai", without(openai_view(), 3), "the call c2 has no result"),
    ("openai", without(openai_view(), 2), "the result of c1 does not follow its call"),
    ("openai", changed(openai_view(), "messages", 3, "tool_call_id", value="c1"), "the result of c1 does not follow"),
    ("openai", changed(openai_view(), "messages", 5, "content", value=None), "messages[5].content"),
    ("anthropic", changed(anthropic_view(), "budget", "used", value=20), "messages count"),
    ("anthropic", changed(anthropic_view(), "system", value=None), "`system` is not"),
    (
        "anthropic",
        changed(anthropic_view(), "messages", 0, "content", value="a summary"),
        "the last user message is not",
    ),
    ("anthropic", without(anthropic_view(), 2), "the call c1 has no result"),
    ("anthropic", without(anthropic_view(), 1), "the result of c1 does not follow its call"),
]


@pytest.mark.parametrize(("format_name", "view", "expected"), BAD_VIEWS)
def test_a_bad_view_is_reported(format_name: str, view: JsonDict, expected: str) -> None:
    assert any(expected in text for text in check_view(format_name, view, EXPECTED))


def test_a_result_behind_another_message_is_reported() -> None:
    view = openai_view()
    view["messages"].insert(3, {"role": "user", "content": "wait"})

    assert any("c1 has no result right after it" in text for text in check_view("openai", view, EXPECTED))


def test_a_user_message_that_was_said_last_must_end_the_view() -> None:
    expected = Expected(user=("what is it?",), ends_with_user=True)

    assert any("at the end of the view" in text for text in check_content("openai", openai_view(), expected))


def test_all_parts_of_the_last_user_message_are_needed_in_order() -> None:
    view = anthropic_view()

    assert check_content("anthropic", view, Expected(user=("a summary", "what is it?"))) == []
    assert check_content("anthropic", view, Expected(user=("what is it?", "a summary"))) != []


def test_a_session_without_system_prompt_and_user_message_needs_neither() -> None:
    view = {"system": None, "messages": [{"role": "user", "content": "a summary"}]}

    assert check_content("openai", view, Expected()) == []
