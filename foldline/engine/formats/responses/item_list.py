"""A list of Responses items that the API takes: reasoning before what it led to, and no id twice."""

from __future__ import annotations

from typing import Any, Final

from foldline.engine.formats import marks
from foldline.engine.formats.contract import Writer
from foldline.engine.formats.responses.items import IDENTIFIED, MESSAGE, REASONING, Item, kind_of
from foldline.engine.messages import Other

ID: Final = "id"


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
        self._append(item if self._is_new(item) else _without_id(item))

    def add_of_model(self, item: Item, *, is_own: bool = True) -> None:
        """Add what the model wrote; `is_own` is whether it came in so."""
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
