"""Anthropic Messages, in and out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from foldline.engine.arguments import json_text
from foldline.engine.errors import InvalidMessage
from foldline.engine.formats.anthropic_writer import NAME, AnthropicWriter
from foldline.engine.formats.checked import a_kind, a_text, an_object, an_optional_text, listed, mismatch, no_role
from foldline.engine.formats.contract import Format, Signs
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


# The types of blocks in the `anthropic` package that no other format has.
_BLOCK_TYPES: Final = (
    *("tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document", "search_result", "compaction"),
    *("server_tool_use", "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result"),
    *("bash_code_execution_tool_result", "text_editor_code_execution_tool_result", "tool_search_tool_result"),
    *("mcp_tool_use", "mcp_tool_result", "mcp_tool_listing", "advisor_tool_result", "container_upload", "fallback"),
    *("tool_reference", "tool_addition", "tool_removal"),
)

FORMAT: Final = Format(NAME, parse, AnthropicWriter, Signs(part_types=_BLOCK_TYPES))
