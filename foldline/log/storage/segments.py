"""A path as segments, one for each branch it goes through, and the ids of entries."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile
from operator import attrgetter
from typing import Any, Final

from sqlalchemy import Select, bindparam, select

from foldline.engine.edits import Edit
from foldline.log.errors import NotFound
from foldline.log.storage.rows import Path
from foldline.log.storage.store import Transaction
from foldline.log.storage.tables import BRANCH


@dataclass(frozen=True, slots=True)
class Segment:
    """The entries `first` to `last` (seqs) of one branch, as part of a path."""

    branch: int
    first: int
    last: int


_LAST: Final = attrgetter("last")
# A number too large for its column would be a database error instead of an unknown id.
LONGEST_NUMBER: Final = 9


def _ancestors() -> Select[Any]:
    """The branches that a path goes through before its own, newest first, as far back as it has entries from a seq on.

    However many branches a session has, they are found by their keys.
    """
    columns = (BRANCH.c.branch, BRANCH.c.parent, BRANCH.c.left_seq)
    at = BRANCH.c.session_pk == bindparam("pk")
    found = select(*columns).where(at, BRANCH.c.branch == bindparam("number")).cte("ancestor", recursive=True)
    are_wanted = found.c.left_seq >= bindparam("since")
    found = found.union_all(select(*columns).where(at, BRANCH.c.branch == found.c.parent, are_wanted))
    # A branch has a higher number than its parent.
    return select(found.c.branch, found.c.left_seq).order_by(found.c.branch.desc())


_ANCESTORS: Final = _ancestors()


def segments(tx: Transaction, path: Path, *, since: int = 0) -> list[Segment]:
    """The path's segments, oldest first; of those that are over before the seq `since`, there may be none."""
    found = [Segment(path.branch, path.left_seq + 1, path.leaf_seq)]
    if path.parent is not None and path.left_seq >= since:
        last = path.left_seq
        wanted = {"pk": path.session.pk, "number": path.parent, "since": since}
        for branch, left_seq in tx.execute(_ANCESTORS, wanted):
            found.append(Segment(branch, left_seq + 1, last))
            last = left_seq
    return [segment for segment in reversed(found) if segment.first <= segment.last]


def segment_at(parts: Sequence[Segment], seq: int) -> Segment:
    """The segment of the path's entry at `seq`."""
    return parts[bisect_left(parts, seq, key=_LAST)]


def branch_at(parts: Sequence[Segment], seq: int) -> int:
    """The branch of the path's entry at `seq`."""
    return segment_at(parts, seq).branch


def id_at(parts: Sequence[Segment], seq: int) -> str:
    """The id of the path's entry at `seq`, or of its first entry: an imported summary may have a seq before that."""
    seq = max(seq, parts[0].first)
    return entry_id(branch_at(parts, seq), seq)


def id_before(parts: Sequence[Segment], seq: int) -> str | None:
    """The id of the path's entry before `seq`; None for the first entry."""
    return None if seq <= parts[0].first else id_at(parts, seq - 1)


def holds(parts: Sequence[Segment], branch: int, seq: int) -> bool:
    """Whether the entry is on the path."""
    return any(part.branch == branch for part in parts_between(parts, seq, seq))


def uncovered(parts: Iterable[Segment], edits: Sequence[Edit]) -> Iterator[Segment]:
    """The parts of the path that none of these edits covers; they are disjoint, oldest first."""
    for part in parts:
        first = part.first
        for edit in edits:
            if edit.last < first or edit.first > part.last:
                continue
            if edit.first > first:
                yield Segment(part.branch, first, edit.first - 1)
            first = edit.last + 1
        if first <= part.last:
            yield Segment(part.branch, first, part.last)


def clipped(parts: Sequence[Segment], spans: Iterable[tuple[int, int]]) -> list[Segment]:
    """The parts of the segments inside one of the seq ranges `spans` (inclusive); both oldest first."""
    return [part for first, last in spans for part in parts_between(parts, first, last)]


def parts_between(parts: Sequence[Segment], first: int, last: int) -> Iterator[Segment]:
    """The parts of the segments, oldest first, between two seqs (inclusive): each is made when it is asked for."""
    start = bisect_left(parts, first, key=_LAST)
    for part in takewhile(lambda part: part.first <= last, islice(parts, start, None)):
        yield Segment(part.branch, max(part.first, first), min(part.last, last))


def entry_id(branch: int, seq: int) -> str:
    """The public id of an entry, such as `e0-12`."""
    return f"e{branch}-{seq}"


def parse_entry_id(name: str) -> tuple[int, int]:
    """The branch and seq of an entry's id.

    Raises:
        NotFound: the name is not an entry's id.
    """
    branch, dash, seq = name[1:].partition("-")
    if not (name.startswith("e") and dash and _is_number(branch) and _is_number(seq)):
        raise NotFound("entry", name)
    return int(branch), int(seq)


def _is_number(text: str) -> bool:
    return text.isdecimal() and len(text) <= LONGEST_NUMBER
