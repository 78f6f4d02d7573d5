"""OpenAI Chat Completions messages, in and out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeGuard

from foldline.engine.errors import InvalidMessage
from foldline.engine.formats import marks
from foldline.engine.formats.checked import a_kind, a_text, an_object, an_optional_text, each, listed, mismatch, no_role
from foldline.engine.formats.contract import Format, Signs, Writer
from foldline.engine.formats.ids import WireIds, fitting
from foldline.engine.formats.images import image_at, is_public, url_of
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
from foldline.engine.wording import is_frame

NAME: Final = "openai"
ID_PATTERN: Final = re.compile(r".{1,64}", re.DOTALL)
NAME_PATTERN: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
# Keys of an assistant message whose values are parts of their own: an answer in audio, by its id, and the signed or
# sealed reasoning of models behind a router. (platform.openai.com/docs, "Audio"; openrouter.ai/docs, "Reasoning".)
_KEYS_OF_PARTS: Final = ("audio", "reasoning_details")


def parse(messages: Sequence[Any], path: str = "messages") -> list[Message]:
    """The canonical messages of OpenAI chat messages, one for one.

    Raises:
        InvalidMessage: a wrong shape or role, with its path below `path`.
    """
    return each(_message, listed(messages, path), path)


# The readers below give paths from their own value on; `each` puts what is before it in front.


def _message(wire: Any) -> Message:
    role = an_object(wire, "").get("role")
    known = _ROLES.get(role) if isinstance(role, str) else None
    if known is None:
        raise no_role(wire, "", _ROLES)
    name, read = known
    return Message(name, read(wire), NAME, wire)


def _input_parts(wire: dict[str, Any]) -> tuple[Part, ...]:
    if wire.get("tool_calls"):
        raise InvalidMessage(".tool_calls", "only an assistant message makes tool calls")
    return _content(wire)


def _assistant_parts(wire: dict[str, Any]) -> tuple[Part, ...]:
    if wire.get("function_call") is not None:
        raise InvalidMessage(".function_call", "function calls of this kind are not supported; use tool_calls")
    parts: tuple[Part, ...] = _content(wire)
    reasoning, refusal, calls = wire.get("reasoning_content"), wire.get("refusal"), wire.get("tool_calls")
    if reasoning and isinstance(reasoning, str):
        parts = (Thinking(reasoning), *parts)
    if refusal and isinstance(refusal, str):
        parts = (*parts, Text(refusal, {"type": "refusal", "refusal": refusal}))
    for key in _KEYS_OF_PARTS:
        if wire.get(key):
            parts = (*parts, Other(key, {"type": key, key: wire[key]}))
    return parts if calls is None else (*parts, *_calls(calls))


def _result_parts(wire: dict[str, Any]) -> tuple[Part, ...]:
    call_id = a_text(wire.get("tool_call_id"), ".tool_call_id")
    name = an_optional_text(wire.get("name"), ".name")
    return (ToolResult(call_id, _content(wire), name),)


_ROLES: Final[Mapping[str, tuple[Role, Callable[[dict[str, Any]], tuple[Part, ...]]]]] = {
    "system": ("system", _input_parts),
    "developer": ("developer", _input_parts),
    "user": ("user", _input_parts),
    "assistant": ("assistant", _assistant_parts),
    "tool": ("tool", _result_parts),
}


def _content(wire: dict[str, Any]) -> tuple[Text | Image | Other, ...]:
    content = wire.get("content")
    if isinstance(content, str):
        return (Text(content),) if content else ()
    if content is None:
        return ()
    if isinstance(content, list):
        return tuple(each(_part, content, ".content"))
    raise mismatch(".content", "a string, a list of parts, or null", content)


def _part(part: Any) -> Text | Image | Other:
    kind = a_kind(part, "")
    if kind in {"text", "refusal"}:
        return Text(a_text(part.get(kind), f".{kind}"), part)
    if kind == "image_url":
        return _image(part)
    return Other(kind, part)


def _image(part: dict[str, Any]) -> Image:
    image = an_object(part.get("image_url"), ".image_url")
    return image_at(a_text(image.get("url"), ".image_url.url"), part)


def _calls(value: Any) -> list[ToolCall]:
    calls = each(_call, listed(value, ".tool_calls"), ".tool_calls")
    seen: set[str] = set()
    for index, call in enumerate(calls):
        if call.id in seen:
            raise InvalidMessage(
                f".tool_calls[{index}].id", f"{call.id!r:.80} is the id of another call of this message"
            )
        seen.add(call.id)
    return calls


def _call(wire: Any) -> ToolCall:
    call = an_object(wire, "")
    kind = call.get("type") or "function"
    if not isinstance(kind, str) or kind not in _ARGUMENTS:
        raise InvalidMessage(".type", f"expected one of {', '.join(_ARGUMENTS)}, found {kind!r:.40}")
    call_id = a_text(call.get("id"), ".id")
    key, at_body, at_name, at_arguments = _ARGUMENTS[kind]
    body = an_object(call.get(kind), at_body)
    name = a_text(body.get("name"), at_name)
    return ToolCall(call_id, name, a_text(body.get(key), at_arguments), call)


# By the kind of a call: the key of its arguments, and the paths of its body, name and arguments.
_ARGUMENTS: Final[Mapping[str, tuple[str, str, str, str]]] = {
    "function": ("arguments", ".function", ".function.name", ".function.arguments"),
    "custom": ("input", ".custom", ".custom.name", ".custom.input"),
}


class _OpenAIWriter(Writer):
    """Writes OpenAI chat messages, the system text as the first of them."""

    def __init__(self, system: str | None, _model: str | None = None) -> None:
        super().__init__()
        if system:
            self.messages.append({"role": "system", "content": system})
        self._ids = WireIds(ID_PATTERN, unique=False)
        self._images: list[dict[str, Any]] = []

    def add(self, message: Message) -> None:
        if message.role == "tool":
            self._add_result(message)
            return
        self._place_images()
        if message.role == "assistant":
            self._add_assistant(message)
        else:
            self._add_input(message)

    def finish(self) -> None:
        """Put the images of the last batch after it."""
        self._place_images()

    def _place_images(self) -> None:
        """Put the images of a batch's results into a user message after them: tool messages carry text only."""
        if self._images:
            content = [{"type": "text", "text": marks.IMAGES_ABOVE}, *self._images]
            self.messages.append({"role": "user", "content": content})
            self._images = []

    def _add_input(self, message: Message) -> None:
        source = _own_source(message)
        if source is not None and _is_valid_content(message.role, source.get("content")):
            self.messages.append(source)
            return
        content = self._content(message, message.parts)
        self.messages.append({**(source or {"role": message.role}), "content": content})

    def _add_assistant(self, message: Message) -> None:
        source = _own_source(message)
        wire_ids = self._ids.calls([call.id for call in message.calls])
        if source is not None and _is_valid_assistant(message, source, wire_ids):
            self.messages.append(source)
            return
        wire = _assistant_frame(message, source)
        content = self._content(message, message.parts)
        calls = [_wire_call(message, call, wire_id) for call, wire_id in zip(message.calls, wire_ids, strict=True)]
        if calls:
            self.messages.append({**wire, "content": content or None, "tool_calls": calls})
        elif content or _is_own(message):
            self.messages.append({**wire, "content": content})

    def _add_result(self, message: Message) -> None:
        result = message.result
        if result is None:
            return
        source = _own_source(message)
        wire_id = self._ids.result(result.call_id)
        if source is not None and wire_id == result.call_id and _is_valid_content("tool", source.get("content")):
            self.messages.append(source)
            return
        wire = dict(source or {"role": "tool"})
        wire["tool_call_id"] = wire_id
        wire["content"] = self._content(message, marks.with_error(result))
        if result.name is not None and _is_own(message):
            wire["name"] = result.name
        self.messages.append(wire)

    def _content(self, message: Message, parts: Sequence[Part]) -> str | list[dict[str, Any]]:
        if not _is_own(message):
            self.lossy += sum(isinstance(part, Thinking) for part in parts)
        match [part for part in parts if not _is_elsewhere(message, part)]:
            case []:
                return ""
            case [Text(text=text, source=None)]:
                return text
            case [Text(text=line, source=None), Text(text=text, source=None)] if is_frame(line):
                # Some who speak this format take no list of texts. The line break costs no token behind a frame.
                return f"{line}\n{text}"
            case rest:
                return list(self._wire_parts(message, rest)) or ""

    def _wire_parts(self, message: Message, parts: Iterable[Part]) -> Iterable[dict[str, Any]]:
        for part in parts:
            if _is_own(message) and part.source is not None and not isinstance(part, Image):
                yield dict(part.source)
            elif isinstance(part, Text):
                yield {"type": "text", "text": part.text}
            elif isinstance(part, Image):
                yield self._wire_image(message, part)
            elif isinstance(part, Other) and part.kind not in SEALED_KINDS:
                yield self._mark(marks.left_out(part))
            else:
                self.lossy += 1

    def _wire_image(self, message: Message, image: Image) -> dict[str, Any]:
        own = image.source if _is_own(message) else None
        wire = dict(own or {"type": "image_url", "image_url": {"url": url_of(image)}})
        if message.role not in {"user", "tool"} or (own is None and not is_public(image)):
            return self._mark(marks.IMAGE)
        if message.role == "user":
            return wire
        self._images.append(wire)
        return {"type": "text", "text": marks.IMAGE_BELOW}

    def _mark(self, text: str) -> dict[str, Any]:
        self.lossy += 1
        return {"type": "text", "text": text}


