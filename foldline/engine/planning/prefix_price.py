"""The price of a changed prefix: a provider has the view of the call before in its cache, up to the first change."""

from __future__ import annotations

from collections.abc import Sequence

from foldline.engine.edits import Edit
from foldline.engine.models.prices import CacheRates
from foldline.engine.outline import Item, Outline, Summarized


def pays(before: Outline, after: Outline, edits: Sequence[Edit], rates: CacheRates) -> bool:
    """Whether edits save more than it costs to write everything behind the first of them to the cache again.

    The view has grown back after as many calls as the saving takes at the pace of the session so far; over these calls
    it is smaller by half of the saving on average.
    """
    saved = before.tokens - after.tokens
    calls = saved / tokens_a_call(before)
    return calls * saved / 2 * rates.cached >= rewritten(after, edits) * (rates.missed - rates.cached)


def rewritten(after: Outline, edits: Sequence[Edit]) -> int:
    """The tokens of a view from its first edited place on: no cache has them."""
    first = min(edit.first for edit in edits)
    return sum(shown(item) for item in after.items if item.last >= first)


def tokens_a_call(outline: Outline) -> float:
    """The tokens that a call of the model adds to the history, by the entries that no summary covers; at least 1."""
    units = [item for item in outline.items if not isinstance(item, Summarized)]
    calls = sum(unit.kind == "batch" for unit in units)
    return max(1.0, sum(unit.original_tokens for unit in units) / max(1, calls))


def shown(item: Item) -> int:
    """The tokens of an item in view, without the marker of a hidden run."""
    if isinstance(item, Summarized):
        return item.edit.tokens
    return 0 if item.is_hidden else item.tokens
