"""The price of a changed prefix: a provider has the view of the call before in its cache, up to the first change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from foldline.engine.edits import Edit
from foldline.engine.models.prices import MILLION, CacheRates, Prices
from foldline.engine.outline import Item, Outline, Summarized


class PrefixPrice(NamedTuple):
    """What a compaction costs once, and what it saves in each later call; US dollars where prices are known.

    `rewritten_tokens` are those of the view from the first edited place on: the next call finds them in no cache.
    `saved_tokens` no later call sends; they would have been read from the cache.
    """

    rewritten_tokens: int
    saved_tokens: int
    cost_usd: float | None = None
    saved_usd: float | None = None


def price_of(rewritten_tokens: int, saved_tokens: int, prices: Prices | None) -> PrefixPrice:
    """The price of a compaction at the model's prices, None if they are not known."""
    if prices is None or prices.miss is None or prices.cached_input is None:
        return PrefixPrice(rewritten_tokens, saved_tokens)
    cost = rewritten_tokens * (prices.miss - prices.cached_input) / MILLION
    return PrefixPrice(rewritten_tokens, saved_tokens, cost, saved_tokens * prices.cached_input / MILLION)


def pays(before: Outline, after: Outline, edits: Sequence[Edit], rates: CacheRates) -> bool:
    """Whether edits save more than it costs to write everything behind the first of them to the cache again.

    The view has grown back after as many calls as the saving takes at the pace of the session so far; over these calls
    it is smaller by half of the saving on average.
    """
    saved = before.tokens - after.tokens
    calls = saved / tokens_a_call(before)
    return calls * saved / 2 * rates.cached >= rewritten(after, first_edited(edits)) * (rates.missed - rates.cached)


def rewritten(after: Outline, first: int | None) -> int:
    """The tokens of a view from its first edited entry on, which no cache has; 0 if no entry was edited.

    `first` is the seq of that entry.
    """
    return 0 if first is None else sum(shown(item) for item in after.items if item.last >= first)


def first_edited(edits: Iterable[Edit]) -> int | None:
    """The seq of the first entry that these edits change; None without edits."""
    return min((edit.first for edit in edits), default=None)


def tokens_a_call(outline: Outline) -> float:
    """The tokens that a call of the model adds to the history, by the entries in view; at least 1."""
    units = [item for item in outline.items if not isinstance(item, Summarized) and not item.is_hidden]
    calls = sum(unit.kind == "batch" for unit in units)
    return max(1.0, sum(unit.original_tokens for unit in units) / max(1, calls))


def shown(item: Item) -> int:
    """The tokens of an item in view, without the marker of a hidden run."""
    if isinstance(item, Summarized):
        return item.edit.tokens
    return 0 if item.is_hidden else item.tokens