def _is_own(message: Message) -> bool:
    return message.format == NAME


def _own_source(message: Message) -> dict[str, Any] | None:
    source = message.source if _is_own(message) else None
    if source is not None and message.role != "assistant" and "tool_calls" in source:
        # It is null or empty, which was read as no calls, and the API has this key for the assistant alone.
        return {key: value for key, value in source.items() if key != "tool_calls"}
    return source if source is None or isinstance(source, dict) else dict(source)


def _is_valid_content(role: str, content: Any) -> bool:
    """Whether content that came in may go out as it is: the API wants a text or parts, and images from users only."""
    if isinstance(content, str):
        return True
    return bool(content) and (role == "user" or all(part["type"] != "image_url" for part in content))


def _is_valid_assistant(message: Message, source: dict[str, Any], wire_ids: list[str]) -> bool:
    content, calls = source.get("content"), source.get("tool_calls")
    if calls is None:
        # Neither text nor calls: nothing to repair; whoever chooses the messages leaves such a one out.
        return content is None or _is_valid_content("assistant", content)
    if not calls or any(not call.get("type") for call in calls) or wire_ids != [call.id for call in message.calls]:
        return False
    return content is None or _is_valid_content("assistant", content)


def _assistant_frame(message: Message, source: dict[str, Any] | None) -> dict[str, Any]:
    """An assistant message without content and calls."""
    # What is among the parts returns with them.
    among_parts = {"content", "tool_calls", "refusal", *_KEYS_OF_PARTS}
    frame = {key: value for key, value in (source or {"role": "assistant"}).items() if key not in among_parts}
    if not _is_own(message):
        return frame
    thoughts = [part.text for part in message.parts if isinstance(part, Thinking)]
    if source is None and thoughts:
        frame["reasoning_content"] = "\n".join(thoughts)
    return frame | {part.kind: part.source[part.kind] for part in message.parts if _is_key(part, message)}


def _is_elsewhere(message: Message, part: Part) -> bool:
    """Whether a part has its place outside of the content."""
    return isinstance(part, Thinking | ToolCall | ToolResult) or _is_key(part, message)


def _is_key(part: Part, message: Message) -> TypeGuard[Other]:
    """Whether a part is the value of a key of its own message."""
    is_own_answer = _is_own(message) and message.role == "assistant"
    return is_own_answer and isinstance(part, Other) and part.kind in _KEYS_OF_PARTS and part.kind in part.source


def _wire_call(message: Message, call: ToolCall, wire_id: str) -> dict[str, Any]:
    if _is_own(message) and call.source is not None:
        return {**call.source, "type": call.source.get("type") or "function", "id": wire_id}
    name = call.name if _is_own(message) else fitting(call.name, NAME_PATTERN)
    return {"id": wire_id, "type": "function", "function": {"name": name, "arguments": call.arguments}}


FORMAT: Final = Format(
    NAME,
    parse,
    _OpenAIWriter,
    Signs(
        keys=("tool_calls", "tool_call_id", "reasoning_content", *_KEYS_OF_PARTS),
        part_types=("image_url", "input_audio", "file", "refusal"),
        roles=("tool", "developer"),
    ),
)
