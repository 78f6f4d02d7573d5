"""The ledger of a session: the items along the path in use, and dismissing one so that later summaries leave it out."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import Final, NamedTuple

from foldline.engine.ledger.items import MOST_ITEMS, Item, ItemKind
from foldline.log.compaction import dismissals
from foldline.log.errors import NotFound
from foldline.log.storage import entry_log, paths, segments
from foldline.log.storage.rows import Path
from foldline.log.storage.segments import Segment
from foldline.log.storage.store import Transaction

# An item's position is the seq of its entry times this, plus its place in the entry from 1 on.
PER_ENTRY: Final = MOST_ITEMS + 1
# Entries that are read at a time, and the most that one page may read to find items of rare kinds.
BATCH_ENTRIES: Final = 200
MOST_ENTRIES: Final = 5_000


@dataclass(frozen=True, slots=True)
class LedgerItem:
    """An item of the ledger, with the id of its entry; `number` is its place in the entry, from 1 on."""

    item: Item
    entry_id: str
    seq: int
    number: int
    is_dismissed: bool

    @property
    def id(self) -> str:
        """The item's id, such as `e0-12.3`."""
        return f"{self.entry_id}.{self.number}"

    @property
    def position(self) -> int:
        """A number that grows along the path."""
        return self.seq * PER_ENTRY + self.number


class LedgerPage(NamedTuple):
    """Items, oldest first, and the position after which the next page begins; None if there is none."""

    items: list[LedgerItem]
    next_position: int | None


def items(
    tx: Transaction, tenant: str, session_id: str, after: int, limit: int, *, kinds: Collection[ItemKind] = ()
) -> LedgerPage:
    """Up to `limit` items after a position, of these kinds, or of all; fewer if they are rare.

    Raises:
        NotFound: no such session.
    """
    path = paths.open_head(tx, tenant, session_id)
    found: list[LedgerItem] = []
    first = after // PER_ENTRY
    stop = min(first + MOST_ENTRIES, path.leaf_seq + 1)
    for start in range(first, stop, BATCH_ENTRIES):
        span = (start, min(start + BATCH_ENTRIES, stop) - 1)
        found += (
            item
            for item in _items_in(tx, path, span)
            if item.position > after and (not kinds or item.item.kind in kinds)
        )
        if len(found) > limit:
            return LedgerPage(found[:limit], found[limit - 1].position)
    return LedgerPage(found, stop * PER_ENTRY if stop <= path.leaf_seq else None)


def dismiss(tx: Transaction, tenant: str, session_id: str, item_id: str) -> LedgerItem:
    """Leave an item's text out of later summaries. Summaries that are there stay as they are.

    Raises:
        NotFound: no such session or item on the path in use.
    """
    path, found = _open_at(tx, tenant, session_id, item_id, lock=True)
    dismissals.dismiss(tx, path.session, found.item.text)
    return replace(found, is_dismissed=True)


def restore(tx: Transaction, tenant: str, session_id: str, item_id: str) -> LedgerItem:
    """Take the dismissal of an item back.

    Raises:
        NotFound: no such session or item on the path in use.
    """
    path, found = _open_at(tx, tenant, session_id, item_id, lock=True)
    dismissals.restore(tx, path.session, found.item.text)
    return replace(found, is_dismissed=False)


def text_of(tx: Transaction, tenant: str, session_id: str, item_id: str) -> str:
    """The text of an item.

    Raises:
        NotFound: no such session or item on the path in use.
    """
    return _open_at(tx, tenant, session_id, item_id)[1].item.text


def _open_at(
    tx: Transaction, tenant: str, session_id: str, item_id: str, *, lock: bool = False
) -> tuple[Path, LedgerItem]:
    path = paths.open_head(tx, tenant, session_id, lock=lock)
    branch, seq = _entry_of(item_id)
    if segments.holds(segments.segments(tx, path), branch, seq):
        for found in _items_in(tx, path, (seq, seq)):
            if found.id == item_id:
                return path, found
    raise NotFound("item of the ledger", item_id)


def _entry_of(item_id: str) -> tuple[int, int]:
    try:
        return segments.parse_entry_id(item_id.rpartition(".")[0])
    except NotFound as error:
        raise NotFound("item of the ledger", item_id) from error


def _items_in(tx: Transaction, path: Path, span: tuple[int, int]) -> Iterator[LedgerItem]:
    parts = segments.segments(tx, path)
    keys = dismissals.dismissed_keys(tx, path.session)
    inside: list[Segment] = segments.clipped(parts, [span])
    for seq, group in groupby(entry_log.items_in(tx, path.session, inside), key=itemgetter(0)):
        name = segments.id_at(parts, seq)
        for number, (_, item) in enumerate(group, 1):
            yield LedgerItem(item, name, seq, number, dismissals.key_of(item.text) in keys)
