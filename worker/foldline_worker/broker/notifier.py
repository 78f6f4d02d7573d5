"""Notifies workers of waiting jobs through the broker, on one thread, so that no request waits for the broker."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition, Thread
from time import monotonic
from typing import Final

from celery import Celery
from kombu import Connection, Producer

from foldline.log.events import Event, JobWaits
from foldline.log.storage.store import Store
from foldline.telemetry.logs import Contained, describe
from foldline_worker.broker.liveness import Outage
from foldline_worker.broker.queues import TASK_BY_QUEUE

logger = logging.getLogger(__name__)

# Long enough for an idle worker to get the message before a busy one, and short for a caller who waits for the job.
PASSED_ON_SECONDS: Final = 0.25
# A busy worker that is alone would pass it on to itself, and looks for a job as soon as it can anyway.
ALONE_SECONDS: Final = 1.0
RETRY_SECONDS: Final = 1.0


class Notifier:
    """Sends a message for each queue with waiting jobs.

    A notification only says that jobs wait, and a worker that finds one notifies the next. So several notifications of
    one queue become one message, and at most one for each queue waits here. A message that cannot be sent is tried
    again until the broker is back. The sweeper notifies for those that are left at the end. `is_alone`: no other
    process takes messages.
    """

    def __init__(self, app: Celery, *, is_alone: bool = False) -> None:
        self._app = app
        self._busy_seconds = ALONE_SECONDS if is_alone else PASSED_ON_SECONDS
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
        """Have a message sent to `queue`. Returns at once, in any state of the broker."""
        self._notify_at(queue, monotonic())

    def pass_on(self, queue: str, *, is_busy: bool) -> None:
        """Have a message sent after a moment, in place of one that this process could not use.

        `is_busy`: it had no slot for a job.
        """
        self._notify_at(queue, monotonic() + (self._busy_seconds if is_busy else PASSED_ON_SECONDS))

    def on_event(self, event: Event) -> None:
        """Notify of a job that waits; to be subscribed to a store."""
        if isinstance(event, JobWaits):
            self.notify(event.queue)

    def stop(self, timeout_seconds: float) -> bool:
        """Send what waits and end the thread; False if the broker blocked it for longer."""
        with self._wake:
            self._is_stopping = True
            self._wake.notify()
        self._thread.join(timeout_seconds)
        return not self._thread.is_alive()

    @property
    def is_alive(self) -> bool:
        """Whether the thread that sends messages runs."""
        return self._thread.is_alive()

    @property
    def has_unsent(self) -> bool:
        """Whether messages were left at the end; the sweeper notifies for those."""
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
        """The queues whose messages are due; waits for one, and is empty only at the end."""
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
        # An error is only logged: the sweeper notifies for every job that still waits.
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
            # Without a limit, kombu would retry forever.
            self._connection.ensure_connection(max_retries=1, interval_start=0)
            self._producer = Producer(self._connection.channel())
        return self._producer

    def _disconnect(self) -> None:
        connection, self._connection, self._producer = self._connection, None, None
        if connection is not None:
            connection.release()


@contextmanager
def notifying(notifier: Notifier, store: Store, stop_seconds: float) -> Iterator[None]:
    """A block in which workers are notified of the store's jobs; at its end, the messages that wait are sent."""
    notifier.start()
    store.subscribe(notifier.on_event)
    try:
        yield
    finally:
        store.unsubscribe(notifier.on_event)
        notifier.stop(stop_seconds)
