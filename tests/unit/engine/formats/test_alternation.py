from typing import Any

import pytest

from foldline.engine import wording
from foldline.engine.formats.alternation import alternating

BOLD = {"type": "text", "text": "b", "cache_control": {"type": "ephemeral"}}


def _says(role: str, content: object, **keys: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **keys}


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([], []),
        ([_says("user", "a"), _says("user", "b")], [_says("user", "a\n\nb")]),
        ([_says("user", "a"), _says("user", [BOLD])], [_says("user", [{"type": "text", "text": "a"}, BOLD])]),
        ([_says("assistant", ""), _says("assistant", "b")], [_says("assistant", "b")]),
        ([_says("user", "a"), _says("assistant", "b")], [_says("user", "a"), _says("assistant", "b")]),
        (
            [{"role": "user", "parts": [{"text": "a"}]}, {"role": "user", "parts": [{"text": "b"}]}],
            [{"role": "user", "parts": [{"text": "a"}, {"text": "b"}]}],
        ),
    ],
)
def test_neighbours_of_one_role_become_one_message(messages: list[Any], expected: list[Any]) -> None:
    assert alternating(messages) == expected


@pytest.mark.parametrize("line", [wording.SUMMARY, wording.PINNED, wording.interim(7)])
def test_what_is_behind_a_line_of_ours_does_not_run_into_the_next_words(line: str) -> None:
    framed = f"{line}\n- They went."
    blocks = [{"type": "text", "text": framed}, {"type": "text", "text": "Go on."}]
    assert alternating([_says("user", framed), _says("user", "Go on.")]) == [_says("user", blocks)]


def test_tool_messages_and_items_without_a_role_stay_apart() -> None:
    messages = [{"role": "tool", "tool_call_id": "a", "content": "1"}, {"role": "tool", "tool_call_id": "b"}]
    items = [{"type": "reasoning"}, {"type": "reasoning"}]
    assert alternating([*messages, *items]) == [*messages, *items]


def test_a_message_with_calls_stays_the_last_before_their_results() -> None:
    thinks = _says("assistant", "let me see")
    calls = _says("assistant", None, tool_calls=[{"id": "c"}])
    assert alternating([thinks, calls]) == [_says("assistant", "let me see", tool_calls=[{"id": "c"}])]
    assert alternating([calls, thinks]) == [calls, thinks]


def test_what_it_is_given_stays_as_it_was() -> None:
    first = _says("user", [BOLD])
    alternating([first, _says("user", "b")])
    assert first == _says("user", [BOLD])
