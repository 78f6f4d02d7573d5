"""What agents leave out of what they send back is no part of a fingerprint."""

from __future__ import annotations

from typing import Any

import pytest

from foldline.engine.formats import FORMATS
from foldline.engine.gateway.fingerprints import beginning, fingerprints

CALL = {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}}
THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "c2lnbmVk"}


def digest_of(format_name: str, message: dict[str, Any]) -> bytes | None:
    (digest,) = fingerprints(FORMATS[format_name].parse([message]), beginning(""))
    return digest


@pytest.mark.parametrize("blocks", [[{"type": "text", "text": "\n\n"}, CALL], [THOUGHT, CALL]])
def test_a_call_is_the_same_without_blank_text_or_reasoning_before_it(blocks: list[Any]) -> None:
    said = [digest_of("anthropic", {"role": "assistant", "content": content}) for content in (blocks, [CALL])]
    assert said[0] == said[1] is not None


def test_a_call_without_arguments_is_one_with_none() -> None:
    said = [
        digest_of(
            "openai",
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "a", "type": "function", "function": {"name": "read", "arguments": arguments}}],
            },
        )
        for arguments in ("", "{}")
    ]
    assert said[0] == said[1] is not None


def test_a_blank_message_says_something_and_reasoning_alone_does_not() -> None:
    assert digest_of("openai", {"role": "user", "content": " "}) is not None
    assert digest_of("anthropic", {"role": "assistant", "content": [THOUGHT]}) is None
