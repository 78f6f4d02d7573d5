"""Writes canonical messages as Anthropic Messages; `anthropic` reads them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final, Self

from foldline.engine.arguments import json_object
from foldline.engine.formats import marks
from foldline.engine.formats.contract import Writer
from foldline.engine.formats.ids import WireIds, fitting
from foldline.engine.messages import (
    SEALED_KINDS,
    Image,
    Message,
    Other,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

NAME: Final = "anthropic"
ID_PATTERN: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
NAME_PATTERN: Final = re.compile(r"[a-zA-Z0-9_-]{1,128}")
# Blocks that no message of another role may have.
_OF_ASSISTANT: Final = frozenset({"thinking", "redacted_thinking", "tool_use"})
IMAGE_TYPES: Final = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})

# Where arguments that are not a JSON object go: `input` must be one.
RAW_ARGUMENTS: Final = "_raw"

# Models that refuse system messages in the list ("role 'system' is not supported on this model"); newer ones take them,
# but not through other clouds. (platform.claude.com/docs, "Mid-conversation system messages".)
_WITHOUT_SYSTEM: Final = re.compile(
    r"amazon|aws|bedrock|azure|vertex|google|foundry|databricks|anthropic\.claude|@"
    r"|claude-(?:instant|v\d|[1-4](?!\d)|(?:sonnet|haiku)-4|opus-4(?![-.][89](?!\d))|sonnet-5(?![-.]\d(?!\d)))"
)


def _is_compaction(wire: dict[str, Any]) -> bool:
    """Whether a wire message begins with the API's own summary, which has to be before everything else."""
    content = wire["content"]
    return isinstance(content, list) and bool(content) and content[0].get("type") == "compaction"


class AnthropicWriter(Writer):
    """Writes Anthropic messages; the system text stays beside them.

    A system message of text that came in this format stays one where the API takes it: after a user message, and before
    an assistant message or at the end; unless the model is known to refuse it.
    """

    def __init__(self, _system: str | None, model: str | None = None) -> None:
        super().__init__()
        self._takes_system = not (model and _WITHOUT_SYSTEM.search(model.lower()))
        # The system message that the last wire message is.
        self._system: Message | None = None
        self._ids = WireIds(ID_PATTERN, unique=True)
        # Whether the last wire message answers calls, so that what belongs to the answer can join it.
        self._answers = False
        # Whether the last wire message may be somebody's source.
        self._is_shared = False

    def copy(self) -> Self:
        """A writer that goes on from here without changing this one."""
        self._is_shared = True
        return super().copy()

    def add(self, message: Message) -> None:
        if message.role == "tool":
            self._add_result(message)
        elif message.role == "assistant":
            self._add_assistant(message)
        else:
            self._add_input(message)

    def finish(self) -> None:
        """Nothing waits for the next message."""

    def _append(self, wire: dict[str, Any], message: Message | None = None) -> None:
        """Add a wire message; `message` is what it is made of, if it may be a system message."""
        if not self.messages and wire["role"] == "assistant" and not _is_compaction(wire):
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
            self._answers = not blocks
            return
        if is_taken:
            frame = source or {"role": message.role}
            self._append({**frame, "content": _compact(message, blocks) or marks.EMPTY}, message)
        else:
            self._append(_marked(message, blocks))

    def _takes_as_system(self, message: Message) -> bool:
        """Whether this is a system message that may be one here: one of text alone, after a user message."""
        is_text = all(isinstance(part, Text) for part in message.parts)
        is_candidate = self._takes_system and message.role == "system" and _is_own(message) and is_text
        return is_candidate and bool(self.messages) and self.messages[-1]["role"] == "user"

    def _add_assistant(self, message: Message) -> None:
        source = _own_source(message)
        wire_ids = self._ids.calls([call.id for call in message.calls])
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
    return not any(
        _is_the_assistants(part) or (isinstance(part, Text) and part.source and marks.is_blank(part.text))
        for part in result.content
    )


def _is_unsendable(message: Message, part: Part) -> bool:
    """Whether a part has no place in a request, or not here: blank text, reasoning without its signature or of another
    provider.
    """
    if isinstance(part, Text):
        return marks.is_blank(part.text)
    if isinstance(part, Thinking):
        return not (_is_own(message) and part.signature)
    if message.role != "assistant" and _is_the_assistants(part):
        return True
    return isinstance(part, Other) and part.kind in SEALED_KINDS and not _is_own(message)


def _is_the_assistants(part: Part) -> bool:
    return isinstance(part, Other) and part.kind in _OF_ASSISTANT


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
