"""Running totals over the items of an outline, so that a plan need not walk what will not be in view anyway."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from operator import neg


@dataclass(frozen=True, slots=True)
class Sums:
    """Totals of the items before each index: tokens of the units in view, original tokens, markers that begin.

    `least` are the totals of the items from each index on: what they take in view once all has been done short of
    hiding them.
    """

    shown: Sequence[int]
    originals: Sequence[int]
    markers: Sequence[int]
    least: Sequence[int]

    def horizon(self, tokens: int) -> int:
        """The first index from which on the items may take no more than these tokens."""
        return bisect_left(self.least, -tokens, key=neg)


def sums_of(shown: Iterable[int], originals: Iterable[int], is_hidden: Iterable[bool], least: Sequence[int]) -> Sums:
    """The totals of these figures, one of each for every item."""
    begins = (after and not before for before, after in pairwise((False, *is_hidden)))
    return Sums(
        list(accumulate(shown, initial=0)),
        list(accumulate(originals, initial=0)),
        list(accumulate(begins, initial=0)),
        list(accumulate(reversed(least), initial=0))[::-1],
    )
