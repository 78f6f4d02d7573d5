"""The provenance of a summary: the item behind each of its lines, and the items that it does not have, by kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from foldline.engine.ledger.assemble import LedgerLine
from foldline.engine.ledger.items import STORY, ItemKind

NONE: Final[Mapping[ItemKind, int]] = MappingProxyType({})


class SummaryLine(NamedTuple):
    """A line of a summary without its bullet, the kind of its item, and the place (seq) of its newest entry."""

    text: str
    kind: ItemKind
    place: int


@dataclass(frozen=True, slots=True)
class Provenance:
    """What a summary was made of: its `lines` in its order, and the number of items that it does not have, by kind.

    `recallable` items were found and are not in the summary; a recall can find them. `replaced` items gave way to newer
    ones of the same thing.
    """

    lines: tuple[SummaryLine, ...] = ()
    recallable: Mapping[ItemKind, int] = field(default_factory=lambda: NONE)
    replaced: Mapping[ItemKind, int] = field(default_factory=lambda: NONE)

    @property
    def kept(self) -> Mapping[ItemKind, int]:
        """The number of lines of each kind."""
        return Counter(line.kind for line in self.lines)

    @property
    def by_kind(self) -> dict[str, dict[str, int]]:
        """The numbers of items kept, recallable and replaced, by the kinds of which there are any."""
        counted = {"kept": self.kept, "recallable": self.recallable, "replaced": self.replaced}
        return {
            kind.value: {fate: counts.get(kind, 0) for fate, counts in counted.items()}
            for kind in ItemKind
            if any(counts.get(kind) for counts in counted.values())
        }


def provenance_of(
    shown: Sequence[tuple[LedgerLine, str]], current: Iterable[LedgerLine], replaced: Iterable[LedgerLine]
) -> Provenance:
    """The provenance of a summary that shows these lines, each with its text, of those that are `current`.

    Lines of a story are in no entry.
    """
    taken = {id(line) for line, _ in shown}
    return Provenance(
        tuple(SummaryLine(text, kind_of(line), line.place) for line, text in shown if line.item.state != STORY),
        Counter(kind_of(line) for line in current if id(line) not in taken and line.item.state != STORY),
        Counter(map(kind_of, replaced)),
    )


def kind_of(line: LedgerLine) -> ItemKind:
    """The kind of a line's item; that of a call that still fails is a failure."""
    return ItemKind.FAILURE if line.is_failing else line.item.kind


def together(pieces: Iterable[Provenance]) -> Provenance:
    """The provenance of a text that was joined from these pieces."""
    lines: list[SummaryLine] = []
    recallable, replaced = Counter[ItemKind](), Counter[ItemKind]()
    for piece in pieces:
        lines += piece.lines
        recallable.update(piece.recallable)
        replaced.update(piece.replaced)
    return Provenance(tuple(lines), recallable, replaced)


def to_json(provenance: Provenance) -> dict[str, Any]:
    """A provenance as JSON; `from_json` is its inverse."""
    return {"lines": provenance.lines, "recallable": provenance.recallable, "replaced": provenance.replaced}


def from_json(stored: Mapping[str, Any]) -> Provenance:
    """The provenance that `to_json` wrote, without items of kinds that only a newer version knows."""
    known = set(ItemKind)
    return Provenance(
        tuple(SummaryLine(text, ItemKind(kind), place) for text, kind, place in stored["lines"] if kind in known),
        *(
            {ItemKind(kind): count for kind, count in stored[fate].items() if kind in known}
            for fate in ("recallable", "replaced")
        ),
    )
