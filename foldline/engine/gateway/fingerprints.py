"""Fingerprints: a hash for each message of all that was said up to it, by which a conversation is recognised.

Agents send back what was said in their own way. So ids, marks, reasoning, whitespace at the ends, and the order of keys
are no part of it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

import orjson

from foldline.engine.gateway.cache_marks import MARK
from foldline.engine.messages import SEALED_KINDS, Image, Message, Other, Part, Text, Thinking, ToolCall, ToolResult
from foldline.engine.wire import loads

BYTES: Final = 16
# Fields of unknown parts that differ from one request to the next.
_PASSING: Final = frozenset({"id", MARK, "status"})


def beginning(scope: str) -> bytes:
    """What comes before the first message: `scope` keeps conversations apart that say the same.

    It may be an agent's id of its conversation.
    """
    return hashlib.blake2b(scope.encode("utf-8", "surrogatepass"), digest_size=BYTES).digest()


def fingerprints(messages: Sequence[Message], before: bytes) -> list[bytes | None]:
    """One for each message, in order; None for a message with nothing but reasoning.

    `before` is the fingerprint of what was said before them.
    """
    digest = before
    found: list[bytes | None] = []
    for message in messages:
        said = [part for part in map(_said, message.parts) if part is not None]
        if not said and any(isinstance(part, Text) for part in message.parts):
            said = [""]
        if not said and message.parts:
            found.append(None)
            continue
        digest = hashlib.blake2b(digest + _canonical([message.role, said]), digest_size=BYTES).digest()
        found.append(digest)
    return found


def _said(part: Part) -> Any:
    """What a part says, as a value that is the same whenever it is said again; None for reasoning and blank text."""
    match part:
        case Text():
            return part.text.strip() or None
        case ToolCall():
            return ["call", part.name, _arguments(part.arguments)]
        case ToolResult():
            return ["result", [said for said in map(_said, part.content) if said]]
        case Image():
            return ["image", part.url, part.data]
        case Thinking():
            return None
        case Other():
            return None if part.kind in SEALED_KINDS else [part.kind, dict(_lasting(part))]


def _lasting(part: Other) -> Iterator[tuple[str, Any]]:
    return ((name, value) for name, value in part.source.items() if name not in _PASSING)


def _arguments(text: str) -> Any:
    try:
        return loads(text or "{}")
    except ValueError:
        return text.strip()


def _canonical(value: Any) -> bytes:
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        # A lone surrogate, or a number that orjson does not take.
        return json.dumps(value, sort_keys=True).encode()
