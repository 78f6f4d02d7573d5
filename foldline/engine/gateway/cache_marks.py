"""Marks for a provider's cache: agents move theirs to the end with each request, so none is part of what was said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from foldline.engine.formats.contract import Wire
from foldline.engine.messages import JsonObject

MARK: Final = "cache_control"


def without_marks(wires: Sequence[Any]) -> tuple[list[Any], JsonObject | None]:
    """The wire messages without marks, and the last of these. Messages without one are the same objects."""
    plain: list[Any] = []
    last: JsonObject | None = None
    for wire in wires:
        blocks = wire.get("content") if isinstance(wire, Mapping) else None
        marked = [block for block in blocks if _mark_of(block)] if isinstance(blocks, list) else []
        if marked and isinstance(blocks, list):
            last = _mark_of(marked[-1])
            unmarked = [_without(block) if _mark_of(block) else block for block in blocks]
            plain.append({**wire, "content": unmarked})
        else:
            plain.append(wire)
    return plain, last


def _mark_of(block: Any) -> JsonObject | None:
    mark = block.get(MARK) if isinstance(block, Mapping) else None
    return mark if isinstance(mark, Mapping) else None


def _without(block: JsonObject) -> dict[str, Any]:
    return {name: value for name, value in block.items() if name != MARK}


def marked_as(wires: Sequence[Wire], mark: JsonObject | None) -> list[Wire]:
    """The messages with this mark on the last block that may carry one."""
    marked = list(wires)
    if mark is None or not marked:
        return marked
    content = marked[-1].get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else list(content or ())
    if blocks and isinstance(blocks[-1], Mapping):
        marked[-1] = {**marked[-1], "content": [*blocks[:-1], {**blocks[-1], MARK: mark}]}
    return marked
