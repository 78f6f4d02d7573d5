"""The items that a summary carries on: those of all it covers, bounded; the next summary chooses from them again.

No summary is made of another one's text: what one leaves out, the next can have.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from foldline.engine.ledger.assemble import LedgerLine
from foldline.engine.ledger.choice.choose import choose
from foldline.engine.ledger.items import ItemAt, items_from_json, items_to_json

# What a snapshot may take, by a cheap estimate: many times any summary, and little beside what it stands for.
MOST_TOKENS: Final = 40_000
CHARS_PER_TOKEN: Final = 4
# What a line takes beside its text.
LINE_TOKENS: Final = 8
# What stays of too large a snapshot: choosing takes long, and so it is not due again for many compactions.
KEPT_SHARE: Final = 0.5


def snapshot_of(
    lines: list[LedgerLine], dismissed: Iterable[ItemAt] = (), most_tokens: int = MOST_TOKENS
) -> tuple[ItemAt, ...]:
    """The items of the lines that are worth carrying on, in order: the best if they take more than `most_tokens`.

    The user may take back what was `dismissed`, so that is carried on too.
    """
    tokens = {line.order: len(line.text) // CHARS_PER_TOKEN + LINE_TOKENS for line in lines}
    if sum(tokens.values()) > most_tokens:
        lines = choose(lines, tokens, int(most_tokens * KEPT_SHARE)).ranked
    placed = dict.fromkeys((*(found for line in lines for found in line.items), *dismissed))
    return tuple(sorted(placed, key=lambda found: found[0]))


def to_json(items: Iterable[ItemAt]) -> list[list[Any]]:
    """Items with their places as JSON arrays; `from_json` is its inverse."""
    return [[place, *items_to_json([item])[0]] for place, item in items]


def from_json(values: Iterable[list[Any]]) -> list[ItemAt]:
    """The items that `to_json` wrote."""
    return [(place, item) for place, *value in values for item in items_from_json([value])]
