"""The relay: turns a process's rings into messages, on one thread, so that no request ever waits for the broker."""

from __future__ import annotations

import logging
from threading import Condition, Thread

from celery import Celery
from kombu import Connection, Producer

from worker.failures import Contained, describe
from worker.queues import TASK_BY_QUEUE

logger = logging.getLogger(__name__)


class Relay:
    """The sender behind `store.doorbell`.

    A ring only says that jobs wait, and a worker that finds one rings again: many rings of one queue are one message,
    and what waits here is bounded by the number of queues. A ring that cannot be sent is dropped; the sweeper rings
    again.
    """

    def __init__(self, app: Celery) -> None:
        self._app = app
        self._rung: dict[str, None] = {}
        self._is_stopping = False
        self._wake = Condition()
        self._connection: Connection | None = None
        self._producer: Producer | None = None
        self._thread = Thread(target=self._run, name="foldline-relay", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def ring(self, queue: str) -> None:
        """Asks for a message to `queue`, soon. Returns at once, whatever state the broker is in."""
        with self._wake:
            self._rung[queue] = None
            self._wake.notify()

    def stop(self, timeout_seconds: float) -> bool:
        """Sends what was rung and ends. False if the broker did not let it end in time."""
        with self._wake:
            self._is_stopping = True
            self._wake.notify()
        self._thread.join(timeout_seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while queues := self._next():
            for queue in queues:
                self._send(queue)
        self._disconnect()

    def _next(self) -> list[str]:
        """The queues rung since the last call; waits for a ring, and is empty only when it is time to end."""
        with self._wake:
            self._wake.wait_for(lambda: self._rung or self._is_stopping)
            queues = list(self._rung)
            self._rung.clear()
            return queues

    def _send(self, queue: str) -> None:
        # Nobody can be told here, and the sweeper rings for every job that still waits.
        with Contained(lambda error: self._give_up(queue, error)):
            task = TASK_BY_QUEUE[queue]
            self._app.send_task(task, kwargs={"queue": queue}, queue=queue, producer=self._connected(), retry=False)

    def _give_up(self, queue: str, error: Exception) -> None:
        logger.warning("no message sent to %s: %s", queue, describe(error), extra={"queue": queue})
        self._disconnect()

    def _connected(self) -> Producer:
        if self._producer is None:
            self._connection = self._app.connection_for_write()
            # Left to itself, kombu would try to connect without end.
            self._connection.ensure_connection(max_retries=1, interval_start=0)
            self._producer = Producer(self._connection.channel())
        return self._producer

    def _disconnect(self) -> None:
        connection, self._connection, self._producer = self._connection, None, None
        if connection is not None:
            connection.release()
