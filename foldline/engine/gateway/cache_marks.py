"""Marks for a provider's cache: agents move theirs to the end with each request, so none is part of what was said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from foldline.engine.formats.contract import Wire
from foldline.engine.messages import JsonObject
from foldline.engine.wire import dumps
from foldline.engine.wording import SUMMARY

MARK: Final = "cache_control"
# As it stands in JSON; in a text, its quotation marks are escaped.
_KEY: Final = b'"%s":' % MARK.encode()
# Anthropic refuses a request with more.
MOST_MARKS: Final = 4
# Summaries are among a view's first messages.
LEADING: Final = 16


def without_marks(wires: Sequence[Any]) -> tuple[list[Any], JsonObject | None]:
    """The wire messages without marks, and the last of these. Messages without one are the same objects."""
    plain: list[Any] = []
    last: JsonObject | None = None
    for wire in wires:
        blocks = wire.get("content") if isinstance(wire, dict) else None
        marked = [block for block in blocks if _mark_of(block)] if isinstance(blocks, list) else []
        if marked and isinstance(blocks, list):
            last = _mark_of(marked[-1])
            unmarked = [_without(block) if _mark_of(block) else block for block in blocks]
            plain.append({**wire, "content": unmarked})
        else:
            plain.append(wire)
    return plain, last


def _mark_of(block: Any) -> JsonObject | None:
    mark = block.get(MARK) if isinstance(block, dict) else None
    return mark if isinstance(mark, dict) else None


def _without(block: JsonObject) -> dict[str, Any]:
    return {name: value for name, value in block.items() if name != MARK}


def has_room(body: JsonObject) -> bool:
    """Whether a request may have one more mark, wherever its marks are."""
    return dumps(body).count(_KEY) < MOST_MARKS


def marked_as(wires: Sequence[Wire], mark: JsonObject | None) -> list[Wire]:
    """The messages with this mark on the last block that may carry one."""
    return [*wires[:-1], _with_mark(wires[-1], mark)] if mark is not None and wires else list(wires)


def with_summary_marked(wires: Sequence[Wire], mark: JsonObject) -> list[Wire]:
    """The messages with this mark behind the newest summary too.

    What follows a summary may change with the next compaction: what is before it is then in the cache.
    """
    marked = list(wires)
    places = [place for place, wire in enumerate(wires[:LEADING]) if _has_summary(wire.get("content"))]
    for place in places[-1:]:
        marked[place] = _with_mark(marked[place], mark)
    return marked


def _has_summary(content: Any) -> bool:
    if isinstance(content, list):
        return any(isinstance(block, dict) and _has_summary(block.get("text")) for block in content)
    return isinstance(content, str) and content.startswith(SUMMARY)


def _with_mark(wire: Wire, mark: JsonObject) -> Wire:
    content = wire.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else list(content or ())
    if not blocks or not isinstance(blocks[-1], Mapping):
        return wire
    return {**wire, "content": [*blocks[:-1], {**blocks[-1], MARK: mark}]}
