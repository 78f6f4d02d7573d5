"""The pipes on which a process asks those that it started for their metrics."""

from __future__ import annotations

import logging
import pickle
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing.connection import Connection, wait
from threading import Lock
from time import monotonic
from typing import Any, Final

from foldline.telemetry.metrics import Metrics

logger = logging.getLogger(__name__)

# For all processes together. A process that loads its vocabulary answers nothing meanwhile.
ANSWER_SECONDS: Final = 2.0
# What a process says on its pipe first, and what it is asked for then.
SERVES: Final = "serves"
METRICS: Final = "metrics"


class ProcessPipe:
    """The end of the process that asks."""

    def __init__(self, connection: Connection[Any, Any]) -> None:
        self._connection = connection
        # Whoever holds it may rely on the connection staying open.
        self._lock = Lock()
        self._is_asked = False
        self.serves = False

    def note_start(self) -> None:
        """Look whether the process has begun to serve meanwhile."""
        with suppress(OSError, EOFError):
            if not self.serves and self._connection.poll():
                self.serves = self._connection.recv() == SERVES

    @contextmanager
    def asked(self) -> Iterator[Connection[Any, Any] | None]:
        """The connection on which its metrics come, which stays open meanwhile; None if the process does not serve."""
        with self._lock:
            with suppress(OSError):
                # The answer to a question may come when the next one is due.
                if self.serves and not self._is_asked:
                    self._connection.send(METRICS)
                    self._is_asked = True
            yield self._connection if self._is_asked else None

    def answer(self) -> Any:
        """The families that have come on the connection; None if the process has ended or could not give them."""
        with suppress(OSError, EOFError):
            families = self._connection.recv()
            self._is_asked = False
            return families
        return None

    def close(self) -> None:
        """Close it, once nobody waits for an answer on it."""
        with self._lock:
            self.serves = self._is_asked = False
            self._connection.close()


def metrics_of(pipes: Mapping[int, ProcessPipe], timeout_seconds: float = ANSWER_SECONDS) -> dict[int, Any]:
    """The families of the metrics of those processes that answer in this time, by their numbers.

    Two calls at a time are for pipes in the same order.
    """
    with ExitStack() as held:
        connections = {number: held.enter_context(pipe.asked()) for number, pipe in pipes.items()}
        deadline = monotonic() + timeout_seconds
        waiting = {connection: number for number, connection in connections.items() if connection is not None}
        found = {}
        while ready := wait([*waiting], max(0.0, deadline - monotonic())) if waiting else []:
            for number in [waiting.pop(connection) for connection in waiting.keys() & {*ready}]:
                found[number] = pipes[number].answer()
        return {number: found[number] for number in pipes if found.get(number) is not None}


def answer_questions(connection: Connection[Any, Any], metrics: Metrics) -> None:
    """Answer in a process that was started, until the other end is closed."""
    with suppress(EOFError, OSError):
        connection.send(SERVES)
        while connection.recv():
            connection.send_bytes(_shown(metrics))


def _shown(metrics: Metrics) -> bytes:
    try:
        return pickle.dumps(metrics.families())
    # An OSError here, as of a process without free file descriptors, is none of the pipe.
    except Exception:
        logger.exception("the metrics of this process could not be read")
        return pickle.dumps(None)
