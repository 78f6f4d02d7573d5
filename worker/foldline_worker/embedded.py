"""A complete worker inside another process: notifier, Celery worker and sweeper on daemon threads.

Any number may run in one process, each with a memory broker of its own. Stopping cancels running summaries and puts
their jobs back into the queue. A summary that does not end in time keeps its job until the lease lapses.
"""

from __future__ import annotations

import atexit
import logging
from threading import Event, Thread
from time import monotonic
from typing import Any, Final, Self

from celery.exceptions import WorkerShutdown
from celery.worker import WorkController

from foldline.log.storage.store import Store
from foldline.settings import Settings
from foldline.telemetry.metrics import Signals
from foldline_worker.app import create_worker
from foldline_worker.hooks.hooks import Hooks
from foldline_worker.processes.pool import AppThreads
from foldline_worker.processes.sweeper import Sweeper
from foldline_worker.summarizers.contract import Summarizer

logger = logging.getLogger(__name__)

START_SECONDS_MAX: Final = 30.0


class WorkerDidNotStart(Exception):
    """The Celery worker ended, or was not ready in time; its log lines have the reason."""


class BrokerOutside(Exception):
    """The settings name an external broker, which an embedded worker cannot use."""

    def __init__(self) -> None:
        super().__init__(
            "the worker in this process needs the broker in this process: leave FOLDLINE_BROKER_URL unset, or set it "
            "to memory://"
        )


class EmbeddedWorker:
    """A context manager that runs the store's jobs. It can be started once, and closes the summarizer at the end."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        summarizer: Summarizer,
        hooks: Hooks | None = None,
        signals: Signals | None = None,
    ) -> None:
        self._store = store
        self._summarizer = summarizer
        self._has_memory_broker = settings.has_memory_broker
        self._stop_seconds = settings.stop_seconds
        self._stopping = Event()
        self._app, self.notifier, self._leases = create_worker(
            settings, store, summarizer, self._stopping, hooks=hooks, signals=signals
        )
        self._worker = _CeleryThread(self._app)
        self._sweeper = Sweeper(store, settings.sweep_seconds)
        self._is_started = False

    @property
    def is_alive(self) -> bool:
        """Whether the Celery worker runs: False before the start, after the stop, or once Celery has failed."""
        return self._worker.is_alive

    def start(self) -> None:
        """Start the threads; returns when messages are consumed.

        Raises:
            BrokerOutside: FOLDLINE_BROKER_URL is not memory://.
            WorkerDidNotStart: Celery failed, or took longer than `START_SECONDS_MAX`.
        """
        if not self._has_memory_broker:
            raise BrokerOutside
        self._worker.start()
        self._is_started = True
        self._leases.start()
        self.notifier.start()
        self._store.subscribe(self.notifier.on_event)
        # The first sweep notifies of jobs that an earlier process left, so it needs the notifier.
        self._sweeper.start()
        atexit.register(self.stop)

    def stop(self, timeout_seconds: float | None = None) -> bool:
        """Stop all threads, by default within `settings.stop_seconds`; False if one is left. May be called twice."""
        if not self._is_started:
            return True
        self._is_started = False
        atexit.unregister(self.stop)
        deadline = monotonic() + (self._stop_seconds if timeout_seconds is None else timeout_seconds)
        self._store.unsubscribe(self.notifier.on_event)
        self._stopping.set()
        self._leases.cancel_all()
        parts = (self._worker, self._leases, self._sweeper, self.notifier)
        ends = [part.stop(max(deadline - monotonic(), 0.0)) for part in parts]
        self._app.close()
        self._summarizer.close()
        if not all(ends):
            logger.warning("a summary did not stop in time; its job is taken back when its lease ends")
        return all(ends)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class _CeleryThread:
    """Celery's worker without its command line: no signal handlers, no logging set-up, no process title."""

    def __init__(self, app: Any) -> None:
        self._is_ready = Event()
        self._controller: Any = WorkController(
            app=app,
            pool=AppThreads,
            # Kombu has one event loop for the process; the blocking loop is per thread.
            use_eventloop=False,
            # Called with the consumer, which accepts calls from other threads.
            ready_callback=lambda _: self._is_ready.set(),
            # There are no other workers on this broker.
            without_mingle=True,
            without_gossip=True,
            without_heartbeat=True,
        )
        self._thread = Thread(target=self._controller.start, name="foldline-worker", daemon=True)

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def start(self) -> None:
        self._thread.start()
        deadline = monotonic() + START_SECONDS_MAX
        while not self._is_ready.wait(0.05):
            if not self._thread.is_alive() or monotonic() > deadline:
                self.stop(0.0)
                raise WorkerDidNotStart

    def stop(self, timeout_seconds: float) -> bool:
        # Raised in Celery's loop, between two messages: Celery's stop() would close things under the running loop.
        self._controller.consumer.call_soon(_shut_down)
        self._thread.join(timeout_seconds)
        return not self._thread.is_alive()


def _shut_down() -> None:
    raise WorkerShutdown(0)
