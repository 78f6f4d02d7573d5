"""Bodies in pieces: how they are joined, and how one is sent to another process."""

from __future__ import annotations

from multiprocessing import Pipe
from threading import Thread
from typing import Final

import pytest
from foldline_api.http.bounds.pieces import Pieces, received

# More than a pipe holds.
LARGE: Final = b"x" * (1 << 18)


def in_pieces(*pieces: bytes) -> Pieces:
    found = Pieces()
    for piece in pieces:
        found.add(piece)
    return found


def test_a_body_is_its_pieces_in_order() -> None:
    assert (in_pieces(b"a", b"", b"bc").whole(), in_pieces(b"a", b"", b"bc").size) == (b"abc", 3)
    assert (Pieces().whole(), Pieces().size) == (b"", 0)


def test_another_process_gets_each_body_for_itself() -> None:
    there, here = Pipe(duplex=False)
    bodies = [in_pieces(LARGE, b"y"), Pieces(), Pieces(), in_pieces(b"", b"z")]
    # An empty one that was asked for.
    bodies[1].whole()

    def send_all() -> None:
        for number, body in enumerate(bodies):
            body.send(here, number)

    sending = Thread(target=send_all)
    sending.start()
    found = [received(there, number).whole() for number in range(len(bodies))]
    sending.join()
    assert found == [LARGE + b"y", b"", b"", b"z"]


def test_another_body_is_not_taken_for_the_one_that_is_awaited() -> None:
    there, here = Pipe(duplex=False)
    in_pieces(b"x").send(here, 3)
    with pytest.raises(ValueError, match="4"):
        received(there, 4)


def test_a_process_that_is_gone_gets_no_other_body() -> None:
    there, here = Pipe(duplex=False)
    there.close()
    in_pieces(LARGE).send(here, 0)
    assert here.closed


def test_a_body_that_is_not_sent_to_its_end_is_none() -> None:
    there, here = Pipe(duplex=False)
    here.send_bytes(b"0")
    here.send_bytes(b"x")
    here.close()
    with pytest.raises(EOFError):
        received(there, 0)
