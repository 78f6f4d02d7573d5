"""The turns at SQLite's one writer that processes get from the service which started them.

SQLite's own lock would starve whoever waits for it: a writer looks again after pauses of up to a tenth of a second, and
another process that commits and begins anew is faster.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from threading import Thread
from typing import Final

from foldline.log.storage.turns import WRITING_FOR, Turns

# A process that keeps its turn for longer is taken to have stopped. SQLite's own lock remains, at which the others wait
# for as long again if it holds that. An append of the largest kind takes four seconds.
TURN_SECONDS: Final = 10.0


class LentTurns:
    """The turns of this process, which asks for them through a connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @contextmanager
    def one(self) -> Iterator[None]:
        """A turn during the block, in that of the tenant for whom the current thread writes."""
        try:
            # A service that has ended lends none, and this process ends behind it.
            with suppress(OSError, EOFError):
                self._connection.send(WRITING_FOR.get())
                self._connection.recv()
            yield
        finally:
            with suppress(OSError):
                self._connection.send(None)


@contextmanager
def lending(turns: Turns | None) -> Iterator[Connection]:
    """The end of a connection on which turns are lent, if there are any, for a process that is started in the block.

    Behind it nobody else has that end, so that the lending ends with the process.
    """
    ours, its = multiprocessing.Pipe()
    with its:
        if turns is None:
            ours.close()
        else:
            Thread(target=lend, args=(turns, ours), name="foldline-turns", daemon=True).start()
        yield its


def lend(turns: Turns, connection: Connection) -> None:
    """Lend turns to the process at the other end, until that ends."""
    with connection, suppress(OSError, EOFError):
        while True:
            tenant = connection.recv()
            # None says that a turn is over, here one that took too long.
            if tenant is not None:
                WRITING_FOR.set(tenant)
                with turns.alone():
                    connection.send(tenant)
                    if connection.poll(TURN_SECONDS):
                        connection.recv()
