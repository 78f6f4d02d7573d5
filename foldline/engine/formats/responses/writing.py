"""Messages to Responses items: the flat list, repaired where the API would refuse it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from foldline.engine.formats import marks
from foldline.engine.formats.ids import WireIds, fitting
from foldline.engine.formats.images import is_public, url_of
from foldline.engine.formats.responses.calls import FUNCTION, Kind, answered, called
from foldline.engine.formats.responses.item_list import ItemList, said
from foldline.engine.formats.responses.items import (
    DEVELOPER_ITEMS,
    ENVELOPE,
    IMAGE,
    MESSAGE,
    NAME,
    Item,
    is_envelope,
    kind_of,
)
from foldline.engine.messages import (
    SEALED_KINDS,
    Image,
    JsonObject,
    Message,
    Other,
    Part,
    Text,
    ToolCall,
    ToolResult,
)

ID_PATTERN: Final = re.compile(r".{1,64}", re.DOTALL)
NAME_PATTERN: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")


class _Answer(NamedTuple):
    """A result, the id of its call on the wire, and its own item and kind if it came in as one."""

    wire_id: str
    message: Message
    result: ToolResult
    item: Item | None
    kind: Kind | None


class ResponsesWriter(ItemList):
    """Writes Responses items; the system text stays beside them, as the request's `instructions`.

    A call is written together with its answers: an answer that Foldline has edited does not fit every kind of call.
    """

    def __init__(self, _system: str | None, _model: str | None = None) -> None:
        super().__init__()
        self._call_ids = WireIds(ID_PATTERN, unique=True)
        # The kind of each call written, by its id on the wire.
        self._kinds: dict[str, Kind] = {}
        self._calling: Message | None = None
        self._results: list[Message] = []

    def add(self, message: Message) -> None:
        if message.role == "tool":
            self._results.append(message)
            return
        self._write_batch()
        if message.role == "assistant":
            self._calling = message
        else:
            self._write_input(message)

    def finish(self) -> None:
        self._write_batch()
        self.drop_waiting()

    def _write_input(self, message: Message) -> None:
        # What Foldline itself wrote may stand in the place of reasoning.
        self.keeps_ids = message.format is not None
        own = _own(message, message.source)
        if own is None and len(message.parts) == 1 and _is_developers(message.parts[0]):
            own = _own(message, message.parts[0].source)
        is_whole = not any(map(_is_no_image, message.parts))
        if own is not None and is_whole and (own.get("content") or kind_of(own) != MESSAGE):
            self.add_of_client(own)
        else:
            frame = own or {"type": MESSAGE, "role": message.role}
            self.add_of_client({**frame, "content": self._content(message, message.parts)})

    def _write_batch(self) -> None:
        calling, self._calling = self._calling, None
        results, self._results = self._results, []
        wire_ids = [] if calling is None else self._call_ids.calls([call.id for call in calling.calls])
        answers = [self._answer(message, result) for message in results if (result := message.result) is not None]
        if calling is not None:
            self._write_model(calling, wire_ids, {answer.wire_id: answer.kind for answer in answers})
        for answer in answers:
            self._write_answer(answer)

    def _answer(self, message: Message, result: ToolResult) -> _Answer:
        item = _own(message, result.source)
        return _Answer(
            self._call_ids.result(result.call_id), message, result, item, None if item is None else answered(item)
        )

    def _write_model(self, message: Message, wire_ids: Sequence[str], answers: Mapping[str, Kind | None]) -> None:
        source = _own(message, message.source)
        if _is_own(message) and source is None:
            self.keeps_ids = False
        calls = zip(message.calls, wire_ids, strict=True)
        for item in _items(source) if source is not None else _joined(self._model_items(message)):
            kind = called(item)
            if kind_of(item) == MESSAGE and item.get("content") is None:
                # Nothing was said, and the API wants a text or parts.
                continue
            if kind is None:
                self.add_of_model(item, is_own=_is_own(message))
                continue
            call, wire_id = next(calls)
            call_item = item if item.get(kind.call_id) == wire_id else {**item, kind.call_id: wire_id}
            is_fit = kind.is_open or (
                answers.get(wire_id, kind) == kind and (not kind.is_identified or self.can_identify(call_item))
            )
            self._kinds[wire_id] = kind if is_fit else FUNCTION
            function = _function_call(call.name, call, wire_id)
            is_own = is_fit and (source is not None or call.source is not None) and _is_own(message)
            self.add_of_model(call_item if is_fit else function, is_own=is_own)

    def _model_items(self, message: Message) -> Iterator[Item]:
        for part in message.parts:
            own = _own(message, part.source)
            if own is not None:
                yield own
            elif isinstance(part, Text):
                yield said(part.text)
            elif isinstance(part, ToolCall):
                name = part.name if _is_own(message) else fitting(part.name, NAME_PATTERN)
                yield _function_call(name, part, part.id)
            else:
                yield from (said(text) for text in self._mark(part))

    def _write_answer(self, answer: _Answer) -> None:
        kind = self._kinds.get(answer.wire_id, answer.kind or FUNCTION)
        if answer.item is None or answer.kind != kind or not _is_whole(answer, kind):
            content = self._content(answer.message, marks.with_error(answer.result))
            self.add_of_client({"type": kind.output, "call_id": answer.wire_id, kind.answer: content})
            return
        key = kind.answers_key(answer.item)
        is_same = answer.item[key] == answer.wire_id
        self.add_of_client(answer.item if is_same else {**answer.item, key: answer.wire_id})

    def _content(self, message: Message, parts: Sequence[Part]) -> str | list[Item]:
        match parts:
            case (Text(text=text, source=None),):
                return text
        return list(self._wire_parts(message, parts)) or ""

    def _wire_parts(self, message: Message, parts: Iterable[Part]) -> Iterator[Item]:
        for part in parts:
            own = _own(message, part.source)
            if own is not None and not _is_no_image(part):
                yield own
            elif isinstance(part, Text):
                yield _text(part.text)
            elif isinstance(part, Image) and message.role in {"user", "tool"} and is_public(part):
                yield {"type": IMAGE, "image_url": url_of(part), "detail": "auto"}
            else:
                yield from map(_text, self._mark(part))

    def _mark(self, part: Part) -> tuple[str, ...]:
        """What stands for a part that cannot be sent; nothing for reasoning of others."""
        self.lossy += 1
        if isinstance(part, Image):
            return (marks.IMAGE,)
        return (marks.left_out(part),) if isinstance(part, Other) and part.kind not in SEALED_KINDS else ()


def _is_own(message: Message) -> bool:
    return message.format == NAME


def _own(message: Message, source: JsonObject | None) -> Item | None:
    if source is None or not _is_own(message):
        return None
    return source if isinstance(source, dict) else dict(source)


def _is_whole(answer: _Answer, kind: Kind) -> bool:
    """Whether an item with an answer has all that OpenAI wants of it."""
    is_answered = not kind.is_open or (answer.item or {}).get(kind.answer) is not None
    return is_answered and not any(map(_is_no_image, answer.result.content))


def _is_no_image(part: Part) -> bool:
    """Whether a part is an image that has neither a URL nor a file, which OpenAI refuses."""
    is_image = (isinstance(part, Image) and not url_of(part)) or (isinstance(part, Other) and part.kind == IMAGE)
    return is_image and not isinstance((part.source or {}).get("file_id"), str)


def _is_developers(part: Part) -> bool:
    return isinstance(part, Other) and part.kind in DEVELOPER_ITEMS


def _items(source: Item) -> list[Item]:
    items: list[Item] = source[ENVELOPE] if is_envelope(source) else [source]
    return items


def _joined(items: Iterable[Item]) -> list[Item]:
    """The items, where the shares of one text item are one again."""
    joined: list[Item] = []
    for item in items:
        if joined and _frame(item) is not None and _frame(item) == _frame(joined[-1]):
            joined[-1] = {**item, "content": [*joined[-1]["content"], *item["content"]]}
        else:
            joined.append(item)
    return joined


def _frame(item: Item) -> Item | None:
    """All of a text item but its content; None if nothing says which shares belong together."""
    is_share = kind_of(item) == MESSAGE and isinstance(item.get("id"), str) and isinstance(item.get("content"), list)
    return {key: value for key, value in item.items() if key != "content"} if is_share else None


def _text(text: str) -> Item:
    return {"type": "input_text", "text": text}


def _function_call(name: str, call: ToolCall, call_id: str) -> Item:
    return {"type": FUNCTION.call, "call_id": call_id, "name": name, "arguments": call.arguments}
