"""The worker process: Celery's worker program with our own way to stop, the notifier and the operator's port."""

from __future__ import annotations

import gc
import logging
import os
import signal
import warnings
from collections.abc import Callable, Sequence
from socket import socket
from threading import Event, Thread
from typing import Any, Final

from celery.apps.worker import Worker
from celery.bootsteps import StartStopStep
from celery.exceptions import SecurityWarning
from celery.platforms import EX_FAILURE, EX_OK
from celery.worker import state
from kombu.transport import redis, virtual

from foldline.engine.tokens.counter import exact_counter
from foldline.log.storage.store import Store
from foldline.settings import Settings
from foldline.telemetry.health import Subject, parts_of
from foldline.telemetry.logs import describe
from foldline.telemetry.metrics import Signals
from foldline.telemetry.ops_server import serving_ops
from foldline_worker.app import create_worker
from foldline_worker.broker.liveness import TICK_SECONDS, Outage, Ticks, logged_once
from foldline_worker.broker.notifier import notifying
from foldline_worker.hooks.hooks import Hooks
from foldline_worker.leases import Leases
from foldline_worker.processes.pool import AppThreads
from foldline_worker.summarizers.contract import Summarizer

logger = logging.getLogger(__name__)

# The errors that kombu raises for a message that is not JSON, or not in kombu's form.
MALFORMED: Final = (LookupError, TypeError, ValueError)


# The health check of a worker that passes while it consumes messages.
QUEUES: Final = "queues"


class WorkerFailed(Exception):
    """Celery's worker ended by itself; its log lines have the reason."""


def run_worker(
    settings: Settings,
    store: Store,
    summarizer: Summarizer,
    *,
    name: str,
    queues: Sequence[str],
    on_ready: Callable[[], object],
    hooks: Hooks | None = None,
    signals: Signals | None = None,
    metrics_listener: socket | None = None,
) -> None:
    """Consume messages in the main thread until SIGTERM or SIGINT; then running jobs are put back into the queue.

    Args:
        settings: the settings of this process.
        store: the store of the jobs; its events notify other workers.
        summarizer: writes the summaries; closed at the end.
        name: the Celery node name, `name@host`.
        queues: the queues to consume.
        on_ready: called once, when messages can be consumed.
        hooks: called before each summary.
        signals: the metrics and tracing of this process.
        metrics_listener: the socket of the operator's port, if there is one.

    Raises:
        WorkerFailed: Celery's worker ended without a signal.
    """
    _warm_up()
    stopping, ended = Event(), Event()
    signals = signals or Signals()
    signals.metrics.follow(store)
    app, notifier, leases = create_worker(settings, store, summarizer, stopping, queues, hooks=hooks, signals=signals)
    # Set by its name: monitors read a worker's configuration, which has to be JSON.
    app.conf.broker_transport = f"{__name__}:{PatientTransport.__name__}"
    consuming = Consuming(notifier.outage, Ticks())
    app.steps["consumer"].add(consuming.step())
    parts = {**parts_of(settings, store), QUEUES: consuming.is_on.is_set}
    alive = (notifier, leases, consuming)
    subject = Subject(signals.metrics, parts, parts.keys(), is_alive=lambda: all(part.is_alive for part in alive))
    program = _Program(app=app, hostname=name, queues=list(queues), stopping=stopping, on_ready=on_ready)
    Thread(
        target=program.end_in_time, args=(leases, ended, settings.stop_seconds), name="foldline-stop", daemon=True
    ).start()
    try:
        leases.start()
        with (
            logged_once(notifier.outage),
            notifying(notifier, store, settings.stop_seconds),
            serving_ops(subject, metrics_listener),
        ):
            program.start()
    finally:
        stopping.set()
        app.close()
        leases.stop(settings.stop_seconds)
        summarizer.close()
        ended.set()
    if program.exitcode in {None, EX_FAILURE}:
        raise WorkerFailed


def _warm_up() -> None:
    # Loading takes a second, in which the first job would hold its session's lock.
    exact_counter()
    # Loaded objects stay; without this the collector would scan all of them again and again, each time for 0.1 s.
    gc.collect()
    gc.freeze()


