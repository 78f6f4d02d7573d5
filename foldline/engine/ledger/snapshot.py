"""The items that a summary carries on: those of all it covers, bounded; the next summary chooses from them again.

No summary is made of another one's text: what one leaves out, the next can have.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from foldline.engine.ledger.assemble import LedgerLine
from foldline.engine.ledger.choice.choose import choose
from foldline.engine.ledger.items import ItemAt, items_from_json, items_to_json
from foldline.engine.tokens.counter import count_text

# What a snapshot may take: many times any summary, and little beside what it stands for.
MOST_CHARS: Final = 120_000
MOST_LINES: Final = 2_000
CHARS_PER_TOKEN: Final = 4


def snapshot_of(lines: list[LedgerLine], dismissed: Iterable[ItemAt] = ()) -> tuple[ItemAt, ...]:
    """The items of the lines that are worth carrying on, in order: the best if there are too many.

    The user may take back what was `dismissed`, so that is carried on too.
    """
    if len(lines) > MOST_LINES or sum(len(line.text) for line in lines) > MOST_CHARS:
        tokens = {line.order: count_text(line.text) for line in lines}
        lines = choose(lines, tokens, MOST_CHARS // CHARS_PER_TOKEN).ranked[:MOST_LINES]
    placed = dict.fromkeys((*(found for line in lines for found in line.items), *dismissed))
    return tuple(sorted(placed, key=lambda found: found[0]))


def to_json(items: Iterable[ItemAt]) -> list[list[Any]]:
    """Items with their places as JSON arrays; `from_json` is its inverse."""
    return [[place, *items_to_json([item])[0]] for place, item in items]


def from_json(values: Iterable[list[Any]]) -> list[ItemAt]:
    """The items that `to_json` wrote."""
    return [(place, item) for place, *value in values for item in items_from_json([value])]
