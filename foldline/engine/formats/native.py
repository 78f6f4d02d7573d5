"""Foldline's own wire format: the canonical message as JSON, nothing lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from foldline.engine.errors import InvalidMessage
from foldline.engine.formats.checked import a_kind, a_text, an_object, an_optional_text, listed, no_role
from foldline.engine.formats.contract import Format, Signs, Writer
from foldline.engine.messages import ROLES, Image, Message, Other, Part, Role, Text, Thinking, ToolCall, ToolResult

NAME: Final = "native"

_ROLES: Final[Mapping[str, Role]] = {role: role for role in ROLES}


def parse(messages: Sequence[Any], path: str = "messages") -> list[Message]:
    """The canonical messages of native messages, one for one.

    Raises:
        InvalidMessage: a wrong shape or role, with its path below `path`.
    """
    return [_message(wire, f"{path}[{index}]") for index, wire in enumerate(listed(messages, path))]


def _message(wire: Any, where: str) -> Message:
    wire_role = an_object(wire, where).get("role")
    role = _ROLES.get(wire_role) if isinstance(wire_role, str) else None
    if role is None:
        raise no_role(wire, where, ROLES)
    parts = _parts(wire.get("parts"), f"{where}.parts")
    _check_places(role, parts, f"{where}.parts")
    return Message(role, parts, NAME, wire)


def _check_places(role: Role, parts: tuple[Part, ...], where: str) -> None:
    if role == "tool" and not (len(parts) == 1 and isinstance(parts[0], ToolResult)):
        raise InvalidMessage(where, "a tool message holds exactly one tool_result")
    seen: set[str] = set()
    for index, part in enumerate(parts):
        if isinstance(part, ToolResult) and role != "tool":
            raise InvalidMessage(f"{where}[{index}].type", "tool results belong in a tool message")
        if isinstance(part, ToolCall | Thinking) and role != "assistant":
            raise InvalidMessage(f"{where}[{index}].type", "only an assistant message thinks or makes tool calls")
        if isinstance(part, ToolCall):
            if part.id in seen:
                raise InvalidMessage(f"{where}[{index}].id", f"{part.id!r:.80} is the id of another call")
            seen.add(part.id)


def _parts(value: Any, where: str) -> tuple[Part, ...]:
    return tuple(_part(part, f"{where}[{index}]") for index, part in enumerate(listed(value, where)))


def _part(part: Any, where: str) -> Part:
    read = _READERS.get(a_kind(part, where), _other)
    return read(part, where)


def _text(part: dict[str, Any], where: str) -> Text:
    return Text(a_text(part.get("text"), f"{where}.text"), part)


def _image(part: dict[str, Any], where: str) -> Image:
    media_type, data, url = (an_optional_text(part.get(key), f"{where}.{key}") for key in ("media_type", "data", "url"))
    if data is None and url is None:
        raise InvalidMessage(where, "an image has data or a url")
    return Image(media_type, data, url, part)


def _thinking(part: dict[str, Any], where: str) -> Thinking:
    signature = an_optional_text(part.get("signature"), f"{where}.signature")
    return Thinking(a_text(part.get("text"), f"{where}.text"), signature, part)


def _tool_call(part: dict[str, Any], where: str) -> ToolCall:
    call_id, name, arguments = (a_text(part.get(key), f"{where}.{key}") for key in ("id", "name", "arguments"))
    return ToolCall(call_id, name, arguments, part)


def _tool_result(part: dict[str, Any], where: str) -> ToolResult:
    call_id = a_text(part.get("call_id"), f"{where}.call_id")
    content: list[Text | Image | Other] = []
    for index, value in enumerate(_parts(part.get("content"), f"{where}.content")):
        if not isinstance(value, Text | Image | Other):
            raise InvalidMessage(f"{where}.content[{index}].type", "a result holds text, images and unknown parts")
        content.append(value)
    name = an_optional_text(part.get("name"), f"{where}.name")
    return ToolResult(call_id, tuple(content), name, part.get("is_error") is True, part)


def _other(part: dict[str, Any], where: str) -> Other:
    return Other(a_kind(part, where), part)


_READERS: Final[Mapping[str, Callable[[dict[str, Any], str], Part]]] = {
    "text": _text,
    "image": _image,
    "thinking": _thinking,
    "tool_call": _tool_call,
    "tool_result": _tool_result,
}


class _NativeWriter(Writer):
    """Writes native messages; the system text stays beside them."""

    def __init__(self, _system: str | None, _model: str | None = None) -> None:
        super().__init__()

    def add(self, message: Message) -> None:
        self.messages.append(_wire_message(message))

    def finish(self) -> None:
        """Nothing waits for the next message."""


def _wire_message(message: Message) -> dict[str, Any]:
    is_own = message.format == NAME
    if is_own and message.source is not None:
        return message.source if isinstance(message.source, dict) else dict(message.source)
    return {"role": message.role, "parts": [_wire_part(part, is_own=is_own) for part in message.parts]}


def _wire_part(part: Part, *, is_own: bool) -> dict[str, Any]:
    if is_own and part.source is not None:
        return dict(part.source)
    match part:
        case Text(text=text):
            return {"type": "text", "text": text}
        case Thinking(text=text, signature=signature):
            return {"type": "thinking", "text": text, "signature": signature}
        case ToolCall(id=call_id, name=name, arguments=arguments):
            return {"type": "tool_call", "id": call_id, "name": name, "arguments": arguments}
        case ToolResult():
            return _wire_result(part, is_own=is_own)
    return _wire_image(part) if isinstance(part, Image) else _wire_other(part)


def _wire_image(image: Image) -> dict[str, Any]:
    fields = {"media_type": image.media_type, "data": image.data, "url": image.url}
    return {"type": "image", **{key: value for key, value in fields.items() if value is not None}}


def _wire_result(result: ToolResult, *, is_own: bool) -> dict[str, Any]:
    return {
        "type": "tool_result",
        "call_id": result.call_id or "",
        "content": [_wire_part(part, is_own=is_own) for part in result.content],
        "name": result.name,
        "is_error": result.is_error,
    }


def _wire_other(part: Other) -> dict[str, Any]:
    if part.kind not in _READERS and part.source.get("type") == part.kind:
        return dict(part.source)
    # A part of another format, which names its type in its own way, or whose type means something else here.
    return {"type": "other", "kind": part.kind, "source": part.source}


FORMAT: Final = Format(NAME, parse, _NativeWriter, Signs(keys=("parts",)))
