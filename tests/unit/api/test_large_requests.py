"""What makes a request large: its bytes, its messages or its other objects."""

from __future__ import annotations

import pytest
from foldline_api.http.bounds.pieces import Pieces
from foldline_api.http.bounds.places import MANY, MANY_OF_CONVERSATION, Places

from foldline.engine.wire import dumps
from foldline.settings import Settings

PLACES = Places(Settings(large_request_bytes=20_000))


def body(messages: int, content: object = "x") -> bytes:
    return dumps({"messages": [{"role": "user", "content": content}] * messages})


def in_pieces(raw: bytes) -> Pieces:
    found = Pieces()
    for at in range(0, len(raw), 100):
        found.add(raw[at : at + 100])
    return found


@pytest.mark.parametrize(
    ("raw", "is_large"),
    [
        (body(MANY.messages), False),
        (body(MANY.messages + 1), True),
        (body(1, "x" * 20_000), True),
        (dumps({"messages": [{"type": "function_call", "call_id": "c"}] * (MANY.messages + 1)}), True),
        # A file of source code, which quotes a request.
        (body(1, 'if (a) { return "role"; }\n' * 400), False),
        (body(1, [{"type": "text", "text": "x"}] * MANY.objects), True),
    ],
)
def test_what_makes_an_append_large(raw: bytes, *, is_large: bool) -> None:
    assert PLACES.is_large(in_pieces(raw)) is is_large


def test_a_conversation_may_have_more_messages() -> None:
    assert not PLACES.is_large(in_pieces(body(MANY_OF_CONVERSATION.messages)), MANY_OF_CONVERSATION)
    assert PLACES.is_large(in_pieces(body(MANY_OF_CONVERSATION.messages + 1)), MANY_OF_CONVERSATION)
