"""Anthropic Messages, in and out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from foldline.engine.arguments import json_object, json_text
from foldline.engine.errors import InvalidMessage
from foldline.engine.formats import marks
from foldline.engine.formats.checked import a_kind, a_text, an_object, an_optional_text, listed, mismatch, no_role
from foldline.engine.formats.contract import Format, Rendered, Signs
from foldline.engine.formats.ids import WireIds, fitting
from foldline.engine.formats.shares import shares
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

NAME: Final = "anthropic"
ID_PATTERN: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
NAME_PATTERN: Final = re.compile(r"[a-zA-Z0-9_-]{1,128}")
IMAGE_TYPES: Final = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})

# Where arguments that are not a JSON object go: `input` must be one.
RAW_ARGUMENTS: Final = "_raw"

# Models that refuse system messages in the list ("role 'system' is not supported on this model"); newer ones take them,
# but not through other clouds. (platform.claude.com/docs, "Mid-conversation system messages".)
_WITHOUT_SYSTEM: Final = re.compile(
    r"amazon|aws|bedrock|azure|vertex|google|foundry|anthropic\.claude"
    r"|claude-(?:instant|[123](?!\d)|(?:sonnet|haiku)-4|opus-4(?![-.][89])|sonnet-5(?![-.]\d))"
)

# The format itself knows only user and assistant, and system for some models; any other system or developer message
# becomes marked user text.
_ROLES: Final[dict[str, Role]] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "developer": "developer",
}


def parse(messages: Sequence[Any], path: str = "messages") -> list[Message]:
    """The canonical messages of Anthropic messages; a message with tool results becomes one tool message for each.

    Raises:
        InvalidMessage: a wrong shape or role, with its path below `path`.
    """
    parsed: list[Message] = []
    for index, wire in enumerate(listed(messages, path)):
        parsed += _messages(wire, f"{path}[{index}]")
    return parsed


def _messages(wire: Any, where: str) -> list[Message]:
    wire_role = an_object(wire, where).get("role")
    role = _ROLES.get(wire_role) if isinstance(wire_role, str) else None
    if role is None:
        raise no_role(wire, where, ("user", "assistant"))
    content = wire.get("content")
    if content is None or isinstance(content, str):
        return [Message(role, (Text(content),) if content else (), NAME, wire)]
    if not isinstance(content, list):
        raise mismatch(f"{where}.content", "a string, a list of blocks, or null", content)
    read = _assistant_part if role == "assistant" else _input_part
    parts = tuple(read(block, f"{where}.content[{index}]") for index, block in enumerate(content))
    if role == "assistant":
        _check_distinct_calls(parts, where)
    return _shares(wire, role, parts, where)


def _shares(wire: dict[str, Any], role: Role, parts: tuple[Part, ...], where: str) -> list[Message]:
    if not any(isinstance(part, ToolResult) for part in parts):
        return [Message(role, parts, NAME, wire)]
    if role != "user":
        raise InvalidMessage(f"{where}.content", "tool results belong in a user message")
    return shares(wire, parts, NAME, "content")


def _check_distinct_calls(parts: tuple[Part, ...], where: str) -> None:
    seen: set[str] = set()
    for index, part in enumerate(parts):
        if isinstance(part, ToolCall):
            if part.id in seen:
                raise InvalidMessage(
                    f"{where}.content[{index}].id", f"{part.id!r:.80} is the id of another call of this message"
                )
            seen.add(part.id)


def _assistant_part(block: Any, where: str) -> Part:
    match a_kind(block, where):
        case "tool_use":
            return _call(block, where)
        case "tool_result":
            raise InvalidMessage(f"{where}.type", "tool results belong in a user message")
        case "thinking":
            text = a_text(block.get("thinking"), f"{where}.thinking")
            signature = an_optional_text(block.get("signature"), f"{where}.signature")
            return Thinking(text, signature, block)
    return _content_part(block, where)


def _input_part(block: Any, where: str) -> Part:
    match a_kind(block, where):
        case "tool_result":
            return _result(block, where)
        case "tool_use":
            raise InvalidMessage(f"{where}.type", "only an assistant message makes tool calls")
    return _content_part(block, where)


def _content_part(block: Any, where: str) -> Text | Image | Other:
    kind = a_kind(block, where)
    if kind == "text":
        return Text(a_text(block.get("text"), f"{where}.text"), block)
    return _image(block, where) if kind == "image" else Other(kind, block)


def _image(block: dict[str, Any], where: str) -> Image | Other:
    where = f"{where}.source"
    source = an_object(block.get("source"), where)
    match source.get("type"):
        case "base64":
            data = a_text(source.get("data"), f"{where}.data")
            return Image(an_optional_text(source.get("media_type"), f"{where}.media_type"), data, source=block)
        case "url":
            return Image(url=a_text(source.get("url"), f"{where}.url"), source=block)
    return Other("image", block)


def _call(block: dict[str, Any], where: str) -> ToolCall:
    call_id = a_text(block.get("id"), f"{where}.id")
    name = a_text(block.get("name"), f"{where}.name")
    arguments = json_text(an_object(block.get("input"), f"{where}.input"))
    if arguments is None:
        raise InvalidMessage(f"{where}.input", "nested too deeply, or not JSON")
    return ToolCall(call_id, name, arguments, block)


def _result(block: dict[str, Any], where: str) -> ToolResult:
    call_id = a_text(block.get("tool_use_id"), f"{where}.tool_use_id")
    content = block.get("content")
    parts: tuple[Text | Image | Other, ...]
    if content is None or isinstance(content, str):
        parts = (Text(content),) if content else ()
    elif isinstance(content, list):
        parts = tuple(_content_part(part, f"{where}.content[{index}]") for index, part in enumerate(content))
    else:
        raise mismatch(f"{where}.content", "a string, a list of blocks, or null", content)
    return ToolResult(call_id, parts, is_error=block.get("is_error") is True, source=block)


def render(messages: Sequence[Message], system: str | None, model: str | None = None) -> Rendered:
    """Anthropic messages; `system` stays beside them.

    A system message that came in this format stays one where the API takes it: after a user message, and before an
    assistant message or at the end; unless the model is known to refuse it.
    """
    writer = _AnthropicWriter(takes_system=not (model and _WITHOUT_SYSTEM.search(model.lower())))
    for message in messages:
        writer.add(message)
    return Rendered(writer.messages, system, writer.lossy)


class _AnthropicWriter:
    """The messages written so far, and what later ones depend on."""

    def __init__(self, *, takes_system: bool) -> None:
        self.messages: list[dict[str, Any]] = []
        self.lossy = 0
        self._takes_system = takes_system
        # The system message that the last wire message is.
        self._system: Message | None = None
        self._ids = WireIds(ID_PATTERN, unique=True)
        # Whether the last wire message answers calls, so that what belongs to the answer can join it.
        self._answers = False
        # Whether the last wire message may be somebody's source.
        self._is_shared = False

    def add(self, message: Message) -> None:
        if message.role == "tool":
            self._add_result(message)
        elif message.role == "assistant":
            self._add_assistant(message)
        else:
            self._add_input(message)

    def _append(self, wire: dict[str, Any], message: Message | None = None) -> None:
        """Add a wire message; `message` is what it is made of, if it may be a system message."""
        if not self.messages and wire["role"] == "assistant":
            self.messages.append({"role": "user", "content": marks.OPENING})
        if self._system is not None and wire["role"] != "assistant":
            self.messages[-1] = _marked(self._system, list(self._blocks(self._system, self._system.parts)))
        self._system = message if wire["role"] == "system" else None
        self.messages.append(wire)
        self._answers = False
        self._is_shared = True

    def _join(self, blocks: list[dict[str, Any]]) -> None:
        """Add blocks to the last message, to a copy of it if need be."""
        if self._is_shared:
            last = self.messages[-1]
            self.messages[-1] = {**last, "content": list(last["content"])}
            self._is_shared = False
        self.messages[-1]["content"].extend(blocks)

    def _add_input(self, message: Message) -> None:
        joins = message.joined and self._answers
        source = _own_source(message)
        is_taken = message.role == "user" or self._takes_as_system(message)
        if source is not None and not joins and is_taken and _is_valid(message):
            self._append(source, message)
            return
        blocks = list(self._blocks(message, message.parts))
        if joins:
            self._join(blocks)
            self._answers = False
            return
        if is_taken:
            frame = source or {"role": message.role}
            self._append({**frame, "content": _compact(message, blocks) or marks.EMPTY}, message)
        else:
            self._append(_marked(message, blocks))

    def _takes_as_system(self, message: Message) -> bool:
        """Whether this is a system message that may be one here."""
        is_candidate = self._takes_system and message.role == "system" and _is_own(message)
        return is_candidate and bool(self.messages) and self.messages[-1]["role"] == "user"

    def _add_assistant(self, message: Message) -> None:
        source = _own_source(message)
        wire_ids = self._ids.calls(call.id for call in message.calls)
        is_same = wire_ids == [call.id for call in message.calls]
        if source is not None and is_same and _is_valid(message):
            self._append(source)
            return
        blocks = list(self._blocks(message, message.parts, wire_ids))
        if blocks:
            self._append({**(source or {"role": "assistant"}), "content": _compact(message, blocks)})

    def _add_result(self, message: Message) -> None:
        result = message.result
        if result is None:
            return
        wire_id = self._ids.result(result.call_id)
        if self._answers:
            self._join([self._wire_result(message, result, wire_id)])
            return
        source = _own_source(message)
        if source is not None and wire_id == result.call_id and _is_valid_result(result):
            self._append(source)
        else:
            block = self._wire_result(message, result, wire_id)
            self._append({**(source or {"role": "user"}), "content": [block]})
        self._answers = True

    def _wire_result(self, message: Message, result: ToolResult, wire_id: str) -> dict[str, Any]:
        own = result.source if _is_own(message) else None
        block = dict(own or {"type": "tool_result"})
        block["tool_use_id"] = wire_id
        if own is None or not _is_valid_result(result):
            block["content"] = self._result_content(message, result)
        if own is None and result.is_error:
            block["is_error"] = True
        return block

    def _result_content(self, message: Message, result: ToolResult) -> str | list[dict[str, Any]]:
        match result.content:
            case (Text(text=text, source=None),):
                return text
        return list(self._blocks(message, result.content)) or ""

    def _blocks(
        self, message: Message, parts: Iterable[Part], wire_ids: Sequence[str] = ()
    ) -> Iterable[dict[str, Any]]:
        ids = iter(wire_ids)
        for part in parts:
            if isinstance(part, ToolCall):
                yield self._wire_call(message, part, next(ids))
            elif isinstance(part, ToolResult) or _is_unsendable(message, part):
                self.lossy += 1
            else:
                yield self._block(message, part)

    def _block(self, message: Message, part: Text | Image | Thinking | Other) -> dict[str, Any]:
        if isinstance(part, Image):
            return self._wire_image(message, part)
        if _is_own(message) and part.source is not None:
            return dict(part.source)
        match part:
            case Text(text=text):
                return _text(text)
            case Thinking(text=text, signature=signature):
                return {"type": "thinking", "thinking": text, "signature": signature}
        return self._mark(marks.left_out(part))

    def _wire_call(self, message: Message, call: ToolCall, wire_id: str) -> dict[str, Any]:
        if _is_own(message) and call.source is not None:
            return {**call.source, "id": wire_id}
        arguments = json_object(call.arguments)
        if arguments is None:
            self.lossy += 1
            arguments = {RAW_ARGUMENTS: call.arguments}
        name = call.name if _is_own(message) else fitting(call.name, NAME_PATTERN)
        return {"type": "tool_use", "id": wire_id, "name": name, "input": arguments}

    def _wire_image(self, message: Message, image: Image) -> dict[str, Any]:
        if message.role == "assistant":
            return self._mark(marks.IMAGE)
        if _is_own(message) and image.source is not None:
            return dict(image.source)
        if image.data is not None and image.media_type in IMAGE_TYPES:
            source = {"type": "base64", "media_type": image.media_type, "data": image.data}
            return {"type": "image", "source": source}
        if image.url is not None and image.url.startswith(("https://", "http://")):
            return {"type": "image", "source": {"type": "url", "url": image.url}}
        return self._mark(marks.IMAGE)

    def _mark(self, text: str) -> dict[str, Any]:
        self.lossy += 1
        return _text(text)


def _is_own(message: Message) -> bool:
    return message.format == NAME


def _own_source(message: Message) -> dict[str, Any] | None:
    source = message.source if _is_own(message) else None
    return source if source is None or isinstance(source, dict) else dict(source)


def _is_valid(message: Message) -> bool:
    """Whether a message that came in may go out as it is: it has content, all of which the API takes from this role."""
    if not message.parts:
        return False
    is_assistant = message.role == "assistant"
    return not any(
        _is_unsendable(message, part) or (is_assistant and isinstance(part, Image)) for part in message.parts
    )


def _is_valid_result(result: ToolResult) -> bool:
    return not any(isinstance(part, Text) and part.source and marks.is_blank(part.text) for part in result.content)


def _is_unsendable(message: Message, part: Part) -> bool:
    """Whether a part has no place in a request: blank text, reasoning without its signature or of another provider."""
    if isinstance(part, Text):
        return marks.is_blank(part.text)
    if isinstance(part, Thinking):
        return not (_is_own(message) and part.signature)
    return isinstance(part, Other) and part.kind in SEALED_KINDS and not _is_own(message)


def _marked(message: Message, blocks: list[dict[str, Any]]) -> dict[str, Any]:
    """A system or developer message as a user message that says so."""
    return {"role": "user", "content": [_text(marks.speaker(message.role)), *blocks]}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _compact(message: Message, blocks: list[dict[str, Any]]) -> str | list[dict[str, Any]]:
    """A string for what was one: the only part, from a plain string."""
    match message.parts:
        case (Text(text=text, source=None),) if len(blocks) == 1:
            return text
    return blocks


# The types of blocks in the `anthropic` package that no other format has.
_BLOCK_TYPES: Final = (
    *("tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document", "search_result", "compaction"),
    *("server_tool_use", "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result"),
    *("bash_code_execution_tool_result", "text_editor_code_execution_tool_result", "tool_search_tool_result"),
    *("mcp_tool_use", "mcp_tool_result", "mcp_tool_listing", "advisor_tool_result", "container_upload", "fallback"),
    *("tool_reference", "tool_addition", "tool_removal"),
)

FORMAT: Final = Format(NAME, parse, render, Signs(part_types=_BLOCK_TYPES))
