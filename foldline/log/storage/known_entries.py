"""What was read of entries: kept in the process, as long as there is room, because an entry never changes."""

from __future__ import annotations

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
        return self.last + 1 if self._leads_to(wanted) else wanted.first

    def with_more(self, wanted: Segment, entries: Sequence[KnownEntry[Any]]) -> Block:
        """The block with the wanted entries, of which `entries` were read now, from `next_of` on."""
        if self._leads_to(wanted):
            return Block(self.first, wanted.last, (*self.entries, *entries))
        return Block(wanted.first, wanted.last, entries)

    def _leads_to(self, wanted: Segment) -> bool:
        return self.first <= wanted.first <= self.last + 1


NOTHING: Final = Block(0, -1)
Reader: TypeAlias = Callable[[list[Segment]], Iterable[KnownEntry[T]]]


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
        """`what` was read of the entries of a path in these segments, oldest first, with their seqs.

        `read` reads what is not known, all of it at once: a path through many branches has many segments.
        """
        # The number of a deleted session may be given again.
        of_session = (what, session.pk, session.created_at, session.id)
        spans = [((*of_session, span.branch, span.first // BLOCK), span) for part in parts for span in _by_block(part)]
        wanted: dict[Any, Segment] = {}
        for key, span in spans:
            wanted[key] = Segment(span.branch, wanted.get(key, span).first, span.last)
        with self._lock:
            blocks = {key: self._blocks.get(key, NOTHING) for key in wanted}
        lacking = {
            key: Segment(span.branch, blocks[key].next_of(span), span.last)
            for key, span in wanted.items()
            if not blocks[key].has(span)
        }
        if lacking:
            entries = {entry.seq: entry for entry in read(_joined(lacking.values()))}
            for key, new in lacking.items():
                found = [entries[seq] for seq in range(new.first, new.last + 1) if seq in entries]
                blocks[key] = blocks[key].with_more(wanted[key], found)
            self._keep({key: blocks[key] for key in lacking})
        for key, span in spans:
            yield from ((seq, value) for seq, value, _ in blocks[key].entries if span.first <= seq <= span.last)

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


def _joined(parts: Iterable[Segment]) -> list[Segment]:
    """The segments, of which those that follow one another in a branch are one."""
    joined: list[Segment] = []
    for part in parts:
        if joined and (joined[-1].branch, joined[-1].last + 1) == (part.branch, part.first):
            joined[-1:] = [Segment(part.branch, joined[-1].first, part.last)]
        else:
            joined.append(part)
    return joined
