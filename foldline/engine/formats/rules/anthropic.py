"""The rules of Anthropic's Messages API for the messages of a request."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
HOMES = {
    "image": "user",
    "tool_result": "user",
    "tool_use": "assistant",
    "thinking": "assistant",
    "redacted_thinking": "assistant",
}


def violations(messages: list[dict[str, Any]], system: Any) -> list[str]:
    """What is wrong with the messages and the system prompt."""
    return [*_serializing(messages), *_system(system), *_shapes(messages), *_ids(messages), *_pairs(messages)]


def _serializing(messages: list[dict[str, Any]]) -> Iterator[str]:
    try:
        json.dumps(messages, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        yield f"messages: not JSON: {error}"


def _system(system: Any) -> Iterator[str]:
    if isinstance(system, list):
        if not all(isinstance(block, dict) and block.get("type") == "text" and block.get("text") for block in system):
            yield "system: a block is not a text"
    elif system is not None and not isinstance(system, str):
        yield "system: neither a string nor text blocks"


def _shapes(messages: list[dict[str, Any]]) -> Iterator[str]:
    if messages and messages[0].get("role") != "user" and not _is_compaction(messages[0]):
        yield "messages[0].role: the first message is neither the user's nor a compaction block"
    for index, message in enumerate(messages):
        where = f"messages[{index}]"
        role, content = message.get("role"), message.get("content")
        if role not in {"user", "assistant", "system"}:
            yield f"{where}.role: {role!r} is not a role"
        before, after = messages[index - 1 : index] or [{}], messages[index + 1 : index + 2]
        if role == "system" and (before[0].get("role") != "user" or any(m.get("role") != "assistant" for m in after)):
            yield f"{where}.role: a system message follows a user message and ends the turn"
        if not isinstance(content, str | list) or not content or (isinstance(content, str) and not content.strip()):
            yield f"{where}.content: empty, or neither a string nor a list"
        for position, block in enumerate(_blocks(message)):
            yield from _block(block, role, f"{where}.content[{position}]")


def _is_compaction(message: dict[str, Any]) -> bool:
    """Whether a message begins with a summary of the API's own."""
    return [isinstance(block, dict) and block.get("type") for block in _blocks(message)[:1]] == ["compaction"]


def _blocks(message: dict[str, Any]) -> list[Any]:
    content = message.get("content")
    return content if isinstance(content, list) else []


def _block(block: Any, role: Any, where: str) -> Iterator[str]:
    kind = block.get("type") if isinstance(block, dict) else None
    if not isinstance(kind, str):
        yield f"{where}.type: missing"
        return
    if HOMES.get(kind, role) != role:
        yield f"{where}: {kind} in a message of role {role}"
    check = _BLOCKS.get(kind)
    if check is not None:
        yield from check(block, where)


def _text(block: dict[str, Any], where: str) -> Iterator[str]:
    if not isinstance(block.get("text"), str) or not block["text"].strip():
        yield f"{where}.text: empty"


def _image(block: dict[str, Any], where: str) -> Iterator[str]:
    if not isinstance(block.get("source"), dict):
        yield f"{where}.source: missing"


def _thinking(block: dict[str, Any], where: str) -> Iterator[str]:
    if not isinstance(block.get("signature"), str) or not block["signature"]:
        yield f"{where}.signature: missing"


def _tool_use(block: dict[str, Any], where: str) -> Iterator[str]:
    if not isinstance(block.get("input"), dict):
        yield f"{where}.input: not an object"
    if not isinstance(block.get("name"), str) or not NAME.fullmatch(block["name"]):
        yield f"{where}.name: not a string that matches the pattern"


def _tool_result(block: dict[str, Any], where: str) -> Iterator[str]:
    content = block.get("content")
    if isinstance(content, list):
        for index, part in enumerate(content):
            yield from _block(part, "user", f"{where}.content[{index}]")
    elif content is not None and not isinstance(content, str):
        yield f"{where}.content: neither a string nor a list"


_BLOCKS: Mapping[str, Callable[[dict[str, Any], str], Iterator[str]]] = {
    "text": _text,
    "image": _image,
    "thinking": _thinking,
    "tool_use": _tool_use,
    "tool_result": _tool_result,
}


def _ids(messages: list[dict[str, Any]]) -> Iterator[str]:
    seen: set[str] = set()
    for index, message in enumerate(messages):
        for call_id in _named(message, "tool_use", "id"):
            if not isinstance(call_id, str) or not ID.fullmatch(call_id):
                yield f"messages[{index}]: the call id {call_id!r} does not match the pattern"
            elif call_id in seen:
                yield f"messages[{index}]: the call id {call_id!r} was used before"
            else:
                seen.add(call_id)


def _pairs(messages: list[dict[str, Any]]) -> Iterator[str]:
    """Each call is answered once at the start of the next message, and nothing else is answered there."""
    open_ids: list[Any] = []
    for index, message in enumerate(messages):
        where = f"messages[{index}]"
        answers = list(_named(message, "tool_result", "tool_use_id"))
        first = [isinstance(block, dict) and block.get("type") for block in _blocks(message)[: len(answers)]]
        if any(kind != "tool_result" for kind in first):
            yield f"{where}: a tool result comes after other content"
        yield from (f"{where}: {call_id!r} answers no call" for call_id in answers if call_id not in open_ids)
        yield from (f"{where}: {call_id!r} is not answered once" for call_id in open_ids if answers.count(call_id) != 1)
        open_ids = list(_named(message, "tool_use", "id"))
    if open_ids:
        yield f"messages: the last calls {open_ids} have no result"


def _named(message: dict[str, Any], kind: str, key: str) -> Iterator[Any]:
    for block in _blocks(message):
        if isinstance(block, dict) and block.get("type") == kind:
            yield block.get(key)
