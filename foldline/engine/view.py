"""Builds the view from originals and live edits: pins, summaries, markers, stubs and late results included."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final, NamedTuple

from foldline.engine import wording
from foldline.engine.edits import Edit
from foldline.engine.facts import Facts
from foldline.engine.images.in_messages import with_texts
from foldline.engine.messages import (
    Image,
    Message,
    Other,
    Text,
    ToolCall,
    ToolResult,
    result_text,
    user,
    without_bound,
)
from foldline.engine.models.limits import NO_LIMITS, ImageLimits
from foldline.engine.outline import Outline, Summarized
from foldline.engine.planning.image_limits import image_texts
from foldline.engine.tokens.excerpts import LEVELS, excerpt, excerpt_arguments
from foldline.engine.wire import dumps_text

NO_EDITS: Final[Mapping[int, Edit]] = MappingProxyType({})
NO_BLOCKS: Final[Mapping[str, Sequence[Message]]] = MappingProxyType({})


def make_view(
    outline: Outline,
    messages: Mapping[int, Message],
    summaries: Mapping[str, str],
    pins: Sequence[str] = (),
    *,
    without_reasoning: Collection[int] = (),
    image_limits: ImageLimits = NO_LIMITS,
    stub_open: bool = False,
    keep_empty: bool = False,
    blocks: Mapping[str, Sequence[Message]] = NO_BLOCKS,
) -> list[Message]:
    """The messages that the model should see.

    `messages` maps the seq of every entry in view to its original message. `summaries` maps the id of every live and
    interim summary to its text. `without_reasoning` are the seqs of the messages whose bound reasoning is left out. A
    line replaces each image that is too large alone for the `image_limits`. With `stub_open`, calls that still wait for
    a result get a stub. With `keep_empty`, messages that count nothing (`facts.is_empty`) stay. `blocks` maps the ids
    of summaries to the messages of their provider, which are shown in place of the text.
    """
    lines = image_texts(outline, image_limits)
    messages = {**messages, **{seq: with_texts(messages[seq], texts) for seq, texts in lines}}
    messages = {**messages, **{seq: without_bound(messages[seq]) for seq in without_reasoning}}
    view = [pins_message(pins)] if pins else []
    shown = shown_items(outline, messages, summaries, stub_open=stub_open, keep_empty=keep_empty, blocks=blocks)
    view.extend(message for item in shown for message in item.messages)
    return view


class ShownItem(NamedTuple):
    """An item of an outline in view, or a hidden run: the seq of its last entry, and its messages."""

    last: int
    messages: Sequence[Message]


def shown_items(
    outline: Outline,
    messages: Mapping[int, Message],
    summaries: Mapping[str, str],
    *,
    since: int = 0,
    stub_open: bool = False,
    keep_empty: bool = False,
    blocks: Mapping[str, Sequence[Message]] = NO_BLOCKS,
) -> Iterator[ShownItem]:
    """What `make_view` shows of each item that ends at the entry `since` or later, for texts that are as they were."""
    runs = {run.start: run for run in outline.runs}
    for index, item in enumerate(outline.items):
        last = outline.items[index : runs[index].stop][-1].last if index in runs else item.last
        if last < since:
            continue
        if isinstance(item, Summarized):
            summary = item.edit.summary
            yield ShownItem(last, blocks[summary] if summary in blocks else [summary_message(summaries[summary])])
        elif index in runs:
            yield ShownItem(last, [_hidden_message(runs[index].interim, summaries)])
        elif not item.is_hidden:
            has_stubs, cells = stub_open or not item.is_open, outline.live.cells
            own = unit_view(item.entries, messages, cells, has_stubs=has_stubs, keep_empty=keep_empty)
            yield ShownItem(last, [*own])


def pins_message(pins: Sequence[str]) -> Message:
    """The user message that carries the pins verbatim."""
    return user(wording.pinned(pins))


def summary_message(text: str) -> Message:
    """The message that carries a summary. In a system message its content would gain trust, so it is a user message."""
    return Message("user", (Text(wording.SUMMARY), Text(text)))


def branch_message(text: str) -> Message:
    """The message that carries the summary of another branch; a user message, like that of any summary."""
    return Message("user", (Text(wording.BRANCH), Text(text)))


def _hidden_message(interim: Edit | None, summaries: Mapping[str, str]) -> Message:
    """The message that stands for a hidden run: its interim summary, or a marker."""
    if interim is None:
        return user(wording.HIDDEN)
    if not interim.summary:
        return user(wording.hidden(interim.level))
    return Message("user", (Text(wording.interim(interim.level)), Text(summaries[interim.summary])))


def unit_view(
    entries: Sequence[Facts],
    messages: Mapping[int, Message],
    cells: Mapping[int, Edit] = NO_EDITS,
    *,
    has_stubs: bool = True,
    keep_empty: bool = False,
) -> Iterator[Message]:
    """The messages of one unit in view; `cells` are its edits. With `has_stubs`, calls without a result get a stub."""
    late: list[Message] = []
    names = _CallIds(messages[entries[0].seq])
    for entry in entries:
        message = messages[entry.seq]
        cell = cells.get(entry.seq)
        if entry.is_late:
            late.append(_late_message(message, entry, cell))
        elif entry.answers is not None:
            yield names.answer(_result_message(message, entry, cell))
        elif keep_empty or entry.tokens:
            yield names.head if cell is None else _with_short_arguments(names.head)
    if has_stubs:
        yield from names.stubs()
    yield from late


class _CallIds:
    """The calls of one message: calls that share an id get distinct ids, and unanswered calls are remembered."""

    def __init__(self, message: Message) -> None:
        self.head = message
        self._waiting: dict[str, list[str]] = {}
        for call in message.calls:
            names = self._waiting.setdefault(call.id, [])
            names.append(f"{call.id}_{len(names) + 1}" if names else call.id)
        if len(self._waiting) < len(message.calls):
            self.head = self._renamed(message)

    def answer(self, message: Message) -> Message:
        """The result message, with the id that its call has in the view."""
        result = message.result
        waiting = self._waiting.get(result.call_id or "") if result else None
        if result is None or not waiting:
            return message
        unique = waiting.pop(0)
        if unique == result.call_id:
            return message
        return replace(message, parts=(replace(result, call_id=unique, source=None),), source=None)

    def stubs(self) -> Iterator[Message]:
        """Stub results for the calls without a result."""
        for waiting in self._waiting.values():
            for call_id in waiting:
                yield Message("tool", (ToolResult(call_id, (Text(wording.UNANSWERED),), is_error=True),))

    def _renamed(self, message: Message) -> Message:
        names = {call_id: iter(waiting) for call_id, waiting in self._waiting.items()}
        parts = tuple(
            replace(part, id=next(names[part.id]), source=None) if isinstance(part, ToolCall) else part
            for part in message.parts
        )
        return replace(message, parts=parts, source=None)


def _with_short_arguments(message: Message) -> Message:
    parts = tuple(_shortened(part) if isinstance(part, ToolCall) else part for part in message.parts)
    return replace(message, parts=parts, source=None)


def _shortened(call: ToolCall) -> ToolCall:
    arguments = excerpt_arguments(call.arguments)
    return call if arguments is call.arguments else replace(call, arguments=arguments, source=None)


def _result_message(message: Message, entry: Facts, cell: Edit | None) -> Message:
    result = message.result
    if cell is None or result is None:
        return message
    content = (Text(_cell_text(result, entry, cell)),)
    # Written out: `replace` takes several times as long, and a view has an edited result for every second message.
    edited = ToolResult(result.call_id, content, result.name, result.is_error)
    return Message(message.role, (edited,), message.format, joined=message.joined)


def _late_message(message: Message, entry: Facts, cell: Edit | None) -> Message:
    edited = _result_message(message, entry, cell).result
    if edited is None:
        return message
    number = wording.late_number("".join(map(_readable, edited.content)))
    content = edited.content if number else (Text(wording.CLEARED),)
    begin, end = Text(wording.LATE.format(number)), Text(wording.LATE_END.format(number))
    return Message("user", (begin, *content, end), format=message.format)


def _readable(part: Text | Image | Other) -> str:
    match part:
        case Text(text=text):
            return text
        case Other(source=source):
            return dumps_text(source)
    return ""


def _cell_text(result: ToolResult, entry: Facts, cell: Edit) -> str:
    path = entry.read.path if entry.read else ""
    if cell.kind == "clear":
        return wording.cleared(entry.tool, path) if entry.placeholders else wording.CLEARED
    if cell.kind == "supersede":
        return wording.read_again(path) if entry.placeholders and path else wording.READ_AGAIN
    return excerpt(result_text(result), LEVELS[cell.level])
