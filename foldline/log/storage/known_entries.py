"""What was read of entries: kept in the process, as long as there is room, because an entry never changes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from threading import Lock
from typing import Any, Final, Generic, NamedTuple, TypeAlias, TypeVar

from cachetools import LRUCache

from foldline.log.storage.rows import Session
from foldline.log.storage.segments import Segment

T = TypeVar("T")
# Entries are kept in blocks of so many seqs: a look-up for each entry would cost as much as reading it.
BLOCK: Final = 64
# What one kept entry takes beside its body.
ENTRY_BYTES: Final = 1_500


class KnownEntry(NamedTuple, Generic[T]):
    """What was read of one entry, and the bytes that it takes in memory."""

    seq: int
    value: T
    size: int = ENTRY_BYTES


class Block(NamedTuple):
    """What was read of the entries with the seqs `first` to `last`, oldest first."""

    first: int
    last: int
    entries: Sequence[KnownEntry[Any]] = ()

    @property
    def size(self) -> int:
        """The bytes that it takes in memory."""
        return ENTRY_BYTES + sum(entry.size for entry in self.entries)

    def has(self, wanted: Segment) -> bool:
        """Whether these entries were read."""
        return self.first <= wanted.first and wanted.last <= self.last

    def next_of(self, wanted: Segment) -> int:
        """The first seq to read for these entries: what follows the block, if it has their beginning."""
        return self.last + 1 if self.first <= wanted.first <= self.last + 1 else wanted.first

    def with_more(self, wanted: Segment, entries: Sequence[KnownEntry[Any]]) -> Block:
        """The block with the wanted entries, of which `entries` were read now."""
        if self.next_of(wanted) == wanted.first:
            return Block(wanted.first, wanted.last, entries)
        more = [entry for entry in entries if entry.seq > self.last]
        return Block(self.first, wanted.last, (*self.entries, *more))


NOTHING: Final = Block(0, -1)
Reader: TypeAlias = Callable[[Segment], Iterable[KnownEntry[T]]]


class KnownEntries:
    """What was read of entries, of at most so many bytes together; what was not used for longest goes first.

    Only committed entries may be read through it: those of a transaction that is rolled back never were.
    """

    def __init__(self, most_bytes: int) -> None:
        self._blocks: LRUCache[Any, Block] = LRUCache(most_bytes, getsizeof=attrgetter("size"))
        self._lock = Lock()

    @property
    def size(self) -> int:
        """The bytes of what is kept now."""
        return int(self._blocks.currsize)

    def of(self, what: str, session: Session, parts: Iterable[Segment], read: Reader[T]) -> Iterator[tuple[int, T]]:
        """`what` was read of the entries in these segments, oldest first, with their seqs; `read` reads what is not."""
        # The number of a deleted session may be given again.
        of_session = (what, session.pk, session.created_at, session.id)
        for part in parts:
            for block in self._blocks_of((*of_session, part.branch), part, read):
                yield from ((seq, value) for seq, value, _ in block.entries if part.first <= seq <= part.last)

    def _blocks_of(self, of_branch: tuple[Any, ...], part: Segment, read: Reader[Any]) -> list[Block]:
        wanted = list(_by_block(part))
        keys = [(*of_branch, span.first // BLOCK) for span in wanted]
        with self._lock:
            blocks = [self._blocks.get(key, NOTHING) for key in keys]
        lacking = [at for at, span in enumerate(wanted) if not blocks[at].has(span)]
        if lacking:
            start, stop = lacking[0], lacking[-1]
            entries = defaultdict[int, list[KnownEntry[Any]]](list)
            for entry in read(Segment(part.branch, blocks[start].next_of(wanted[start]), wanted[stop].last)):
                entries[entry.seq // BLOCK].append(entry)
            for at in lacking:
                blocks[at] = blocks[at].with_more(wanted[at], entries[wanted[at].first // BLOCK])
            self._keep({keys[at]: blocks[at] for at in lacking})
        return blocks

    def _keep(self, blocks: dict[Any, Block]) -> None:
        with self._lock:
            for key, block in blocks.items():
                self._blocks.pop(key, None)
                if self._blocks.getsizeof(block) <= self._blocks.maxsize:
                    self._blocks[key] = block


def _by_block(part: Segment) -> Iterator[Segment]:
    """The parts of a segment in each block."""
    for first in range(part.first // BLOCK * BLOCK, part.last + 1, BLOCK):
        yield Segment(part.branch, max(part.first, first), min(part.last, first + BLOCK - 1))
