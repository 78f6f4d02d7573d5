"""What an interim summary may choose from: a session is locked meanwhile, so it reads a bounded number of items."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple

from foldline.engine.ledger.choice.weights import FITTED
from foldline.engine.ledger.choice.worth import worth_of
from foldline.engine.ledger.items import DOING, Item, ItemAt, ItemKind, Speaker

# Many times what a window of 200k hides at once, with what earlier summaries carry on.
MOST: Final = 4_000


class Candidates(NamedTuple):
    """Items in their order, and the number of those that were left out, by kind."""

    items: list[ItemAt]
    left_out: Mapping[ItemKind, int]


def candidates(items: Iterable[ItemAt], most: int = MOST) -> Candidates:
    """These items; of more than `most`, the first request and the best by kind, the newest first."""
    found = list(items)
    if len(found) <= most:
        return Candidates(found, {})
    task = next((at for at, (_, item) in enumerate(found) if _is_task(item)), 0)
    best = {task, *islice((at for at in _ranked([item for _, item in found]) if at != task), most - 1)}
    left_out = Counter(item.kind for at, (_, item) in enumerate(found) if at not in best)
    return Candidates([found[at] for at in sorted(best)], left_out)


def _ranked(items: Sequence[Item]) -> Iterator[int]:
    """The places of items, the best first, of equal ones the newest. There are few different worths."""
    places: defaultdict[float, list[int]] = defaultdict(list)
    for at, worth in enumerate(_worths(items)):
        places[worth].append(at)
    for worth in sorted(places, reverse=True):
        yield from reversed(places[worth])


def _worths(items: Sequence[Item]) -> list[float]:
    """The worth of each item; those of one call have that of the best of them, as a call without its end seems open."""
    own = [_worth(item.kind, item.speaker, item.state) for item in items]
    of_call: dict[str, float] = {}
    for item, worth in zip(items, own, strict=True):
        if item.call:
            of_call[item.call] = max(worth, of_call.get(item.call, 0.0))
    return [of_call[item.call] if item.call else worth for item, worth in zip(items, own, strict=True)]


def _is_task(item: Item) -> bool:
    return item.kind is ItemKind.REQUEST and item.speaker is Speaker.USER


@lru_cache(maxsize=1_024)
def _worth(kind: ItemKind, speaker: Speaker, state: str) -> float:
    """The worth of such items. A plan's steps say nothing without its beginning, which is worth nothing by itself."""
    return worth_of(Item(kind, "", speaker, state=DOING if kind is ItemKind.PLAN else state), FITTED)
