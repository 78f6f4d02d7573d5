"""The rules of Foldline's own format for the messages of a view."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

ROLES = ("system", "developer", "user", "assistant", "tool")
STRINGS = {
    "text": ("text",),
    "thinking": ("text",),
    "tool_call": ("id", "name", "arguments"),
    "tool_result": ("call_id",),
}
HOMES = {"tool_call": "assistant", "thinking": "assistant", "tool_result": "tool"}


def violations(messages: list[dict[str, Any]], system: Any) -> list[str]:
    """What is wrong with the messages and the system prompt."""
    found = [*_serializing(messages), *_shapes(messages), *_pairs(messages)]
    if system is not None and not isinstance(system, str):
        found.append("system: not a string")
    return found


def _serializing(messages: list[dict[str, Any]]) -> Iterator[str]:
    try:
        json.dumps(messages, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        yield f"messages: not JSON: {error}"


def _shapes(messages: list[dict[str, Any]]) -> Iterator[str]:
    for index, message in enumerate(messages):
        where = f"messages[{index}]"
        role, parts = message.get("role"), message.get("parts")
        if role not in ROLES:
            yield f"{where}.role: {role!r} is not a role"
        if not isinstance(parts, list):
            yield f"{where}.parts: not a list"
            continue
        for position, part in enumerate(parts):
            yield from _part(part, role, f"{where}.parts[{position}]")
        if role == "tool" and [part.get("type") for part in parts if isinstance(part, dict)] != ["tool_result"]:
            yield f"{where}.parts: not exactly one tool_result"


def _part(part: Any, role: Any, where: str) -> Iterator[str]:
    kind = part.get("type") if isinstance(part, dict) else None
    if not isinstance(kind, str):
        yield f"{where}.type: missing"
        return
    if HOMES.get(kind, role) != role:
        yield f"{where}: {kind} in a message of role {role}"
    yield from (f"{where}.{key}: not a string" for key in STRINGS.get(kind, ()) if not isinstance(part.get(key), str))
    if kind == "image" and not (isinstance(part.get("data"), str) or isinstance(part.get("url"), str)):
        yield f"{where}: an image without data and url"
    if kind == "tool_result":
        yield from _result_content(part.get("content"), f"{where}.content")


def _result_content(content: Any, where: str) -> Iterator[str]:
    if not isinstance(content, list):
        yield f"{where}: not a list"
        return
    for index, part in enumerate(content):
        yield from _part(part, None, f"{where}[{index}]")


def _pairs(messages: list[dict[str, Any]]) -> Iterator[str]:
    open_ids: list[Any] = []
    for index, message in enumerate(messages):
        where = f"messages[{index}]"
        if message.get("role") == "tool":
            for call_id in _values(message, "tool_result", "call_id"):
                if call_id in open_ids:
                    open_ids.remove(call_id)
                else:
                    yield f"{where}: {call_id!r} answers no open call"
            continue
        if open_ids:
            yield f"{where}: the calls {open_ids} before it have no result"
        open_ids = _values(message, "tool_call", "id")
    if open_ids:
        yield f"messages: the last calls {open_ids} have no result"


def _values(message: dict[str, Any], kind: str, key: str) -> list[Any]:
    parts = message.get("parts")
    listed = parts if isinstance(parts, list) else []
    return [part.get(key) for part in listed if isinstance(part, dict) and part.get("type") == kind]
