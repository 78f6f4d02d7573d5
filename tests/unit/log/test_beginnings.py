"""Beginnings: a request is read from where the last one ended, and nobody can see that in what was read."""

from __future__ import annotations

from typing import Any

import pytest

from foldline.engine.gateway.dialects import DIALECTS, AgentRequest, Dialect, understood
from foldline.log.gateway.beginnings import Beginnings, Conversation, read

BY_FORMAT = {dialect.format: dialect for dialect in DIALECTS}
SAID: dict[str, list[dict[str, Any]]] = {
    "anthropic": [
        {"role": "user", "content": "Read both."},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "read", "input": {"path": "a"}}]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "is a"},
                {"type": "text", "text": "Go on.", "cache_control": {"type": "ephemeral"}},
            ],
        },
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm.", "signature": "s"}]},
        {"role": "user", "content": "Done?"},
    ],
    "openai": [{"role": ("user", "assistant")[at % 2], "content": f"part {at}"} for at in range(5)],
    "responses": [
        {"type": "message", "role": "user", "content": "Read it."},
        {"type": "reasoning", "id": "r", "summary": [], "encrypted_content": "sealed"},
        {"type": "function_call", "call_id": "a", "name": "read", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": "is a"},
        {"type": "message", "role": "user", "content": "Done?"},
    ],
}


def asked(dialect: Dialect, said: list[dict[str, Any]]) -> AgentRequest:
    return understood(dialect, {"model": "m", dialect.messages: said})


def conversation(beginnings: Beginnings, dialect: Dialect, said: list[dict[str, Any]]) -> Conversation:
    return read(beginnings, "tenant", asked(dialect, said), "scope")


@pytest.mark.parametrize("name", SAID)
def test_what_follows_a_known_beginning_is_read_as_in_the_whole(name: str) -> None:
    beginnings, dialect, said = Beginnings(1 << 20), BY_FORMAT[name], SAID[name]
    whole = conversation(Beginnings(0), dialect, said)
    for length in (1, 3, 2, len(said)):
        conversation(beginnings, dialect, said[:length])
    found = conversation(beginnings, dialect, said)
    assert found.digests == whole.digests
    for number in range(len(whole.digests) + 1):
        assert found.messages_from(number) == whole.messages_from(number)


def test_only_what_is_new_is_read() -> None:
    beginnings, dialect, said = Beginnings(1 << 20), BY_FORMAT["anthropic"], SAID["anthropic"]
    conversation(beginnings, dialect, said[:3])
    assert len(conversation(beginnings, dialect, said).newest) == 2
    assert len(conversation(beginnings, dialect, said).newest) == 0
    assert len(read(beginnings, "another", asked(dialect, said), "scope").newest) == len(said) + 1


def test_the_beginnings_take_no_more_than_they_may() -> None:
    beginnings, dialect = Beginnings(2_000), BY_FORMAT["openai"]
    for number in range(8):
        conversation(beginnings, dialect, [{"role": "user", "content": f"Task {number}."}])
    newest = [conversation(beginnings, dialect, [{"role": "user", "content": f"Task {at}."}]) for at in (7, 0)]
    assert [len(found.newest) for found in newest] == [0, 1]
