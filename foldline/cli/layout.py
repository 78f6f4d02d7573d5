"""A view set against the messages it was made from, one line each: what shows as it is, and what became of the rest."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from foldline.engine import wording
from foldline.engine.messages import Message, ToolCall, result_text
from foldline.engine.tokens.counter import count_message, count_messages
from foldline.engine.wire import loads_bounded

LABEL_CHARS: Final = 56
KEPT: Final = "kept"
ADDED: Final = "added"
_MADE_BY_US: Final = (
    (re.compile(re.escape(wording.SUMMARY)), "condense"),
    (wording.INTERIM_BEGIN, "interim"),
    (wording.HIDDEN_BEGIN, "hide"),
    (re.compile(re.escape(wording.PINNED)), "pin"),
)
_RESULTS: Final = (
    (wording.CLEARED_NAMED, "clear"),
    (re.compile(re.escape(wording.CLEARED)), "clear"),
    (wording.READ_AGAIN_NAMED, "supersede"),
    (re.compile(re.escape(wording.READ_AGAIN)), "supersede"),
)


@dataclass(frozen=True, slots=True)
class Line:
    """The originals numbered `first` to `last` (from 1; none: 0), the edit they show under, and their tokens."""

    role: str
    fate: str
    before: int
    after: int
    label: str = ""
    first: int = 0
    last: int = 0

    def __str__(self) -> str:
        """The line as text, columns aligned, as in `03 tool  clear  4812 → 9 tokens  read_file src/app.py`."""
        numbers = f"{self.first:02}" if self.first == self.last else f"{self.first:02}–{self.last:02}"
        tokens = f"{self.after}" if self.before == self.after else f"{self.before} → {self.after}"
        place = numbers if self.first else ""
        return f"{place:>7} {self.role:<9} {self.fate:<9} {tokens:>13} tokens   {self.label}".rstrip()


def layout(originals: Sequence[Message], view: Sequence[Message]) -> list[Line]:
    """A line for each message of the view and each original that is not in it, in order."""
    return list(_Walk(originals).lines(view))


@dataclass(slots=True)
class _Walk:
    """Walks the originals beside the view: both are in the same order, so what is skipped lies under the last edit."""

    originals: Sequence[Message]
    at: int = 0
    labels: dict[str, str] = field(default_factory=dict)

    def lines(self, view: Sequence[Message]) -> Iterator[Line]:
        self.labels = {call.id: call_label(call) for message in self.originals for call in message.calls}
        range_message: Message | None = None
        for message in view:
            if _range_fate(message):
                yield from self._skipped(self.at, range_message)
                range_message = message
                continue
            index = self._index_of(message)
            if index is not None:
                yield from self._skipped(index, range_message)
                range_message = None
                yield self._shown(index, message)
            else:
                yield Line(message.role, ADDED, 0, count_message(message), _text_label(message))
        yield from self._skipped(len(self.originals), range_message)

    def _index_of(self, message: Message) -> int | None:
        places = range(self.at, len(self.originals))
        return next((index for index in places if _is_same(self.originals[index], message)), None)

    def _skipped(self, end: int, range_message: Message | None) -> Iterator[Line]:
        first, originals = self.at + 1, self.originals[self.at : end]
        self.at = end
        before = count_messages(originals)
        if range_message is not None:
            label = _text_label(range_message) if _range_fate(range_message) == "pin" else _counted(len(originals))
            after = count_message(range_message)
            yield Line("user", _range_fate(range_message), before, after, label, first if originals else 0, end)
        elif originals:
            yield Line(originals[0].role, "left out", before, 0, _counted(len(originals)), first, end)

    def _shown(self, index: int, message: Message) -> Line:
        original = self.originals[index]
        self.at = index + 1
        return Line(
            message.role,
            _fate(original, message),
            count_message(original),
            count_message(message),
            self._label(original),
            index + 1,
            index + 1,
        )

    def _label(self, message: Message) -> str:
        if message.result is not None:
            answered = message.result.call_id or ""
            return self.labels.get(answered, answered)
        calls = ", ".join(call_label(call) for call in message.calls)
        return _shortened(calls) if calls else _text_label(message)


def _range_fate(message: Message) -> str:
    text = message.text if message.role == "user" else ""
    return next((fate for begin, fate in _MADE_BY_US if begin.match(text)), "")


def _is_same(original: Message, shown: Message) -> bool:
    if original.role != shown.role:
        return False
    if original.result is not None and shown.result is not None:
        return original.result.call_id == shown.result.call_id
    if original.calls or shown.calls:
        return [call.id for call in original.calls] == [call.id for call in shown.calls]
    return original.text == shown.text


def _fate(original: Message, shown: Message) -> str:
    if original.result is not None and shown.result is not None:
        text = result_text(shown.result)
        if text == result_text(original.result):
            return KEPT
        return next((fate for placeholder, fate in _RESULTS if placeholder.fullmatch(text)), "excerpt")
    same = [call.arguments for call in original.calls] == [call.arguments for call in shown.calls]
    return KEPT if same else "excerpt"


def call_label(call: ToolCall) -> str:
    """A call in a few words: its name and its first argument."""
    try:
        arguments: Any = loads_bounded(call.arguments)
    except ValueError:
        arguments = call.arguments
    values = list(arguments.values()) if isinstance(arguments, Mapping) else [arguments]
    return _shortened(f"{call.name} {values[0]}" if values else call.name)


def _text_label(message: Message) -> str:
    return _shortened(message.text)


def _counted(messages: int) -> str:
    return f"{messages} message{'' if messages == 1 else 's'}"


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LABEL_CHARS else line[: LABEL_CHARS - 1] + "…"
