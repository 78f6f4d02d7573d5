"""The rules of OpenAI's Responses API for the items of a request.

Reasoning and what it led to belong together as the API enforces it: "Item of type 'reasoning' was provided without its
required following item". It also refuses an item whose id it knows without its reasoning; no item shows that by itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

MAX_ID = 64
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
ROLES = ("user", "assistant", "system", "developer")
# What a call's item must have, besides its id: the key, and the type of its value.
CALLS: Mapping[str, Mapping[str, type]] = {
    "function_call": {"name": str, "arguments": str},
    "custom_tool_call": {"name": str, "input": str},
    "shell_call": {"action": dict},
    "local_shell_call": {"action": dict, "id": str},
    "apply_patch_call": {"operation": dict},
    "computer_call": {"id": str},
    "mcp_approval_request": {"id": str, "name": str, "arguments": str},
}
# The type of the call that an output answers, and the types its content may have.
OUTPUTS: Mapping[str, tuple[str, str, tuple[type, ...]]] = {
    "function_call_output": ("function_call", "output", (str, list)),
    "custom_tool_call_output": ("custom_tool_call", "output", (str, list)),
    "shell_call_output": ("shell_call", "output", (list,)),
    "local_shell_call_output": ("local_shell_call", "output", (str,)),
    "apply_patch_call_output": ("apply_patch_call", "status", (str,)),
    "computer_call_output": ("computer_call", "output", (dict,)),
    "mcp_approval_response": ("mcp_approval_request", "approve", (bool,)),
}
# Items of the server that are taken only with their id.
HOSTED = ("file_search_call", "code_interpreter_call", "image_generation_call", "mcp_call", "mcp_list_tools")
# Items of the client's: reasoning leads to none of them.
OF_THE_CLIENT = (*OUTPUTS, "additional_tools", "configuration_update", "compaction_trigger")
PART_KEYS = {"input_text": "text", "output_text": "text", "refusal": "refusal"}


def violations(messages: list[dict[str, Any]], system: Any) -> list[str]:
    """What is wrong with the items and the instructions."""
    found = [*_serializing(messages), *_shapes(messages), *_ids(messages), *_reasoning(messages), *_pairs(messages)]
    if system is not None and not isinstance(system, str):
        found.append("instructions: not a string")
    return found


def _serializing(items: list[dict[str, Any]]) -> Iterator[str]:
    try:
        json.dumps(items, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        yield f"input: not JSON: {error}"


def _kind(item: dict[str, Any]) -> Any:
    return item.get("type", "message")


def _shapes(items: list[dict[str, Any]]) -> Iterator[str]:
    for index, item in enumerate(items):
        where, kind = f"input[{index}]", _kind(item)
        if not isinstance(kind, str):
            yield f"{where}.type: not a string"
        elif kind == "message":
            yield from _message(item, where)
        elif kind == "reasoning" and not isinstance(item.get("summary"), list):
            yield f"{where}.summary: missing"
        elif kind in HOSTED and not isinstance(item.get("id"), str):
            yield f"{where}.id: missing"
        elif kind in CALLS:
            yield from _call(item, CALLS[kind], where)
        elif kind in OUTPUTS:
            yield from _output(item, where)


def _message(item: dict[str, Any], where: str) -> Iterator[str]:
    role, content = item.get("role"), item.get("content")
    if role not in ROLES:
        yield f"{where}.role: {role!r} is not a role"
    if isinstance(content, list):
        if not content and role != "assistant":
            yield f"{where}.content: an empty list"
        for index, part in enumerate(content):
            yield from _part(part, role, f"{where}.content[{index}]")
    elif not isinstance(content, str):
        yield f"{where}.content: neither a string nor a list"


def _part(part: Any, role: Any, where: str) -> Iterator[str]:
    kind = part.get("type") if isinstance(part, dict) else None
    if not isinstance(kind, str):
        yield f"{where}.type: missing"
    elif kind in PART_KEYS and not isinstance(part.get(PART_KEYS[kind]), str):
        yield f"{where}.{PART_KEYS[kind]}: not a string"
    elif kind == "input_text" and role == "assistant":
        yield f"{where}: input_text of the assistant"
    elif kind in {"output_text", "refusal"} and role != "assistant":
        yield f"{where}: {kind} of {role}"
    elif kind == "input_image":
        if role not in {"user", None}:
            yield f"{where}: an image of {role}"
        if not isinstance(part.get("image_url") or part.get("file_id"), str):
            yield f"{where}: an image without URL and file"


def _call(item: dict[str, Any], keys: Mapping[str, type], where: str) -> Iterator[str]:
    yield from (f"{where}.{key}: missing" for key, type_ in keys.items() if not isinstance(item.get(key), type_))
    if isinstance(item.get("name"), str) and not NAME.fullmatch(item["name"]):
        yield f"{where}.name: {item['name']!r} does not match the pattern"


def _output(item: dict[str, Any], where: str) -> Iterator[str]:
    _, key, types = OUTPUTS[item["type"]]
    content = item.get(key)
    if not isinstance(content, types):
        yield f"{where}.{key}: missing, or of a wrong type"
    elif isinstance(content, list) and item["type"] != "shell_call_output":
        for index, part in enumerate(content):
            yield from _part(part, None, f"{where}.{key}[{index}]")


def _ids(items: list[dict[str, Any]]) -> Iterator[str]:
    seen: set[str] = set()
    for index, item in enumerate(items):
        item_id = item.get("id")
        if item_id is None or (item.get("type") == "local_shell_call_output" and "call_id" not in item):
            continue
        if not isinstance(item_id, str):
            yield f"input[{index}].id: not a string"
        elif item_id in seen:
            yield f"input[{index}].id: {item_id!r} is the id of an earlier item"
        else:
            seen.add(item_id)


def _reasoning(items: list[dict[str, Any]]) -> Iterator[str]:
    """Reasoning comes right before an item of the model."""
    for index, item in enumerate(items):
        if _kind(item) != "reasoning":
            continue
        following = next((other for other in items[index + 1 :] if _kind(other) != "reasoning"), None)
        if following is None or not _is_of_the_model(following):
            yield f"input[{index}]: reasoning without the item it led to"


def _is_of_the_model(item: dict[str, Any]) -> bool:
    return item.get("role") == "assistant" if _kind(item) == "message" else _kind(item) not in OF_THE_CLIENT


def _pairs(items: list[dict[str, Any]]) -> Iterator[str]:
    """Each call has an id of its own and one answer after it; nothing else is answered."""
    calls: dict[Any, Any] = {}
    answered: set[Any] = set()
    for index, item in enumerate(items):
        where, kind = f"input[{index}]", _kind(item)
        if kind in CALLS:
            call_id = item.get("id" if kind == "mcp_approval_request" else "call_id")
            if not isinstance(call_id, str) or not 0 < len(call_id) <= MAX_ID:
                yield f"{where}: the call's id is not a string of 1 to {MAX_ID} characters"
            elif repr(call_id) in calls:
                yield f"{where}: the call's id {call_id!r} was used before"
            calls[repr(call_id)] = kind
        elif kind in OUTPUTS:
            call_id = repr(_answers(item))
            if calls.get(call_id) != OUTPUTS[kind][0]:
                yield f"{where}: {call_id} answers no call of its kind"
            elif call_id in answered:
                yield f"{where}: {call_id} was answered before"
            answered.add(call_id)
    yield from (f"input: the call {call_id} has no result" for call_id in calls if call_id not in answered)


def _answers(item: dict[str, Any]) -> Any:
    if item["type"] == "mcp_approval_response":
        return item.get("approval_request_id")
    return item.get("call_id", item.get("id") if item["type"] == "local_shell_call_output" else None)
