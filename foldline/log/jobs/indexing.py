"""Writes what recall searches and the items of the ledger: in the sweep, or before the first recall that misses it.

So no append of a turn waits for it, and who needs items before that finds them anew. Texts are read and their terms
found without a lock; rows are written in short transactions, and on PostgreSQL no append to the session waits for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from math import inf
from operator import attrgetter
from sys import maxsize
from typing import Final

from foldline.engine.ledger.items import Item, items_to_json
from foldline.engine.recall.passages import index_of
from foldline.engine.wire import dumps
from foldline.log.errors import Busy, NotFound
from foldline.log.jobs.endings import UNREADABLE
from foldline.log.sealing.pages import fitting
from foldline.log.sealing.terms import make_term_key
from foldline.log.storage import entry_log, passages, paths
from foldline.log.storage.passages import Indexed, Place
from foldline.log.storage.rows import Session
from foldline.log.storage.segments import Segment
from foldline.log.storage.store import Store, Transaction

# One transaction indexes at most so many entries, and bytes of bodies if the first has not more: 0.1 s of work.
AT_ONCE: Final = 50
BYTES_AT_ONCE: Final = 1 << 20


def index_session(
    store: Store, tenant: str, session_id: str, most: int, most_bytes: float = inf, *, largest: int = maxsize
) -> bool:
    """Index the entries of a session until that were `most`, or `most_bytes` of bodies; whether all are indexed now.

    Those of more than `largest` bytes are left to the sweep.

    Raises:
        NotFound: no such session.
    """
    with store.read() as tx:
        session = paths.open_head(tx, tenant, session_id).session
    entries = size = 0
    while True:
        with store.read() as tx:
            found = passages.unindexed_in(tx, session, AT_ONCE, largest)
            if not found:
                return not passages.unindexed_in(tx, session, 1)
        if entries >= most or size >= most_bytes:
            return False
        first = found[: fitting((size for _, size in found), BYTES_AT_ONCE)]
        _index(store, session, [place for place, _ in first])
        entries += len(first)
        size += sum(one.size for one in first)


def index_waiting(store: Store, most: int, rest: Callable[[float], object]) -> None:
    """Index up to `most` of the entries that are not indexed yet, of whatever session.

    `rest` is called after each few entries, with the seconds that they took.
    """
    for _ in range(0, most, AT_ONCE):
        began = store.stopwatch()
        if not _index_some(store):
            return
        rest(store.stopwatch() - began)


def _index_some(store: Store) -> bool:
    """Index a few entries; whether there may be more that can be indexed now."""
    with store.read() as tx:
        found = passages.unindexed(tx, AT_ONCE)
    done = 0
    for (tenant, session_id), rows in groupby(found, key=lambda row: row[:2]):
        waiting = [one for _, _, one in rows]
        places = [one.place for one in waiting[: fitting((one.size for one in waiting), BYTES_AT_ONCE)]]
        try:
            with store.read() as tx:
                session = paths.open_head(tx, tenant, session_id).session
            done += _index(store, session, places)
        except (NotFound, Busy):  # It was deleted meanwhile, or is being removed or encrypted.
            continue
        except UNREADABLE:
            # Nobody can read the session, and these would be the first again.
            with store.write() as tx:
                passages.give_up(tx, tenant, session_id, places)
            done += len(places)
    # What is left is of such sessions, or was indexed by another sweep, or is more than fits at once.
    return done > 0 and (done < len(found) or len(found) == AT_ONCE)


def _index(store: Store, session: Session, places: Iterable[Place]) -> int:
    """Index entries of a session; how many of them nobody else has indexed meanwhile."""
    make_term_key(store)
    with store.read() as tx:
        # Two who index the same entries lock them in the same order.
        found = [
            entry
            for _, of_branch in groupby(sorted(places), key=attrgetter("branch"))
            for entry in _indexed(tx, session, [*of_branch])
        ]
    with store.write() as tx:
        # While the session stays, its deletion cannot leave these rows behind.
        return passages.add_missing(tx, session, found) if paths.lives(tx, session.pk) else 0


def _indexed(tx: Transaction, session: Session, places: Sequence[Place]) -> list[Indexed]:
    """What an index has of entries of one branch, and the items of their ledger as they are stored."""
    try:
        parts = [Segment(place.branch, place.seq, place.seq) for place in places]
        messages, found = entry_log.messages_and_items(tx, session, parts)
        items: dict[int, list[Item]] = {seq: [] for seq in messages}
        for seq, item in found:
            items[seq].append(item)
        return [
            Indexed(place, index_of(messages[place.seq], own), dumps(items_to_json(own)))
            if (own := items.get(place.seq)) is not None
            else Indexed(place)
            for place in places
        ]
    except UNREADABLE:
        # One of them cannot be read.
        if len(places) == 1:
            return [Indexed(places[0])]
        return [entry for place in places for entry in _indexed(tx, session, [place])]
