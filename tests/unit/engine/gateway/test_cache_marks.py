"""Where the marks for a provider's cache stand in a view."""

from __future__ import annotations

from typing import Any

from foldline.engine.formats import FORMATS
from foldline.engine.gateway.cache_marks import MARK, MOST_MARKS, marks_in, without_marks
from foldline.engine.gateway.dialects import DIALECTS, understood
from foldline.engine.messages import Message, Text, user
from foldline.engine.wire import dumps, loads
from foldline.engine.wording import SUMMARY

ANTHROPIC = next(dialect for dialect in DIALECTS if dialect.format == "anthropic")
MARKED = {MARK: {"type": "ephemeral"}}
SAID = [user(f"{SUMMARY}\n\nIt began."), Message("assistant", (Text("So far."),)), user("Go on."), user("And on.")]
VIEW = [dumps(wire) for wire in FORMATS["anthropic"].render(SAID, None).messages]


def with_view(asked: dict[str, Any]) -> Any:
    return loads(understood(ANTHROPIC, asked, marks_in(dumps(asked))).showing(VIEW).json())


def shown(*, marks_before: int, is_marked: bool = True) -> list[Any]:
    """The messages of a request of which a view took the place."""
    last = {"type": "text", "text": "Go on.", **(MARKED if is_marked else {})}
    system = [{"type": "text", "text": str(at), **MARKED} for at in range(marks_before)]
    asked = {"model": "m", "system": system, "messages": [{"role": "user", "content": [last]}]}
    messages: list[Any] = with_view(asked)["messages"]
    return messages


def marked(messages: list[Any]) -> list[int]:
    return [at for at, wire in enumerate(messages) if MARK in str(wire["content"])]


def test_the_callers_mark_stands_at_the_end_and_behind_the_summary() -> None:
    messages = shown(marks_before=2)
    assert marked(messages) == [0, len(messages) - 1]
    assert messages[-1]["content"][-1][MARK] == MARKED[MARK]


def test_no_request_gets_more_marks_than_its_provider_takes() -> None:
    messages = shown(marks_before=MOST_MARKS - 1)
    assert marked(messages) == [len(messages) - 1]


def test_marks_count_wherever_they_are() -> None:
    last = {"type": "text", "text": "Go on.", **MARKED}
    fixed = {
        "model": "m",
        **MARKED,
        "tools": [{"function": {"name": "f", **MARKED}}],
        "system": [{"text": "s", **MARKED}],
    }
    asked = {**fixed, "messages": [{"role": "user", "content": [last]}]}
    body = with_view(asked)
    assert marks_in(dumps(body)) == MOST_MARKS
    assert marked(body["messages"]) == [len(body["messages"]) - 1]


def test_a_caller_without_marks_gets_none() -> None:
    assert marked(shown(marks_before=0, is_marked=False)) == []


def test_a_mark_in_a_tools_result_is_no_part_of_what_was_said() -> None:
    said = {"type": "text", "text": "one"}
    result = {"type": "tool_result", "tool_use_id": "a", "content": [said, {**said, **MARKED}]}
    wires = [{"role": "user", "content": [result, {**result, **MARKED}]}, {"role": "user", "content": [said]}]
    plain, taken = without_marks(wires)
    assert plain[0]["content"] == [{**result, "content": [said, said]}] * 2
    assert (plain[1] is wires[1], taken) == (True, [MARKED[MARK]] * 3)
