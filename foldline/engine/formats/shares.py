"""Splits a user message that carries tool results: one canonical message for each result, and one for all the rest."""

from __future__ import annotations

from typing import Any

from foldline.engine.messages import Message, Part, ToolResult


def shares(wire: dict[str, Any], parts: tuple[Part, ...], format_name: str, key: str) -> list[Message]:
    """The messages of `wire`, whose parts under `key` have these canonical ones; at least one is a result.

    Each message has its share of `wire` as its source; that of the first has the other keys of `wire` too.
    """
    rest = tuple(part for part in parts if not isinstance(part, ToolResult))
    groups: list[tuple[Part, ...]] = [(part,) for part in parts if isinstance(part, ToolResult)]
    if rest:
        groups.append(rest)
    if len(groups) == 1:
        return [Message("tool", parts, format_name, wire)]
    messages = []
    for index, group in enumerate(groups):
        frame = {"role": "user"} if index else wire
        share = {**frame, key: [part.source for part in group]}
        messages.append(Message("user" if group is rest else "tool", group, format_name, share, joined=index > 0))
    return messages
