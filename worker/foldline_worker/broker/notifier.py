"""Notifies workers through the broker of jobs that wait, on one thread, so that no request waits for it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition, Thread
from time import monotonic
from typing import Final

from celery import Celery
from kombu import Connection, Producer

from foldline.log.storage.events import Event, JobWaits
from foldline.log.storage.store import Store
from foldline.telemetry.logs import Contained, describe
from foldline_worker.broker.liveness import Outage
from foldline_worker.broker.queues import TASK_BY_QUEUE

logger = logging.getLogger(__name__)

# Long enough for an idle worker to be ahead of a busy one in the broker's line, short for whoever waits for the job.
PASSED_ON_SECONDS: Final = 0.25
RETRY_SECONDS: Final = 1.0


class Notifier:
    """Sends a message for each queue in which jobs wait.

    A notification only says that jobs wait, and a worker that finds one notifies the next: many notifications of one
    queue are one message, so at most one for each queue waits here. A message that cannot be sent is tried again until
    the broker is back; the sweeper notifies for what is left at the end.
    """

    def __init__(self, app: Celery) -> None:
        self._app = app
        self.outage = Outage(app.conf.broker_write_url)
        self._due_by_queue: dict[str, float] = {}
        self._retry_at = 0.0
        self._is_stopping = False
        self._has_unsent = False
        self._wake = Condition()
        self._connection: Connection | None = None
        self._producer: Producer | None = None
        self._thread = Thread(target=self._run, name="foldline-relay", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def notify(self, queue: str) -> None:
        """Has a message sent to `queue`, soon. Returns at once, whatever state the broker is in."""
        self._notify_at(queue, monotonic())

    def pass_on(self, queue: str) -> None:
        """Has a message sent in a moment: this process had one and cannot use it, another may."""
        self._notify_at(queue, monotonic() + PASSED_ON_SECONDS)

    def on_event(self, event: Event) -> None:
        """A subscriber of a store: notifies of jobs that wait."""
        if isinstance(event, JobWaits):
            self.notify(event.queue)

    def stop(self, timeout_seconds: float) -> bool:
        """Sends what waits and ends. False if the broker did not let it end in time."""
        with self._wake:
            self._is_stopping = True
            self._wake.notify()
        self._thread.join(timeout_seconds)
        return not self._thread.is_alive()

    @property
    def is_alive(self) -> bool:
        """Whether messages are being sent."""
        return self._thread.is_alive()

    @property
    def has_unsent(self) -> bool:
        """Whether the end came before all could be sent; the sweeper notifies for the rest."""
        return self._has_unsent or self._thread.is_alive()

    def _notify_at(self, queue: str, due: float) -> None:
        with self._wake:
            self._due_by_queue[queue] = min(due, self._due_by_queue.get(queue, due))
            self._wake.notify()

    def _run(self) -> None:
        while queues := self._next():
            for queue in queues:
                self._send(queue)
        self._disconnect()

    def _next(self) -> list[str]:
        """The queues whose time has come; waits for one, and is empty only when it is time to end."""
        with self._wake:
            while not (queues := self._due()) and not self._is_stopping:
                self._wake.wait(self._pause_seconds())
            for queue in queues:
                del self._due_by_queue[queue]
            return queues

    def _due(self) -> list[str]:
        if self._is_stopping:
            return list(self._due_by_queue)
        now = monotonic()
        return [queue for queue, due in self._due_by_queue.items() if max(due, self._retry_at) <= now]

    def _pause_seconds(self) -> float | None:
        if not self._due_by_queue:
            return None
        return max(min(self._due_by_queue.values()), self._retry_at) - monotonic()

    def _send(self, queue: str) -> None:
        # Nobody waits for an answer here, and the sweeper notifies for every job that still waits.
        with Contained(lambda error: self._give_up(queue, error)):
            task = TASK_BY_QUEUE[queue]
            self._app.send_task(task, kwargs={"queue": queue}, queue=queue, producer=self._connected(), retry=False)
            self.outage.end()

    def _give_up(self, queue: str, error: Exception) -> None:
        self._disconnect()
        if queue not in TASK_BY_QUEUE:
            logger.warning("no message sent to %s: %s", queue, describe(error), extra={"queue": queue})
            return
        self.outage.begin(error)
        self._retry_at = monotonic() + RETRY_SECONDS
        if self._is_stopping:
            self._has_unsent = True
        else:
            self.notify(queue)

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


@contextmanager
def notifying(notifier: Notifier, store: Store, stop_seconds: float) -> Iterator[None]:
    """A block in which workers are notified of the store's jobs; at its end, what still waits is sent."""
    notifier.start()
    store.subscribe(notifier.on_event)
    try:
        yield
    finally:
        store.unsubscribe(notifier.on_event)
        notifier.stop(stop_seconds)
