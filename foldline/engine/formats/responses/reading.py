"""Responses items to messages: what the model gave in one go is one message."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from foldline.engine.arguments import json_text
from foldline.engine.errors import InvalidMessage
from foldline.engine.formats.checked import a_kind, a_text, an_object, an_optional_text, listed, mismatch, no_role
from foldline.engine.formats.images import image_at
from foldline.engine.formats.responses.calls import Kind, answered, called
from foldline.engine.formats.responses.items import (
    DEVELOPER_ITEMS,
    ENVELOPE,
    IMAGE,
    MESSAGE,
    NAME,
    REASONING,
    TEXTS,
    Item,
    is_envelope,
    kind_of,
)
from foldline.engine.messages import Image, Message, Other, Part, Role, Text, Thinking, ToolCall, ToolResult
from foldline.engine.wire import dumps_text

_ROLES: Final[dict[str, Role]] = {role: role for role in ("user", "assistant", "system", "developer")}
SUMMARY_GAP: Final = "\n\n"


def parse(messages: Sequence[Any], path: str = "messages") -> list[Message]:
    """The canonical messages of Responses items; consecutive items of the model become one assistant message.

    The source of such a message is an object with its `items`, if they are several; such an object is read as well.

    Raises:
        InvalidMessage: a wrong shape or role, with its path below `path`.
    """
    parsed: list[Message] = []
    answer: list[tuple[Item, str]] = []
    for item, where in _flat(messages, path):
        message = _of_client(item, where)
        if message is None:
            answer.append((item, where))
            continue
        if answer:
            parsed.append(_of_model(answer))
            answer = []
        parsed.append(message)
    return [*parsed, _of_model(answer)] if answer else parsed


def _flat(messages: Any, path: str) -> Iterator[tuple[Item, str]]:
    for index, value in enumerate(listed(messages, path)):
        where = f"{path}[{index}]"
        wire = an_object(value, where)
        if not is_envelope(wire):
            yield wire, where
            continue
        items = listed(wire[ENVELOPE], f"{where}.{ENVELOPE}")
        if not items:
            raise InvalidMessage(f"{where}.{ENVELOPE}", "no items")
        for place, item in enumerate(items):
            yield an_object(item, f"{where}.{ENVELOPE}[{place}]"), f"{where}.{ENVELOPE}[{place}]"


def _of_client(item: Item, where: str) -> Message | None:
    """The message of an item that the client wrote; None if the model did."""
    kind = kind_of(item)
    if not isinstance(kind, str):
        raise mismatch(f"{where}.type", "a string", kind)
    if kind == MESSAGE:
        role = _role(item, where)
        return None if role == "assistant" else Message(role, tuple(_content(item, where)), NAME, item)
    if kind in DEVELOPER_ITEMS:
        return Message("developer", (Other(kind, item),), NAME, item)
    answers = answered(item)
    return None if answers is None else Message("tool", (_result(item, answers, where),), NAME, item)


def _role(item: Item, where: str) -> Role:
    role = item.get("role")
    known = _ROLES.get(role) if isinstance(role, str) else None
    if known is None:
        raise no_role(item, where, _ROLES)
    return known


def _content(item: Item, where: str) -> Iterator[Text | Image | Other]:
    content = item.get("content")
    if isinstance(content, list):
        for index, part in enumerate(content):
            yield _part(part, f"{where}.content[{index}]")
    elif content is not None and not isinstance(content, str):
        raise mismatch(f"{where}.content", "a string, a list of parts, or null", content)
    elif content:
        yield Text(content)


def _part(part: Any, where: str) -> Text | Image | Other:
    kind = a_kind(part, where)
    if kind in TEXTS:
        return Text(a_text(part.get(TEXTS[kind]), f"{where}.{TEXTS[kind]}"), part)
    if kind == IMAGE and isinstance(part.get("image_url"), str):
        return image_at(part["image_url"], part)
    return Other(kind, part)


def _of_model(answer: Sequence[tuple[Item, str]]) -> Message:
    parts: list[Part] = []
    seen: set[str] = set()
    for item, where in answer:
        for part in _model_parts(item, where):
            if isinstance(part, ToolCall):
                if part.id in seen:
                    raise InvalidMessage(where, f"{part.id!r:.80} is the id of another call before any answer")
                seen.add(part.id)
            parts.append(part)
    items = [item for item, _ in answer]
    return Message("assistant", tuple(parts), NAME, items[0] if len(items) == 1 else {ENVELOPE: items})


def _model_parts(item: Item, where: str) -> Iterator[Part]:
    """The parts of an item of the model; each has the item, or its share of the item, as its source."""
    kind, call = kind_of(item), called(item)
    if kind == MESSAGE:
        yield from _said(item, where)
    elif kind == REASONING:
        yield _thinking(item, where)
    elif call is not None:
        yield _call(item, call, where)
    else:
        yield Other(kind, item)


def _said(item: Item, where: str) -> Iterator[Text | Other]:
    parts = list(_content(item, where))
    for part in parts:
        share = item if len(parts) == 1 else {**item, "content": [part.source]}
        if isinstance(part, Text):
            yield Text(part.text, share)
        else:
            yield Other(part.kind if isinstance(part, Other) else IMAGE, share)


def _thinking(item: Item, where: str) -> Thinking:
    """Reasoning, signed by what is sealed in it; else by its id, if only the server knows what was thought."""
    texts = [*_texts(item, "summary", where)] or [*_texts(item, "content", where)]
    sealed, item_id = (an_optional_text(item.get(key), f"{where}.{key}") for key in ("encrypted_content", "id"))
    return Thinking(SUMMARY_GAP.join(texts), sealed or item_id, item)


def _texts(item: Item, key: str, where: str) -> Iterable[str]:
    for index, part in enumerate(listed(item.get(key) or [], f"{where}.{key}")):
        text = an_object(part, f"{where}.{key}[{index}]").get("text")
        if isinstance(text, str):
            yield text


def _call(item: Item, kind: Kind, where: str) -> ToolCall:
    call_id = a_text(kind.id_of(item), f"{where}.{kind.call_id}")
    name = a_text(item.get("name"), f"{where}.name") if kind.tool is None else kind.tool
    return ToolCall(call_id, name, _arguments(item, kind, where), item)


def _arguments(item: Item, kind: Kind, where: str) -> str:
    key = next((key for key in kind.arguments if item.get(key) is not None), kind.arguments[0])
    value = item.get(key)
    if isinstance(value, str) or kind.is_open:
        return a_text(value, f"{where}.{key}")
    text = json_text(value if isinstance(value, dict) else {key: value})
    if text is None:
        raise InvalidMessage(f"{where}.{key}", "nested too deeply, or not JSON")
    return text


def _result(item: Item, kind: Kind, where: str) -> ToolResult:
    key = kind.answers_key(item)
    call_id = a_text(item.get(key), f"{where}.{key}")
    name = an_optional_text(item.get("name"), f"{where}.name")
    content = tuple(_answer(item.get(kind.answer), kind, f"{where}.{kind.answer}"))
    return ToolResult(call_id, content, name, is_error=item.get("status") == "failed", source=item)


def _answer(value: Any, kind: Kind, where: str) -> Iterator[Text | Image | Other]:
    if isinstance(value, str):
        if value:
            yield Text(value)
    elif kind.is_open and value is not None:
        if not isinstance(value, list):
            raise mismatch(where, "a string or a list of parts", value)
        for index, part in enumerate(value):
            yield _part(part, f"{where}[{index}]")
    elif isinstance(value, dict) and isinstance(value.get("image_url"), str):
        yield image_at(value["image_url"])
    elif value is not None:
        yield Text(dumps_text(value))
