from typing import Any

import pytest

from foldline.engine.formats import FORMATS, detect


@pytest.mark.parametrize(
    ("messages", "name"),
    [
        ([], "openai"),
        ([{"role": "user", "content": "hi"}], "openai"),
        ([None, 3, {"content": [None, {"type": []}]}], "openai"),
        ([{"role": "user", "content": "hi"}, {"role": "assistant", "content": [{"type": "tool_use"}]}], "anthropic"),
        ([{"role": "user", "content": [{"type": "text"}, {"type": "image", "source": {}}]}], "anthropic"),
        ([{"role": "user", "content": [{"type": "image_url"}]}, {"content": [{"type": "tool_use"}]}], "openai"),
        ([{"role": "tool", "tool_call_id": "c", "content": [{"type": "image"}]}], "openai"),
        ([{"role": "user", "parts": []}], "native"),
        (
            [{"role": "assistant", "content": [{"type": "server_tool_use"}, {"type": "web_search_tool_result"}]}],
            "anthropic",
        ),
        ([{"role": "assistant", "content": [{"type": "compaction", "content": "so far"}]}], "anthropic"),
        ([{"role": "assistant", "content": None, "audio": {"id": "a"}}], "openai"),
        ([{"role": "assistant", "content": "x", "reasoning_details": []}], "openai"),
        ([{"role": "assistant", "parts": [], "tool_calls": []}], "native"),
        ([{"role": "user", "content": "hi"}, {"type": "function_call", "call_id": "c"}], "responses"),
        ([{"role": "user", "content": [{"type": "input_image", "file_id": "f"}]}], "responses"),
        ([{"type": "message", "role": "assistant", "content": [{"type": "output_text"}]}], "responses"),
        ([{"type": "message", "role": "assistant", "content": [{"type": "tool_use"}]}], "anthropic"),
        ([{"items": [{"type": "reasoning"}]}], "responses"),
    ],
)
def test_the_first_clear_sign_decides(messages: list[Any], name: str) -> None:
    assert detect(messages) == name


def test_no_two_formats_have_a_sign_in_common() -> None:
    """Else the table's later row would win, and nobody would notice."""
    for kind in ("keys", "types", "part_types", "roles", "part_keys"):
        signs = [sign for format_ in FORMATS.values() for sign in getattr(format_.signs, kind)]
        assert len(signs) == len(set(signs))
