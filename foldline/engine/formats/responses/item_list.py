"""A list of Responses items that the API takes: reasoning before what it led to, and no id twice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from foldline.engine.formats import marks
from foldline.engine.formats.contract import Writer
from foldline.engine.formats.responses.calls import answered
from foldline.engine.formats.responses.items import IDENTIFIED, IMAGE, MESSAGE, REASONING, TEXTS, Item, kind_of
from foldline.engine.messages import Other

ID: Final = "id"


class _Parts(NamedTuple):
    """The type of a text among an item's parts, and the types that the API does not take there."""

    text: str
    refused: frozenset[str]


_OF_ANSWERS: Final = _Parts("input_text", frozenset({"output_text", "refusal", "text"}))
_OF_OTHERS: Final = _Parts("input_text", _OF_ANSWERS.refused | {IMAGE})
_BY_ROLE: Final = {"user": _OF_ANSWERS, "assistant": _Parts("output_text", frozenset({"input_text", "text", IMAGE}))}


class ItemList(Writer):
    """The items written so far, as the messages of a writer.

    The API refuses reasoning without the item it led to, and an item whose `id` says that reasoning led to it without
    that reasoning; an item without `id` says nothing. `keeps_ids` is whether the reasoning that led to the next items
    is in the list.
    """

    def __init__(self) -> None:
        super().__init__()
        self.keeps_ids = True
        self._ids: set[str] = set()
        # Reasoning that waits for the item it led to.
        self._waiting: list[Item] = []

    def add_of_client(self, item: Item) -> None:
        """Add what the client wrote."""
        self.drop_waiting()
        item = self._mended(item)
        self._append(item if self._is_new(item) else _without_id(item))

    def add_of_model(self, item: Item, *, is_own: bool = True) -> None:
        """Add what the model wrote; `is_own` is whether it came in so."""
        item = self._mended(item)
        if kind_of(item) == REASONING:
            self._add_reasoning(item)
            return
        if not self.can_identify(item):
            is_own = is_own and kind_of(item) not in IDENTIFIED
            item = _without_id(item) if is_own else self.mark(item)
        if self._waiting and not is_own:
            self.keeps_ids = False
            self.drop_waiting()
        self.messages += self._waiting
        self._waiting = []
        self._append(item)

    def can_identify(self, item: Item) -> bool:
        """Whether an item of the model may keep its id, if it has one."""
        return item.get(ID) is None or (self.keeps_ids and self._is_new(item))

    def mark(self, item: Item) -> Item:
        """A text that stands for an item."""
        self.lossy += 1
        return said(marks.left_out(Other(kind_of(item), item)))

    def drop_waiting(self) -> None:
        """Leave out reasoning that led to nothing."""
        self.lossy += len(self._waiting)
        self._waiting = []

    def _mended(self, item: Item) -> Item:
        """An item that the API takes: itself, unless it has what the API refuses of it."""
        if "type" in item and item["type"] is None:
            item = {key: value for key, value in item.items() if key != "type"}
        kind = kind_of(item)
        if kind == REASONING:
            return item if isinstance(item.get("summary"), list) else {**item, "summary": []}
        if kind == MESSAGE:
            return self._with_parts(item, "content", _BY_ROLE.get(item["role"], _OF_OTHERS))
        answers = answered(item)
        if answers is None or not answers.is_open:
            return item
        return self._with_parts(item, answers.answer, _OF_ANSWERS)

    def _with_parts(self, item: Item, key: str, parts: _Parts) -> Item:
        """The item, whose parts are under this key if it has any, with those that the API takes."""
        given = item.get(key)
        if not isinstance(given, list) or parts.refused.isdisjoint(part.get("type") for part in given):
            return item
        mended = [self._text(part, parts.text) if part.get("type") in parts.refused else part for part in given]
        return {**item, key: mended}

    def _text(self, part: Mapping[str, Any], kind: str) -> Item:
        """A text of this type that says what a part says, or that it was an image."""
        if part["type"] == IMAGE:
            self.lossy += 1
            return {"type": kind, "text": marks.IMAGE}
        return {"type": kind, "text": part[TEXTS[part["type"]]]}

    def _add_reasoning(self, item: Item) -> None:
        self.keeps_ids = self._is_new(item)
        if self.keeps_ids:
            self._note(item)
            self._waiting.append(item)
        else:
            self.lossy += 1

    def _append(self, item: Item) -> None:
        self._note(item)
        self.messages.append(item)

    def _note(self, item: Item) -> None:
        if isinstance(item.get(ID), str):
            self._ids.add(item[ID])

    def _is_new(self, item: Item) -> bool:
        """Whether an item has no id, or one that the API takes and no earlier item has."""
        item_id = item.get(ID)
        return item_id is None or (isinstance(item_id, str) and item_id not in self._ids)


def said(*texts: str) -> Item:
    """The item of an assistant's text."""
    return {"type": MESSAGE, "role": "assistant", "content": [{"type": "output_text", "text": text} for text in texts]}


def _without_id(item: Item) -> dict[str, Any]:
    return {key: value for key, value in item.items() if key != ID}
