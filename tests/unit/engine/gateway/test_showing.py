"""What takes the place of an agent's conversation keeps to what its provider took before."""

from __future__ import annotations

from typing import Any

import pytest

from foldline.engine import wording
from foldline.engine.gateway.dialects import DIALECTS, understood
from foldline.engine.wire import dumps, loads

USER, ANSWER = {"role": "user", "content": "Go on."}, {"role": "assistant", "content": "Yes."}
CALL: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1"}]}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "ok"}
SUMMARY = {"role": "user", "content": "The summary."}


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ([USER, CALL, RESULT, ANSWER, USER], [{**USER, "content": "Go on.\n\nThe summary."}, ANSWER, USER]),
        ([USER, USER, ANSWER, USER], [USER, SUMMARY, ANSWER, USER]),
        ([USER, ANSWER, ANSWER, USER], [USER, SUMMARY, ANSWER, USER]),
    ],
)
def test_roles_take_turns_in_openais_format_where_they_did(said: list[Any], shown: list[Any]) -> None:
    view = [USER, SUMMARY, ANSWER, USER]
    anthropic, openai, responses = (understood(dialect, {"model": "m", dialect.messages: said}) for dialect in DIALECTS)
    assert loads(openai.showing([*map(dumps, view)]).json())["messages"] == shown
    for other in (anthropic, responses):
        assert loads(other.showing([*map(dumps, view)]).json())[other.dialect.messages] == view


def test_a_mark_behind_a_summary_stays_where_messages_are_joined() -> None:
    mark = {"type": "ephemeral"}
    marked = {"role": "user", "content": [{"type": "text", "text": "Go on.", "cache_control": mark}]}
    asked = understood(DIALECTS[1], {"model": "m", "messages": [ANSWER, marked]}, 1)
    summary = {"role": "user", "content": f"{wording.SUMMARY}\n\n- They went."}
    first, last = loads(asked.showing([*map(dumps, [summary, USER, ANSWER, USER])]).json())["messages"][::2]
    assert [block.get("cache_control") for block in (*first["content"], *last["content"])] == [mark, None, mark]
