"""The canonical message: a role and parts. Each part keeps the wire JSON it came from as its `source`.

No wire format is known here; `foldline.engine.formats` converts to and from these shapes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, TypeAlias

JsonObject: TypeAlias = Mapping[str, Any]
Role: TypeAlias = Literal["system", "developer", "user", "assistant", "tool"]

# The role that the facts of a branch summary have; no message of the conversation has it.
BRANCH_ROLE: Final = "branch"
ROLES: tuple[Role, ...] = ("system", "developer", "user", "assistant", "tool")
# Types of parts with reasoning that its provider has sealed: there is nothing in it for anyone else.
SEALED_KINDS: Final = frozenset({"redacted_thinking", "reasoning_details"})
# Types of parts that their provider has sealed, reasoning and its own summaries, and takes back only where they were.
# `COMPACTION` are the summaries.
COMPACTION: Final = "compaction"
BOUND_KINDS: Final = SEALED_KINDS | {COMPACTION}


# How a frozen dataclass sets its fields.
_set: Final = object.__setattr__


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
    """Reasoning text; its provider takes it back only with `signature`."""

    text: str
    signature: str | None = None
    source: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call of the assistant. `arguments` is JSON text, byte for byte as it arrived if the format sends text."""

    id: str
    name: str
    arguments: str
    source: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class Other:
    """A part of an unknown type: it is kept, and passed through to views in its own format."""

    kind: str
    source: JsonObject


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The answer to the call `call_id`: text, images and unknown parts, in order.

    `call_id` is None if a format names the tool alone: then it answers the first open call of the tool `name`.
    """

    call_id: str | None
    content: tuple[Text | Image | Other, ...]
    name: str | None = None
    is_error: bool = False
    source: JsonObject | None = None


Part: TypeAlias = Text | Image | Thinking | ToolCall | ToolResult | Other


@dataclass(frozen=True, slots=True)
class Message:
    """One canonical message.

    A message of role `tool` holds exactly one `ToolResult`. A wire message with several results, or with results and
    text, is parsed into several messages; all but the first are `joined`. `source` is the wire message in `format`, or
    this message's part of it. A message that Foldline made or edited has no `source`; its unedited parts keep theirs.

    `calls` are its tool calls, in order, `result` is the tool result of a tool message, and `bound_parts` the number of
    parts that are bound to the messages before it (`is_bound`).
    """

    role: Role
    parts: tuple[Part, ...]
    format: str | None = None
    source: JsonObject | None = None
    joined: bool = False
    calls: tuple[ToolCall, ...] = field(init=False, repr=False, compare=False)
    result: ToolResult | None = field(init=False, repr=False, compare=False)
    bound_parts: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Find what every view asks of its parts: the message is made once and shown many times."""
        calls: list[ToolCall] = []
        result: ToolResult | None = None
        bound_parts = 0
        for part in self.parts:
            if isinstance(part, Text):
                continue
            if isinstance(part, ToolCall):
                calls.append(part)
            elif isinstance(part, ToolResult):
                result = result or part
            else:
                bound_parts += is_bound(part)
        _set(self, "calls", tuple(calls) if calls else ())
        _set(self, "result", result if self.role == "tool" else None)
        _set(self, "bound_parts", bound_parts)

    @property
    def text(self) -> str:
        """All text parts, joined by newlines."""
        return "\n".join(part.text for part in self.parts if isinstance(part, Text))


def is_bound(part: Part) -> bool:
    """Whether a part is signed or sealed: its provider refuses it once anything before it has changed.

    A signature that nobody here can judge counts as bound. (Anthropic, "Preserved thinking".)
    """
    return part.kind in BOUND_KINDS if isinstance(part, Other) else isinstance(part, Thinking) and bool(part.signature)


def without_bound(message: Message) -> Message:
    """The message without its bound parts."""
    return replace(message, parts=tuple(part for part in message.parts if not is_bound(part)), source=None)


def provider_summary(part: Other) -> str:
    """The text of a summary that a provider wrote of what came before; "" if it is sealed, or the part is none."""
    text = part.source.get("content") if part.kind == COMPACTION else None
    return text if isinstance(text, str) else ""


def answered_call(result: ToolResult, waiting: Iterable[ToolCall]) -> ToolCall | None:
    """The first of the waiting calls that a result answers; None if it answers none of them."""
    if result.call_id is None:
        return next((call for call in waiting if call.name == result.name), None)
    return next((call for call in waiting if call.id == result.call_id), None)


def answering(message: Message, call_id: str) -> Message:
    """The message; if it holds a result that names the tool alone, that result answers the call `call_id`."""
    result = message.result
    if result is None or result.call_id is not None:
        return message
    # The sources name no call, so they are still right.
    return replace(message, parts=(replace(result, call_id=call_id),))


def user(text: str) -> Message:
    """A user message that Foldline itself writes; it has no `source`."""
    return Message("user", (Text(text),))


def result_text(result: ToolResult) -> str:
    """The text parts of a result, joined by newlines; images and unknown parts are left out."""
    return "\n".join(part.text for part in result.content if isinstance(part, Text))
