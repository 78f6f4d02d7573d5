"""What of a message can be found: its text, cut into passages, each with its terms, and the kinds of its items."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, NamedTuple

from foldline.engine.arguments import json_object
from foldline.engine.ledger.items import Item, ItemKind
from foldline.engine.messages import Message, Text, Thinking, ToolCall, ToolResult, result_text
from foldline.engine.recall.terms import terms_of
from foldline.engine.wire import dumps_text

PASSAGE_CHARS: Final = 1_000
# Of a longer text than so many whole passages, these many are its beginning, and the others its end.
MOST_PASSAGES: Final = 100
FIRST_PASSAGES: Final = 75
# A passage ends after a line, or else after a word, if one ends in its second half.
_BREAKS: Final = ("\n", " ")
_BITS: Final = {kind: 1 << number for number, kind in enumerate(ItemKind)}


class IndexText(NamedTuple):
    """What an index has of a message: the terms of each of its passages, and the kinds of its items as bits."""

    passages: tuple[str, ...]
    kinds: int


def index_of(message: Message, items: Iterable[Item]) -> IndexText:
    """What an index has of this message with these items; passages without terms keep their place."""
    passages = tuple(" ".join(sorted(terms_of(passage))) for passage in passages_of(message))
    return IndexText(passages, bits_of(item.kind for item in items))


def bits_of(kinds: Iterable[ItemKind]) -> int:
    """Kinds of items as the bits of a number."""
    found = 0
    for kind in kinds:
        found |= _BITS[kind]
    return found


def passages_of(message: Message) -> list[str]:
    """The passages of a message's text; equal messages have equal ones."""
    text = text_of(message)
    most = MOST_PASSAGES * PASSAGE_CHARS
    if len(text) <= most:
        return list(_cut(text))
    first = islice(_cut(text[:most]), FIRST_PASSAGES)
    return [*first, *list(_cut(text[-most:]))[FIRST_PASSAGES - MOST_PASSAGES :]]


def _cut(text: str) -> Iterator[str]:
    start = 0
    while len(text) - start > PASSAGE_CHARS:
        limit = start + PASSAGE_CHARS
        ends = (text.rfind(mark, start + PASSAGE_CHARS // 2, limit) + 1 for mark in _BREAKS)
        stop = next((end for end in ends if end), limit)
        yield text[start:stop]
        start = stop
    if start < len(text):
        yield text[start:]


def text_of(message: Message) -> str:
    """All that a message says in words: texts, readable reasoning, calls with their arguments, results."""
    return "\n".join(filter(None, map(_text_of_part, message.parts)))


def _text_of_part(part: object) -> str:
    match part:
        case Text(text=text) | Thinking(text=text):
            return text
        case ToolCall():
            return call_text(part)
        case ToolResult():
            return result_text(part)
        case _:
            return ""


def call_text(call: ToolCall) -> str:
    """A call: the tool's name, and a line for each argument, with texts as they are."""
    arguments = json_object(call.arguments)
    if arguments is None:
        return f"{call.name} {call.arguments}"
    values = (f"{name}: {value if isinstance(value, str) else dumps_text(value)}" for name, value in arguments.items())
    return "\n".join((call.name, *values))
