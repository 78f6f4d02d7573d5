"""The rules of OpenAI's Chat Completions API for the messages of a request."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

MAX_ID = 64
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
ROLES = ("system", "developer", "user", "assistant", "tool")


def violations(messages: list[dict[str, Any]], system: Any) -> list[str]:
    """What is wrong with the messages; a given `system` must be the first of them."""
    return [*_serializing(messages), *_system(messages, system), *_shapes(messages), *_pairs(messages)]


def _serializing(messages: list[dict[str, Any]]) -> Iterator[str]:
    try:
        json.dumps(messages, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        yield f"messages: not JSON: {error}"


def _system(messages: list[dict[str, Any]], system: Any) -> Iterator[str]:
    if system is not None and not isinstance(system, str):
        yield "system: not a string"
    elif system and messages[:1] != [{"role": "system", "content": system}]:
        yield "messages[0]: not the system prompt"


def _shapes(messages: list[dict[str, Any]]) -> Iterator[str]:
    for index, message in enumerate(messages):
        where = f"messages[{index}]"
        role = message.get("role")
        if role not in ROLES:
            yield f"{where}.role: {role!r} is not a role"
            continue
        yield from _content(message, role, f"{where}.content")
        if role == "assistant":
            yield from _tool_calls(message, f"{where}.tool_calls")
        elif "tool_calls" in message:
            yield f"{where}.tool_calls: only an assistant message has them"


def _content(message: dict[str, Any], role: str, where: str) -> Iterator[str]:
    content = message.get("content")
    if content is None:
        if role != "assistant" or not (message.get("tool_calls") or message.get("audio")):
            yield f"{where}: missing"
    elif isinstance(content, list):
        if not content:
            yield f"{where}: an empty list"
        for index, part in enumerate(content):
            yield from _part(part, role, f"{where}[{index}]")
    elif not isinstance(content, str):
        yield f"{where}: neither a string nor a list"


def _part(part: Any, role: str, where: str) -> Iterator[str]:
    kind = part.get("type") if isinstance(part, dict) else None
    if not isinstance(kind, str):
        yield f"{where}.type: missing"
    elif kind == "text" and not isinstance(part.get("text"), str):
        yield f"{where}.text: not a string"
    elif kind == "image_url":
        image = part.get("image_url")
        if role != "user":
            yield f"{where}: an image in a message of role {role}"
        if not isinstance(image, dict) or not isinstance(image.get("url"), str):
            yield f"{where}.image_url.url: not a string"


def _tool_calls(message: dict[str, Any], where: str) -> Iterator[str]:
    calls = message.get("tool_calls")
    if calls is None:
        return
    if not isinstance(calls, list) or not calls:
        yield f"{where}: not a list with calls"
        return
    for index, call in enumerate(calls):
        yield from _call(call, f"{where}[{index}]")


def _call(call: Any, where: str) -> Iterator[str]:
    if not isinstance(call, dict) or call.get("type") not in {"function", "custom"}:
        yield f"{where}.type: neither function nor custom"
        return
    kind = call["type"]
    body = call.get(kind)
    if not isinstance(call.get("id"), str) or not 0 < len(call["id"]) <= MAX_ID:
        yield f"{where}.id: not a string of 1 to {MAX_ID} characters"
    if not isinstance(body, dict) or not isinstance(body.get("name"), str):
        yield f"{where}.{kind}.name: not a string"
    elif not NAME.fullmatch(body["name"]):
        yield f"{where}.{kind}.name: {body['name']!r} does not match the pattern"
    elif not isinstance(body.get("arguments" if kind == "function" else "input"), str):
        yield f"{where}.{kind}: arguments are not a string"


def _pairs(messages: list[dict[str, Any]]) -> Iterator[str]:
    """Each call is answered once in the block of tool messages right after it, and nothing else is in there."""
    open_ids: list[Any] = []
    for index, message in enumerate(messages):
        where = f"messages[{index}]"
        if message.get("role") == "tool":
            call_id = message.get("tool_call_id")
            if call_id in open_ids:
                open_ids.remove(call_id)
            else:
                yield f"{where}.tool_call_id: {call_id!r} is no open call of the message before"
            continue
        if open_ids:
            yield f"{where}: the calls {open_ids} before it have no result"
        open_ids = [call.get("id") for call in message.get("tool_calls") or [] if isinstance(call, dict)]
        if len(set(map(repr, open_ids))) < len(open_ids):
            yield f"{where}.tool_calls: an id is used twice"
    if open_ids:
        yield f"messages: the last calls {open_ids} have no result"
