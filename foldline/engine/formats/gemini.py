"""Google Gemini's `contents`, in and out. Keys in camel case and in snake case are read, as Google does.

A signature may sit on any part of an answer. It is read as reasoning of its own before the part that carries it, and
put back on exactly that part. (Google, "Thought signatures".)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from foldline.engine.arguments import json_text
from foldline.engine.errors import InvalidMessage
from foldline.engine.formats.checked import (
    a_text,
    an_object,
    an_optional_text,
    in_either_case,
    listed,
    no_role,
    snake_case,
)
from foldline.engine.formats.contract import Format, Signs
from foldline.engine.formats.gemini_writer import KINDS_OF_DATA, NAME, STAND_INS, GeminiWriter
from foldline.engine.formats.shares import shares
from foldline.engine.messages import (
    Image,
    Message,
    Other,
    Part,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    answered_call,
    answering,
)

# `function` and `tool` are older names of the role that answers calls.
_ROLES: Final[Mapping[str, Role]] = {
    "user": "user",
    "model": "assistant",
    "function": "user",
    "tool": "user",
    "system": "system",
}
# Keys of a part that say something about its data.
_ABOUT: Final = frozenset({"thought", "video_metadata", "media_resolution", "part_metadata"})


def parse(messages: Sequence[Any], path: str = "messages") -> list[Message]:
    """The canonical messages of contents; a content with function responses becomes one tool message for each.

    A response without an id answers the first open call of its function.

    Raises:
        InvalidMessage: a wrong shape or role, with its path below `path`.
    """
    parsed: list[Message] = []
    for index, wire in enumerate(listed(messages, path)):
        parsed += _messages(wire, f"{path}[{index}]")
    return list(_paired(parsed))


def _messages(wire: Any, where: str) -> list[Message]:
    # Google reads a content without a role as the user's.
    wire_role = an_object(wire, where).get("role")
    wire_role = "user" if wire_role is None and "parts" in wire else wire_role
    role = _ROLES.get(wire_role) if isinstance(wire_role, str) else None
    if role is None:
        raise no_role(wire, where, ("user", "model"))
    values = [] if wire.get("parts") is None else listed(wire["parts"], f"{where}.parts")
    read = _answer_parts if role == "assistant" else _input_parts
    parts = tuple(part for index, value in enumerate(values) for part in read(value, f"{where}.parts[{index}]"))
    if role == "assistant":
        return [Message(role, _with_ids(parts, f"{where}.parts"), NAME, wire)]
    if any(isinstance(part, ToolResult) for part in parts):
        return shares(wire, parts, NAME, "parts")
    return [Message(role, parts, NAME, wire)]


def _paired(messages: Sequence[Message]) -> Iterator[Message]:
    """The messages, whose responses without an id answer the first open call of their function."""
    waiting: list[ToolCall] = []
    for message in messages:
        if message.result is None:
            waiting = list(message.calls)
        call = answered_call(message.result, waiting) if message.result else None
        if call is not None:
            waiting.remove(call)
        yield message if call is None else answering(message, call.id)


def _with_ids(parts: tuple[Part, ...], where: str) -> tuple[Part, ...]:
    """The parts, with an id for each call that came without one: its name, numbered if need be."""
    given = [part.id for part in parts if isinstance(part, ToolCall) and part.id]
    taken = set(given)
    if len(taken) < len(given):
        raise InvalidMessage(where, "two function calls have the same id")
    return tuple(_named(part, taken) if isinstance(part, ToolCall) and not part.id else part for part in parts)


def _named(call: ToolCall, taken: set[str]) -> ToolCall:
    number, call_id = 1, call.name or "call"
    while call_id in taken:
        number += 1
        call_id = f"{call.name}_{number}"
    taken.add(call_id)
    return ToolCall(call_id, call.name, call.arguments, call.source)


def _input_parts(value: Any, where: str) -> Iterator[Part]:
    part = _part(value, where)
    if isinstance(part, ToolCall):
        raise InvalidMessage(where, "only the model makes function calls")
    yield part


def _answer_parts(value: Any, where: str) -> Iterator[Part]:
    key = next((key for key in ("thoughtSignature", "thought_signature") if key in an_object(value, where)), "")
    signature = an_optional_text(value.get(key), f"{where}.{key}")
    rest = {name: content for name, content in value.items() if name != key}
    text = value.get("text")
    if value.get("thought") is True and isinstance(text, str):
        yield Thinking(text, signature, value)
    elif not signature or signature in STAND_INS:
        yield _answer_part(value, where)
    elif not text and not any(rest[name] for name in rest):
        yield Thinking("", signature, value)
    else:
        yield Thinking("", signature, {key: signature})
        yield _answer_part(rest, where)


def _answer_part(value: Any, where: str) -> Part:
    part = _part(value, where)
    if isinstance(part, ToolResult):
        raise InvalidMessage(where, "function responses belong in a content of the user")
    return part


def _part(value: Any, where: str) -> Part:
    part = an_object(value, where)
    for kind, read in _READERS.items():
        data = in_either_case(part, kind)
        if data is not None:
            return read(part, data, f"{where}.{kind}")
    kinds = (key for key in part if snake_case(key) not in _ABOUT and part[key] is not None)
    return Other(next(kinds, "part"), part)


def _call(part: dict[str, Any], data: Any, where: str) -> ToolCall:
    name = a_text(an_object(data, where).get("name"), f"{where}.name")
    given = data.get("args")
    arguments = json_text({} if given is None else an_object(given, f"{where}.args"))
    if arguments is None:
        raise InvalidMessage(f"{where}.args", "nested too deeply, or not JSON")
    return ToolCall(an_optional_text(data.get("id"), f"{where}.id") or "", name, arguments, part)


def _result(part: dict[str, Any], data: Any, where: str) -> ToolResult:
    name = a_text(an_object(data, where).get("name"), f"{where}.name")
    call_id = an_optional_text(data.get("id"), f"{where}.id")
    response = {} if data.get("response") is None else an_object(data["response"], f"{where}.response")
    text = _output(response)
    if text is None:
        raise InvalidMessage(f"{where}.response", "nested too deeply, or not JSON")
    inner = [] if data.get("parts") is None else listed(data["parts"], f"{where}.parts")
    attached = (_attached(value, f"{where}.parts[{index}]") for index, value in enumerate(inner))
    content = (*((Text(text),) if text else ()), *attached)
    return ToolResult(call_id or None, content, name, is_error=bool(response.get("error")), source=part)


def _output(response: dict[str, Any]) -> str | None:
    """The text of a response: that of its only key if this is the usual one, else its JSON; None if it has no JSON."""
    if not response:
        return ""
    match [*response.items()]:
        case [(("output" | "result" | "error"), str(text))]:
            return text
    return json_text(response)


def _attached(value: Any, where: str) -> Image | Other:
    part = _part(value, where)
    return part if isinstance(part, Image | Other) else Other(next(iter(value), "part"), value)


def _blob(part: dict[str, Any], data: Any, where: str) -> Image | Other:
    media_type = an_optional_text(in_either_case(an_object(data, where), "mimeType"), f"{where}.mimeType")
    if media_type is None or not media_type.startswith("image/"):
        return Other("inlineData", part)
    return Image(media_type, a_text(data.get("data"), f"{where}.data"), source=part)


def _file(part: dict[str, Any], data: Any, where: str) -> Image | Other:
    media_type = an_optional_text(in_either_case(an_object(data, where), "mimeType"), f"{where}.mimeType")
    if media_type is None or not media_type.startswith("image/"):
        return Other("fileData", part)
    return Image(media_type, url=a_text(in_either_case(data, "fileUri"), f"{where}.fileUri"), source=part)


def _text(part: dict[str, Any], data: Any, where: str) -> Text:
    return Text(a_text(data, where), part)


_READERS: Final[Mapping[str, Callable[[dict[str, Any], Any, str], Part]]] = {
    "functionCall": _call,
    "functionResponse": _result,
    "inlineData": _blob,
    "fileData": _file,
    "text": _text,
}


# Only contents have parts that say by such a key what they are.
_PART_KEYS: Final = (*KINDS_OF_DATA, "thoughtSignature")

FORMAT: Final = Format(
    NAME,
    parse,
    GeminiWriter,
    Signs(part_keys=tuple(dict.fromkeys((*_PART_KEYS, *map(snake_case, _PART_KEYS)))), roles=("model", "function")),
)
