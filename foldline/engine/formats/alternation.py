"""Strict alternation: neighbouring messages of one role joined, for providers that refuse them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from foldline.engine.wording import is_framed

_ROLES: Final = frozenset({"user", "assistant", "model"})


def alternating(messages: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rendered messages in which users and assistants take turns.

    A message joins the one before it if both have the same role, nobody's tool calls stand between, and nothing is
    lost. Items without a role stay as they are. (Bedrock's Converse and some chat templates want this.)
    """
    joined: list[dict[str, Any]] = []
    for message in messages:
        if joined and _is_continued(joined[-1], message):
            joined[-1] = _together(joined[-1], message)
        else:
            joined.append(message)
    return joined


def _is_continued(first: dict[str, Any], second: dict[str, Any]) -> bool:
    is_same = first.get("role") in _ROLES and first["role"] == second.get("role")
    return is_same and not first.get("tool_calls") and all(second[key] == first[key] for key in _others(first, second))


def _others(first: dict[str, Any], second: dict[str, Any]) -> set[str]:
    """The keys that both have beside their content: a joined message has room for one value of each."""
    return (first.keys() & second.keys()) - {"content", "parts"}


def _together(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    both = {**first, **second}
    if "parts" in both:
        return {**both, "parts": [*first["parts"], *second["parts"]]}
    contents = [content for content in (first.get("content"), second.get("content")) if content]
    # Behind a frame of ours, nothing would say where its text ends and another's words begin.
    if all(isinstance(content, str) and not is_framed(content) for content in contents):
        return {**both, "content": "\n\n".join(contents) or second.get("content")}
    return {**both, "content": [block for content in contents for block in _blocks(content)]}


def _blocks(content: str | list[Any]) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content
