"""Marks for a provider's cache: agents move theirs to the end with each request, so none is part of what was said."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from foldline.engine.formats.contract import Wire
from foldline.engine.messages import JsonObject
from foldline.engine.wire import dumps, loads
from foldline.engine.wording import SUMMARY

MARK: Final = "cache_control"
# As it stands in JSON; in a text, its quotation marks are escaped.
_KEY: Final = b'"%s":' % MARK.encode()
_SUMMARY: Final = dumps(SUMMARY)[1:-1]
# Anthropic refuses a request with more.
MOST_MARKS: Final = 4
# Summaries are among a view's first messages.
LEADING: Final = 16


def marks_in(body: bytes) -> int:
    """The number of marks in a request, wherever they are."""
    return body.count(_KEY)


def without_marks(wires: Sequence[Any]) -> tuple[list[Any], list[JsonObject]]:
    """The wire messages without marks, and these. Messages without one are the same objects.

    Blocks have marks, and so have the blocks in a tool's result.
    """
    taken: list[JsonObject] = []

    def unmarked(block: Any) -> Any:
        mark = _mark_of(block)
        if not mark:
            return block
        taken.append(mark)
        return _without(block)

    def plain(block: Any) -> Any:
        return unmarked(_with_blocks(block, unmarked))

    return [_with_blocks(wire, plain) for wire in wires], taken


def _with_blocks(wire: Any, changed: Callable[[Any], Any]) -> Any:
    """A message or a block with the blocks in it changed; the same object if each stays the same."""
    blocks = wire.get("content") if isinstance(wire, dict) else None
    if not isinstance(blocks, list):
        return wire
    others = [changed(block) for block in blocks]
    return wire if all(map(operator.is_, others, blocks)) else {**wire, "content": others}


def _mark_of(block: Any) -> JsonObject | None:
    mark = block.get(MARK) if isinstance(block, dict) else None
    return mark if isinstance(mark, dict) else None


def _without(block: JsonObject) -> dict[str, Any]:
    return {name: value for name, value in block.items() if name != MARK}


def with_last_marked(wires: Sequence[bytes], mark: JsonObject) -> list[bytes]:
    """The messages, each as JSON, with this mark on the last block of the last of them."""
    return [*wires[:-1], *(_with_mark(loads(wire), mark) for wire in wires[-1:])]


def with_summary_marked(wires: Sequence[bytes], mark: JsonObject) -> list[bytes]:
    """The messages, each as JSON, with this mark behind the newest summary too.

    What follows a summary may change with the next compaction: what is before it is then in the cache.
    """
    marked = list(wires)
    candidates = [(place, loads(wire)) for place, wire in enumerate(wires[:LEADING]) if _SUMMARY in wire]
    places = [(place, wire) for place, wire in candidates if _has_summary(wire.get("content"))]
    for place, wire in places[-1:]:
        marked[place] = _with_mark(wire, mark)
    return marked


def _has_summary(content: Any) -> bool:
    if isinstance(content, list):
        return any(isinstance(block, dict) and _has_summary(block.get("text")) for block in content)
    return isinstance(content, str) and content.startswith(SUMMARY)


def _with_mark(wire: Wire, mark: JsonObject) -> bytes:
    content = wire.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else list(content or ())
    if not blocks or not isinstance(blocks[-1], Mapping):
        return dumps(wire)
    return dumps({**wire, "content": [*blocks[:-1], {**blocks[-1], MARK: mark}]})
