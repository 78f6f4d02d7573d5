from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from foldline.log.storage import paths
from foldline.log.storage.known_entries import BLOCK, ENTRY_BYTES, KnownEntries, KnownEntry
from foldline.log.storage.rows import Session
from foldline.log.storage.segments import Segment
from foldline.log.storage.store import Store
from foldline.log.use_cases.views import view
from tests.support.log.sessions import TENANT, Scene, open_store, user


@pytest.fixture
def session(store: Store) -> Session:
    Scene(store)
    with store.read() as tx:
        return paths.open_head(tx, TENANT, "s").session


class Reader:
    """Reads the squares of even seqs, and notes what it was asked to read."""

    def __init__(self) -> None:
        self.asked: list[tuple[int, int]] = []

    def __call__(self, parts: list[Segment]) -> Iterator[KnownEntry[int]]:
        self.asked += [(part.first, part.last) for part in parts]
        seqs = (seq for part in parts for seq in range(part.first, part.last + 1))
        return (KnownEntry(seq, seq * seq) for seq in seqs if seq % 2 == 0)


def squares(
    known: KnownEntries, session: Session, span: tuple[int, int], reader: Reader, *, branch: int = 0
) -> list[int]:
    first, last = span
    found = list(known.of("square", session, [Segment(branch, first, last)], reader))
    assert [seq for seq, _ in found] == [seq for seq in range(first, last + 1) if seq % 2 == 0]
    return [value for _, value in found]


def test_what_is_known_is_not_read_again(session: Session) -> None:
    known, reader = KnownEntries(1 << 20), Reader()
    expected = [seq * seq for seq in range(2, 200, 2)]

    assert squares(known, session, (1, 199), reader) == expected
    assert squares(known, session, (1, 199), reader) == expected
    assert squares(known, session, (50, 60), reader) == expected[24:30]
    assert reader.asked == [(1, 199)]


def test_only_what_is_new_is_read(session: Session) -> None:
    known, reader = KnownEntries(1 << 20), Reader()
    for last in (70, 72, 72, 75, 200):
        squares(known, session, (1, last), reader)

    assert reader.asked == [(1, 70), (71, 72), (73, 75), (76, 200)]


def test_what_comes_before_is_read_with_its_block(session: Session) -> None:
    known, reader = KnownEntries(1 << 20), Reader()
    squares(known, session, (30, 40), reader)
    squares(known, session, (3, 40), reader)
    squares(known, session, (3, 40), reader)

    assert reader.asked == [(30, 40), (3, 40)]


def test_all_segments_of_a_path_are_read_at_once(session: Session) -> None:
    known, calls = KnownEntries(1 << 20), []

    def read(parts: list[Segment]) -> Iterator[KnownEntry[int]]:
        calls.append(parts)
        return Reader()(parts)

    parts = [Segment(number, 10 * number + 1, 10 * number + 10) for number in range(50)]
    for _ in range(2):
        found = list(known.of("square", session, parts, read))
        assert found == [(seq, seq * seq) for seq in range(2, 501, 2)]
    assert len(calls) == 1


def test_what_stands_between_two_segments_of_a_block_does_not_make_them_forget_one_another(session: Session) -> None:
    known, reader = KnownEntries(1 << 20), Reader()
    parts = [Segment(0, 1, 9), Segment(0, 21, 29)]
    for _ in range(2):
        found = [seq for seq, _ in known.of("square", session, parts, reader)]
        assert found == [2, 4, 6, 8, 22, 24, 26, 28]
    assert reader.asked == [(1, 29)]


def test_a_gap_in_the_middle_is_read_at_once(session: Session) -> None:
    known, reader = KnownEntries(1 << 20), Reader()
    squares(known, session, (1, BLOCK - 1), reader)
    squares(known, session, (3 * BLOCK, 4 * BLOCK - 1), reader)
    squares(known, session, (1, 4 * BLOCK - 1), reader)

    assert reader.asked[2:] == [(BLOCK, 3 * BLOCK - 1)]


def test_branches_and_sessions_are_apart_also_where_a_number_is_given_again(session: Session) -> None:
    known, reader = KnownEntries(1 << 20), Reader()
    squares(known, session, (1, 9), reader)
    squares(known, session, (1, 9), reader, branch=1)
    squares(known, replace(session, created_at=session.created_at + 1), (1, 9), reader)
    squares(known, replace(session, pk=session.pk + 1), (1, 9), reader)

    assert len(reader.asked) == 4


@pytest.mark.parametrize("blocks", [0, 3])
def test_it_keeps_no_more_bytes_than_it_may(session: Session, blocks: int) -> None:
    most = blocks * ENTRY_BYTES * (BLOCK // 2 + 1)
    known, reader = KnownEntries(most), Reader()
    squares(known, session, (0, BLOCK * 6 - 1), reader)
    squares(known, session, (BLOCK * 5, BLOCK * 6 - 1), reader)
    # The block that was read last is known still, if any may be.
    assert len(reader.asked) == (1 if blocks else 2)
    squares(known, session, (0, BLOCK * 6 - 1), reader)
    assert known.size <= most


def test_a_second_view_reads_what_was_appended_since(database: str) -> None:
    known = KnownEntries(1 << 20)
    with open_store(database, known=known) as store:
        scene = Scene(store)
        scene.append(user(5), user(6))
        with store.read() as tx:
            first = view(tx, TENANT, "s").messages
        scene.append(user(7))
        with store.read() as tx:
            second = view(tx, TENANT, "s").messages

    assert second[:2] == first
    # The very messages that were parsed for the first view.
    assert all(again is before for again, before in zip(second, first, strict=False))


def test_a_transaction_that_writes_knows_nothing(database: str) -> None:
    with open_store(database, known=KnownEntries(1 << 20)) as store:
        with store.write() as tx:
            assert tx.known is None
        with store.rehearse() as tx:
            assert tx.known is None
        with store.read() as tx:
            assert tx.known is not None
