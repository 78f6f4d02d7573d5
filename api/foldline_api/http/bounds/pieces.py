"""A body in the pieces in which it arrived.

To copy 13 MB takes eight milliseconds, in which no other thread of the process computes. A piece takes microseconds.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection


@dataclass(slots=True)
class Pieces:
    """The pieces of one body, in order, and their bytes in all."""

    pieces: list[bytes] = field(default_factory=list)
    size: int = 0

    def add(self, piece: bytes) -> None:
        """Add what arrived next."""
        if piece:
            self.pieces.append(piece)
            self.size += len(piece)

    def whole(self) -> bytes:
        """The body. It is copied once, when it is asked for first."""
        if len(self.pieces) != 1:
            self.pieces = [b"".join(self.pieces)]
        return self.pieces[0]

    def clear(self) -> None:
        """Hold nothing any more."""
        self.pieces, self.size = [], 0

    def send(self, end: Connection) -> None:
        """Send it to another process, which reads it with `received`; this takes as long as that needs to read it.

        If that process was killed, nothing is sent, and nothing raised: whoever waits for its answer finds out.
        """
        with suppress(OSError):
            for piece in [*self.pieces, b""]:
                end.send_bytes(piece)


def received(end: Connection) -> Pieces:
    """A body that another process sends with `Pieces.send`.

    Raises:
        EOFError: that process ended.
    """
    body = Pieces()
    while piece := end.recv_bytes():
        body.add(piece)
    return body
