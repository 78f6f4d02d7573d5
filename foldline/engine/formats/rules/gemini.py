"""The rules of Google's Gemini API for the contents of a request.

Sources: the reference of `Content`, `Part`, `FunctionCall` and `FunctionDeclaration`, "Thought signatures", and the
wording of the API's own refusals.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}")
# The fields of a part that hold its data; a part has exactly one of them.
DATA = {
    "text": "text",
    "inlineData": "inline_data",
    "fileData": "file_data",
    "functionCall": "function_call",
    "functionResponse": "function_response",
    "executableCode": "executable_code",
    "codeExecutionResult": "code_execution_result",
    "toolCall": "tool_call",
    "toolResponse": "tool_response",
}
HOMES = {"functionCall": "model", "functionResponse": "user"}
SIGNATURES = ("thoughtSignature", "thought_signature")


def violations(messages: list[dict[str, Any]], system: Any) -> list[str]:
    """What is wrong with the contents and the system instruction."""
    found = [*_serializing(messages), *_shapes(messages), *_order(messages), *_pairs(messages)]
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
        role, parts = _role(message), message.get("parts")
        if role not in {"user", "model"}:
            yield f"{where}.role: {role!r} is not a role"
        if not isinstance(parts, list) or not parts:
            yield f"{where}.parts: empty, or not a list"
            continue
        for position, part in enumerate(parts):
            yield from _part(part, role, f"{where}.parts[{position}]")


def _role(message: dict[str, Any]) -> Any:
    return message.get("role") or "user"


def _part(part: Any, role: Any, where: str) -> Iterator[str]:
    if not isinstance(part, dict):
        yield f"{where}: not an object"
        return
    kinds = [kind for kind in DATA if _data(part, kind) is not None]
    if len(kinds) > 1:
        yield f"{where}: more than one of {', '.join(kinds)}"
    signature = next((part[key] for key in SIGNATURES if part.get(key) is not None), None)
    if signature is not None and not isinstance(signature, str):
        yield f"{where}: a signature that is not a string"
    for kind in kinds:
        if HOMES.get(kind, role) != role:
            yield f"{where}: {kind} in a content of role {role}"
        check = _CHECKS.get(kind)
        if check is not None:
            yield from check(_data(part, kind), f"{where}.{kind}")
    if _data(part, "text") == "" and not signature:
        yield f"{where}.text: empty"


def _data(part: dict[str, Any], kind: str) -> Any:
    found = part.get(kind)
    return part.get(DATA[kind]) if found is None else found


def _text(text: Any, where: str) -> Iterator[str]:
    if not isinstance(text, str):
        yield f"{where}: not a string"


def _blob(data: Any, where: str) -> Iterator[str]:
    if not isinstance(data, dict) or not isinstance(data.get("data"), str):
        yield f"{where}.data: not a string"
    elif not isinstance(data.get("mimeType", data.get("mime_type")), str):
        yield f"{where}.mimeType: not a string"


def _file(data: Any, where: str) -> Iterator[str]:
    if not isinstance(data, dict) or not isinstance(data.get("fileUri", data.get("file_uri")), str):
        yield f"{where}.fileUri: not a string"


def _call(data: Any, where: str) -> Iterator[str]:
    yield from _function(data, "args", where)


def _response(data: Any, where: str) -> Iterator[str]:
    yield from _function(data, "response", where)


def _function(data: Any, key: str, where: str) -> Iterator[str]:
    if not isinstance(data, dict):
        yield f"{where}: not an object"
        return
    name = data.get("name")
    if not isinstance(name, str) or not NAME.fullmatch(name):
        yield f"{where}.name: {name!r} is not the name of a function"
    if not isinstance(data.get(key, {}), dict | None):
        yield f"{where}.{key}: not an object"
    if not isinstance(data.get("id", ""), str | None):
        yield f"{where}.id: not a string"


_CHECKS: Mapping[str, Callable[[Any, str], Iterator[str]]] = {
    "text": _text,
    "inlineData": _blob,
    "fileData": _file,
    "functionCall": _call,
    "functionResponse": _response,
}


def _order(messages: list[dict[str, Any]]) -> Iterator[str]:
    if messages and _role(messages[0]) != "user":
        yield "messages[0].role: the first content is not the user's"
    for index, message in enumerate(messages):
        if index and _functions(message, "functionCall") and _role(messages[index - 1]) != "user":
            yield f"messages[{index}]: function calls do not follow a content of the user"


def _pairs(messages: list[dict[str, Any]]) -> Iterator[str]:
    """All calls of a content are answered in the next content, and nothing else is answered there."""
    calls: list[dict[str, Any]] = []
    for index, message in enumerate(messages):
        where = f"messages[{index}]"
        responses = _functions(message, "functionResponse")
        if len(responses) != len(calls):
            yield f"{where}: {len(responses)} responses to {len(calls)} calls"
        else:
            yield from _matches(calls, responses, where)
        calls = _functions(message, "functionCall")
        ids = [call["id"] for call in calls if call.get("id")]
        if len(set(ids)) < len(ids):
            yield f"{where}: an id is used twice"
    if calls:
        yield f"messages: the last {len(calls)} calls have no response"


def _matches(calls: list[dict[str, Any]], responses: list[dict[str, Any]], where: str) -> Iterator[str]:
    waiting = list(calls)
    # Those with an id first: the others take the calls that are left.
    for response in sorted(responses, key=lambda response: not response.get("id")):
        key = "id" if response.get("id") else "name"
        call = next((call for call in waiting if call.get(key) == response.get(key)), None)
        if call is None or call.get("name") != response.get("name"):
            yield f"{where}: a response of {response.get('name')!r} answers no call"
        else:
            waiting.remove(call)


def _functions(message: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    parts = message.get("parts")
    found = [_data(part, kind) for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
    return [data for data in found if isinstance(data, dict)]
