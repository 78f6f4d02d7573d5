"""The outline: units of facts along a path as the live edits show them. All that stages and cut points look at."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from compaction.edits import Edit, LiveEdits, covered, within
from compaction.facts import Facts
from compaction.tokens import MESSAGE
from compaction.wording import cleared_tokens, late_tokens, marker_tokens, pointer_tokens, stub_tokens

UnitKind: TypeAlias = Literal["user", "batch", "late", "note"]
_KINDS: dict[str, UnitKind] = {"user": "user", "assistant": "batch", "tool": "late"}


@dataclass(slots=True)
class Unit:
    """What is only edited as a whole: a batch, or a message outside any. `tokens` is what it takes when shown."""

    entries: list[Facts]
    kind: UnitKind
    tokens: int
    original_tokens: int
    unanswered: int = 0
    is_open: bool = False
    is_hidden: bool = False

    @property
    def first(self) -> int:
        """Seq of its first entry."""
        return self.entries[0].seq

    @property
    def last(self) -> int:
        """Seq of its last entry."""
        return self.entries[-1].seq


@dataclass(slots=True)
class Summarized:
    """A live summary in the place of the units it covers."""

    edit: Edit

    @property
    def first(self) -> int:
        """Seq of the first entry it covers."""
        return self.edit.first

    @property
    def last(self) -> int:
        """Seq of the last entry it covers."""
        return self.edit.last


Item: TypeAlias = Unit | Summarized


@dataclass(slots=True)
class Outline:
    """The items of a path, oldest first.

    `tokens` is what the view takes, unscaled and without the fixed parts; stubs of a batch that is still open are not in
    it. `last_user` is the index of the last user message, -1 if there is none. `results` are the tool results in view,
    oldest first, each with the index of its item.
    """

    items: list[Item]
    live: LiveEdits
    tokens: int
    last_user: int
    results: list[tuple[int, Facts]]

    @property
    def owed_tokens(self) -> int:
        """Original tokens of what is hidden and not summarized."""
        return sum(item.original_tokens for item in self.items if isinstance(item, Unit) and item.is_hidden)

    @property
    def open_unit(self) -> Unit | None:
        """The last batch, if calls of it wait for their results."""
        last = self.items[-1] if self.items else None
        return last if isinstance(last, Unit) and last.is_open else None

    def is_open(self, index: int) -> bool:
        """Whether the item is a batch that waits for results."""
        item = self.items[index]
        return isinstance(item, Unit) and item.is_open

    def edited(self, edits: Iterable[Edit]) -> Outline:
        """The outline after these edits."""
        live = self.live.adding(edits)
        facts = [entry for item in self.items if isinstance(item, Unit) for entry in item.entries]
        return outline_of(facts, live)


def outline_of(facts: Iterable[Facts], live: LiveEdits) -> Outline:
    """The outline of a path from the facts of its messages that are not under a live summary, oldest first."""
    units = _units(facts, live)
    if units and units[-1].unanswered:
        units[-1].is_open = True
        units[-1].tokens -= stub_tokens() * units[-1].unanswered
        units[-1].original_tokens -= stub_tokens() * units[-1].unanswered
    for unit in units if live.hidden else ():
        unit.is_hidden = within(unit.first, unit.last, live.hidden)
    items: list[Item] = [*units, *(Summarized(edit) for edit in live.condensed)]
    items.sort(key=_first)
    last_user = next((i for i in range(len(items) - 1, -1, -1) if _is_user(items[i])), -1)
    results = [
        (i, entry)
        for i, item in enumerate(items)
        if isinstance(item, Unit) and not item.is_hidden
        for entry in item.entries
        if entry.role == "tool"
    ]
    return Outline(items, live, _tokens(items), last_user, results)


def _units(facts: Iterable[Facts], live: LiveEdits) -> list[Unit]:
    units: list[Unit] = []
    stub = stub_tokens()
    for entry in facts:
        if live.condensed and covered(entry.seq, entry.seq, live.condensed):
            continue
        tokens = shown_tokens(entry, live.cells.get(entry.seq)) if live.cells else entry.tokens
        if units and units[-1].entries[0].seq == entry.unit != entry.seq:
            unit = units[-1]
            unit.entries.append(entry)
            if not entry.is_late:
                unit.unanswered -= 1
                tokens -= stub
            unit.tokens += tokens
            unit.original_tokens += entry.tokens if entry.is_late else entry.tokens - stub
        else:
            waiting = len(entry.calls)
            kind = _KINDS.get(entry.role, "note")
            units.append(Unit([entry], kind, tokens + stub * waiting, entry.tokens + stub * waiting, waiting))
    return units


def shown_tokens(entry: Facts, cell: Edit | None) -> int:
    """What an entry takes in a view under its edit, or as itself."""
    if cell is None:
        return entry.tokens
    if entry.answers is None:
        return entry.tokens - entry.arguments_saving
    frame = MESSAGE + (late_tokens() if entry.is_late else 0)
    if cell.kind == "clear":
        return frame + cleared_tokens()
    if cell.kind == "supersede":
        return frame + pointer_tokens()
    return frame + entry.excerpts[cell.level]


def _tokens(items: list[Item]) -> int:
    total, marker, after_hidden = 0, marker_tokens(), False
    for item in items:
        if isinstance(item, Summarized):
            total += item.edit.tokens
            after_hidden = False
        elif item.is_hidden:
            total += 0 if after_hidden else marker
            after_hidden = True
        else:
            total += item.tokens
            after_hidden = False
    return total


def _first(item: Item) -> int:
    return item.first


def _is_user(item: Item) -> bool:
    return isinstance(item, Unit) and item.kind == "user"