class PatientQoS(virtual.QoS):
    """Gives back the messages that were not used, and does without those that a lost broker cannot take.

    Kombu logs an error for these, and writes them to a file. They were notifications, and the sweeper notifies again.
    """

    def restore_unacked(self) -> None:
        """Give them back. Kombu's own returns the errors, and whoever gets some reports them."""
        super().restore_unacked()


class PatientChannel(redis.Channel):
    """Kombu's channel on Redis, with `PatientQoS`."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        # Kombu's own chooses one by its options; the stubs know only the other.
        self.QoS = PatientQoS  # type: ignore[assignment]


class PatientTransport(redis.Transport):
    """Kombu's Redis transport, which drops malformed messages instead of ending the worker."""

    Channel = PatientChannel

    def on_readable(self, *place: Any) -> None:
        # The message is out of the queue already. It was a notification, and the sweeper notifies again.
        try:
            super().on_readable(*place)
        except MALFORMED as error:
            logger.warning("dropped a message that cannot be read: %s", describe(error))


class Consuming:
    """Whether Celery's consumer consumes messages, and its event loop runs."""

    def __init__(self, outage: Outage, ticks: Ticks) -> None:
        self.is_on = Event()
        self._outage = outage
        self._ticks = ticks

    @property
    def is_alive(self) -> bool:
        """Whether the loop runs, or waits for the broker."""
        return self._ticks.are_on_time or self._outage.is_on

    def step(self) -> type[StartStopStep]:
        """A step of Celery's consumer that starts when it begins to consume, and stops when it loses the broker."""
        consuming = self

        class Connected(StartStopStep):
            requires = ("celery.worker.consumer.tasks:Tasks",)

            def start(self, consumer: Any) -> None:
                consuming.begin(consumer.timer)

            def stop(self, _consumer: Any) -> None:
                consuming.end()

        return Connected

    def begin(self, timer: Any) -> None:
        """Record that messages are consumed, and tick by the loop's timer."""
        self._outage.end()
        self._ticks.tick()
        # Celery clears the timer before it starts again.
        timer.call_repeatedly(TICK_SECONDS, self._ticks.tick)
        self.is_on.set()

    def end(self) -> None:
        """Record that no messages are consumed."""
        self.is_on.clear()


class _Program(Worker):
    """Celery's worker. SIGTERM and SIGINT mean the same, and stopping it also stops the running tasks."""

    consumer: Any

    def __init__(
        self, *, app: Any, hostname: str, queues: list[str], stopping: Event, on_ready: Callable[[], object]
    ) -> None:
        self._stopping = stopping
        with warnings.catch_warnings():
            # Celery warns a worker that runs as root of messages with code. Only JSON is read here.
            warnings.simplefilter("ignore", SecurityWarning)
            super().__init__(
                app=app,
                hostname=hostname,
                queues=queues,
                pool=AppThreads,
                quiet=True,
                ready_callback=lambda _consumer: on_ready(),
                # Workers need not know each other: the database has the leases of their jobs.
                without_mingle=True,
                without_gossip=True,
            )

    def install_platform_tweaks(self, _worker: Any) -> None:
        """Our signal handlers: Celery's warm stop waits for every task, and its Ctrl-C counts as a failure."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop_soon)

    def on_close(self) -> None:
        # A shutdown by remote control gets here without a signal.
        self._stopping.set()
        super().on_close()

    def end_in_time(self, leases: Leases, ended: Event, stop_seconds: float) -> None:
        """Wait for the stop, cancel running jobs, and end the process if it takes longer than `stop_seconds`.

        Runs on a thread of its own.
        """
        self._stopping.wait()
        leases.cancel_all()
        # Celery's loop checks for the stop between two events, and a signal is no event.
        self.consumer.call_soon(lambda: None)
        if not ended.wait(stop_seconds):
            # A broker or a database that does not answer blocks the main thread. The jobs' leases lapse.
            logger.warning("the worker did not stop in time; jobs it still has are taken back when their leases end")
            os._exit(EX_OK)

    def _stop_soon(self, *_: Any) -> None:
        # A second signal ends the process at once.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        vars(state)["should_stop"] = EX_OK
        self._stopping.set()
