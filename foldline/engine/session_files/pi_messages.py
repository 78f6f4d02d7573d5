"""Converts the messages of pi's session files to canonical messages and back; `pi` reads the rest of such a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from foldline.engine.arguments import json_object, json_text
from foldline.engine.errors import InvalidMessage
from foldline.engine.formats import marks
from foldline.engine.formats.checked import a_kind, a_text, an_object, an_optional_text, listed, mismatch, no_role
from foldline.engine.messages import (
    SEALED_KINDS,
    Image,
    Message,
    Other,
    Part,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

NAME: Final = "pi"
# The type of the custom messages that Foldline writes.
CUSTOM_TYPE: Final = "foldline"
# The fields of a usage report; all but the output are prompt tokens.
USAGE: Final = ("input", "output", "cacheRead", "cacheWrite")

# pi's arguments are JSON objects. Other arguments become the value of this key.
RAW_ARGUMENTS: Final = "arguments"
# pi requires the tool of each result, which other formats do not have.
UNKNOWN_TOOL: Final = "unknown"
# pi adds up the costs of all answers, so every answer must have them.
_NO_USAGE: Final = MappingProxyType(dict.fromkeys((*USAGE, "totalTokens"), 0))
_NO_COST: Final = MappingProxyType(dict.fromkeys((*USAGE, "total"), 0))

_SHELL: Final = "[command run by the user]\n$ {command}\n{output}"
_SHELL_NOTES: Final = MappingProxyType(
    {"exitCode": "[exit code {}]", "cancelled": "[cancelled]", "fullOutputPath": "[full output in {}]"}
)


def parse(entries: Sequence[Any], path: str = "messages") -> list[Message]:
    """The canonical messages of `message` and `custom_message` entries, one for each.

    Raises:
        InvalidMessage: an entry has another type, or a wrong shape or role; the error has its path below `path`.
    """
    return [message_of(entry, f"{path}[{index}]") for index, entry in enumerate(listed(entries, path))]


def message_of(entry: Any, where: str) -> Message:
    """The canonical message of one entry; `where` is the path of the entry for errors.

    Raises:
        InvalidMessage: the entry has another type, or a wrong shape or role.
    """
    kind = a_kind(entry, where)
    if kind == "custom_message":
        return Message("developer", _input_parts(entry, where), NAME, entry)
    if kind != "message":
        raise InvalidMessage(f"{where}.type", f"expected message or custom_message, found {kind!r:.40}")
    where = f"{where}.message"
    said = an_object(entry.get("message"), where)
    wire_role = said.get("role")
    known = _ROLES.get(wire_role) if isinstance(wire_role, str) else None
    if known is None:
        raise no_role(said, where, _ROLES)
    role, read = known
    return Message(role, read(said, where), NAME, entry)


def an_optional_integer(value: Any, path: str) -> int | None:
    """`value`, which must be a whole number or null.

    Raises:
        InvalidMessage: it is neither.
    """
    if value is None or type(value) is int:
        return value
    raise mismatch(path, "a whole number or null", value)


def _input_parts(said: dict[str, Any], where: str) -> tuple[Part, ...]:
    content = said.get("content")
    if isinstance(content, str):
        return (Text(content),) if content else ()
    if isinstance(content, list):
        return _content(content, f"{where}.content")
    raise mismatch(f"{where}.content", "a string or a list of parts", content)


def _assistant_parts(said: dict[str, Any], where: str) -> tuple[Part, ...]:
    for name in ("provider", "model", "stopReason"):
        an_optional_text(said.get(name), f"{where}.{name}")
    if said.get("usage") is not None:
        usage = an_object(said["usage"], f"{where}.usage")
        for name in _NO_USAGE:
            an_optional_integer(usage.get(name), f"{where}.usage.{name}")
    where = f"{where}.content"
    parts = [_assistant_part(part, f"{where}[{at}]") for at, part in enumerate(listed(said.get("content"), where))]
    seen: set[str] = set()
    for index, part in enumerate(parts):
        if isinstance(part, ToolCall):
            if part.id in seen:
                raise InvalidMessage(f"{where}[{index}].id", f"{part.id!r:.80} is the id of another call")
            seen.add(part.id)
    return tuple(parts)


def _result_parts(said: dict[str, Any], where: str) -> tuple[Part, ...]:
    call_id = a_text(said.get("toolCallId"), f"{where}.toolCallId")
    name = an_optional_text(said.get("toolName"), f"{where}.toolName")
    content = _content(listed(said.get("content"), f"{where}.content"), f"{where}.content")
    return (ToolResult(call_id, content, name, said.get("isError") is True),)


def _shell_parts(said: dict[str, Any], where: str) -> tuple[Part, ...]:
    texts = {name: a_text(said.get(name), f"{where}.{name}") for name in ("command", "output")}
    notes = (note.format(said[name]) for name, note in _SHELL_NOTES.items() if said.get(name))
    return (Text("\n".join((_SHELL.format_map(texts), *notes))),)


def _summary_parts(said: dict[str, Any], where: str) -> tuple[Part, ...]:
    return (Text(a_text(said.get("summary"), f"{where}.summary")),)


_ROLES: Final[Mapping[str, tuple[Role, Callable[[dict[str, Any], str], tuple[Part, ...]]]]] = {
    "user": ("user", _input_parts),
    "assistant": ("assistant", _assistant_parts),
    "toolResult": ("tool", _result_parts),
    "bashExecution": ("user", _shell_parts),
    "custom": ("developer", _input_parts),
    # The name of custom messages before version 3.
    "hookMessage": ("developer", _input_parts),
    "branchSummary": ("developer", _summary_parts),
    "compactionSummary": ("developer", _summary_parts),
}


def _content(parts: list[Any], where: str) -> tuple[Text | Image | Other, ...]:
    return tuple(_content_part(part, f"{where}[{index}]") for index, part in enumerate(parts))


def _content_part(part: Any, where: str) -> Text | Image | Other:
    match a_kind(part, where):
        case "text":
            return Text(a_text(part.get("text"), f"{where}.text"), part)
        case "image":
            data, media_type = (a_text(part.get(name), f"{where}.{name}") for name in ("data", "mimeType"))
            return Image(media_type, data, source=part)
        case "thinking" | "toolCall":
            raise InvalidMessage(f"{where}.type", "only an assistant message thinks or makes tool calls")
        case kind:
            return Other(kind, part)


def _assistant_part(part: Any, where: str) -> Part:
    match a_kind(part, where):
        case "toolCall":
            return _call(part, where)
        case "thinking":
            signature = an_optional_text(part.get("thinkingSignature"), f"{where}.thinkingSignature")
            return Thinking(a_text(part.get("thinking"), f"{where}.thinking"), signature, part)
    return _content_part(part, where)


def _call(part: dict[str, Any], where: str) -> ToolCall:
    call_id, name = (a_text(part.get(key), f"{where}.{key}") for key in ("id", "name"))
    arguments = json_text(an_object(part.get("arguments"), f"{where}.arguments"))
    if arguments is None:
        raise InvalidMessage(f"{where}.arguments", "nested too deeply, or not JSON")
    return ToolCall(call_id, name, arguments, part)


def wire_entry(message: Message) -> dict[str, Any]:
    """A message of any format as an entry of pi's. It never fails.

    An unedited message from pi gives its source as it is. Other entries have no id, parent and time, and those of an
    assistant no provider and model: the caller adds them.
    """
    if message.format == NAME and message.source is not None:
        return message.source if isinstance(message.source, dict) else dict(message.source)
    if message.result is not None:
        return _said("toolResult", **_wire_result(message, message.result))
    if message.role == "assistant":
        stop = "toolUse" if message.calls else "stop"
        usage = {**_NO_USAGE, "cost": dict(_NO_COST)}
        return _said("assistant", content=_wire_parts(message, message.parts), usage=usage, stopReason=stop)
    if message.role == "user":
        return _said("user", content=_wire_content(message))
    return {"type": "custom_message", "customType": CUSTOM_TYPE, "content": _wire_content(message), "display": False}


def _said(role: str, **fields: Any) -> dict[str, Any]:
    return {"type": "message", "message": {"role": role, **fields}}


def _wire_result(message: Message, result: ToolResult) -> dict[str, Any]:
    return {
        "toolCallId": result.call_id or "",
        "toolName": result.name or UNKNOWN_TOOL,
        "content": _wire_parts(message, result.content),
        "isError": result.is_error,
    }


def _wire_content(message: Message) -> str | list[dict[str, Any]]:
    match message.parts:
        case (Text(text=text, source=None),):
            return text
    return _wire_parts(message, message.parts)


def _wire_parts(message: Message, parts: Iterable[Part]) -> list[dict[str, Any]]:
    return [_wire_part(message, part) for part in parts if not _is_sealed(message, part)]


def _is_sealed(message: Message, part: Part) -> bool:
    return isinstance(part, Other) and part.kind in SEALED_KINDS and message.format != NAME


def _wire_part(message: Message, part: Part) -> dict[str, Any]:
    if message.format == NAME and part.source is not None:
        return dict(part.source)
    match part:
        case Text(text=text):
            return _text(text)
        case Thinking(text=text, signature=signature):
            signed = {} if signature is None else {"thinkingSignature": signature}
            return {"type": "thinking", "thinking": text, **signed}
        case ToolCall(id=call_id, name=name, arguments=text):
            arguments = json_object(text)
            arguments = {RAW_ARGUMENTS: text} if arguments is None else arguments
            return {"type": "toolCall", "id": call_id, "name": name, "arguments": arguments}
        case Image(media_type=str(media_type), data=str(data)) if message.role != "assistant":
            return {"type": "image", "data": data, "mimeType": media_type}
    return _text(marks.left_out(part) if isinstance(part, Other) else marks.IMAGE)


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}
