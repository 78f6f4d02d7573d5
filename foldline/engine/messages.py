"""The canonical message: a role and parts, each part keeping the source form it arrived in.

Nothing here knows a wire format; `foldline.engine.formats` maps to and from these shapes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

JsonObject: TypeAlias = Mapping[str, Any]
Role: TypeAlias = Literal["system", "developer", "user", "assistant", "tool"]

# Who speaks in the summary of a branch, by its facts: nobody of the conversation.
BRANCH_ROLE: Final = "branch"
ROLES: tuple[Role, ...] = ("system", "developer", "user", "assistant", "tool")


@dataclass(frozen=True, slots=True)
class Text:
    """A run of text."""

    text: str
    source: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class Image:
    """An image: base64 `data` with its `media_type`, or a `url`."""

    media_type: str | None = None
    data: str | None = None
    url: str | None = None
    source: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class Thinking:
    """Reasoning text; `signature` is what its provider needs to accept it back."""

    text: str
    signature: str | None = None
    source: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call the assistant made; `arguments` is JSON text, byte for byte as it arrived where the format sends text."""

    id: str
    name: str
    arguments: str
    source: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class Other:
    """A part of a type we do not know: kept, and passed through in its own format."""

    kind: str
    source: JsonObject


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The answer to the call `call_id`: text, images and unknown parts, in order."""

    call_id: str
    content: tuple[Text | Image | Other, ...]
    name: str | None = None
    is_error: bool = False
    source: JsonObject | None = None


Part: TypeAlias = Text | Image | Thinking | ToolCall | ToolResult | Other


@dataclass(frozen=True, slots=True)
class Message:
    """One canonical message.

    A message of role `tool` holds exactly one `ToolResult`; a wire message that carries several results, or results and
    text, is parsed into several messages of which all but the first are `joined`. `source` is the wire message in
    `format` (for a joined or split one: the share of it that this message is). A message made or edited by Foldline has
    no `source`; its unedited parts still have theirs.
    """

    role: Role
    parts: tuple[Part, ...]
    format: str | None = None
    source: JsonObject | None = None
    joined: bool = False

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls, in order."""
        return tuple(part for part in self.parts if isinstance(part, ToolCall))

    @property
    def result(self) -> ToolResult | None:
        """The tool result, if this is a tool message."""
        return next((part for part in self.parts if isinstance(part, ToolResult)), None)

    @property
    def text(self) -> str:
        """All text parts, joined by newlines."""
        return "\n".join(part.text for part in self.parts if isinstance(part, Text))


def user(text: str) -> Message:
    """A user message of Foldline's own making."""
    return Message("user", (Text(text),))


def result_text(result: ToolResult) -> str:
    """The text of a result, parts joined by newlines; images and unknown parts left out."""
    return "\n".join(part.text for part in result.content if isinstance(part, Text))
