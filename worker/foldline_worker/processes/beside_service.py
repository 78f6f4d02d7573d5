"""The worker of a service in a process of its own, so that what it computes keeps no request waiting.

One thread of a process computes at a time. Beside one that condenses what a tenant has said, each step of another
tenant's request waits.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from threading import Event, Lock, Thread
from typing import Any, Final, NamedTuple, Self, TypeAlias

from foldline.log.events import Event as LogEvent
from foldline.log.events import JobWaits
from foldline.log.storage.engines.database_file import KnownFile
from foldline.log.storage.engines.lent_turns import LentTurns, lending
from foldline.log.storage.store import Store
from foldline.log.storage.turns import OuterTurn
from foldline.service_process import begin_part
from foldline.telemetry.logs import Contained, describe
from foldline.telemetry.worker_metrics import RelayedMetrics, WorkerMetrics, count_relayed
from foldline_worker.embedded import EmbeddedWorker

logger = logging.getLogger(__name__)

# A new interpreter: a fork would copy locks that other threads hold.
SPAWN: Final = multiprocessing.get_context("spawn")
# Between the end of a process and the start of the next, so that one which cannot start does not use up a core.
RESTART_SECONDS: Final = 1.0
# For what the process does after its worker has stopped.
END_SECONDS: Final = 3.0
# How often the process looks whether its worker still runs.
LOOK_SECONDS: Final = 1.0
PROCESS_NAME: Final = "foldline-worker"

# Opens the started worker of such a process, on the file that the service has open, if its database is one. It takes
# turns at writing to that, and what it counts is the service's.
OpenWorker: TypeAlias = Callable[[KnownFile | None, OuterTurn, WorkerMetrics], AbstractContextManager[EmbeddedWorker]]


class _WorkerPart(NamedTuple):
    """A process, the pipe on which it gets the queues where jobs wait, until that is closed, and that of its counts."""

    process: BaseProcess
    queues: Connection[Any, Any]
    counts: Connection[Any, Any]


class WorkerProcess:
    """A context manager that has the store's jobs done by a process beside this one; if it ends, another one begins.

    Its start returns at once. Until the process is ready, jobs wait in the database.
    """

    _part: _WorkerPart

    def __init__(self, open_worker: OpenWorker, store: Store, metrics: WorkerMetrics, stop_seconds: float) -> None:
        self._open_worker = open_worker
        self._store = store
        self._metrics = metrics
        self._stop_seconds = stop_seconds
        self._stopping = Event()
        # While it is held, no process begins.
        self._beginning = Lock()
        self._thread = Thread(target=self._run, name="foldline-counts", daemon=True)

    @property
    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self._part.process.is_alive()

    def __enter__(self) -> Self:
        self._part = self._begun()
        self._store.subscribe(self._on_event)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._store.unsubscribe(self._on_event)
        with self._beginning:
            self._stopping.set()
        process = self._part.process
        self._part.queues.close()
        process.join(self._stop_seconds + END_SECONDS)
        if process.is_alive():
            logger.warning("the worker's process %s did not end in time, and is killed", process.pid)
            process.kill()
            process.join()
        self._thread.join()

    def _on_event(self, event: LogEvent) -> None:
        if isinstance(event, JobWaits):
            # A pipe that is full has such a message already, and a process that begins finds the jobs by itself.
            with suppress(OSError):
                self._part.queues.send(event.queue)

    def _run(self) -> None:
        """Count what the process counts, and begin another one if it ends by itself."""
        while not self._stopping.is_set():
            with self._part.counts as counts:
                count_relayed(counts, self._metrics)
            if self._stopping.wait(RESTART_SECONDS):
                break
            logger.error("the worker's process %s ended by itself; another one begins", self._part.process.pid)
            with self._beginning, Contained(lambda error: logger.error("it did not begin: %s", describe(error))):
                if not self._stopping.is_set():
                    self._part.queues.close()
                    self._part.process.join()
                    self._part = self._begun()

    def _begun(self) -> _WorkerPart:
        its_queues, queues = SPAWN.Pipe(duplex=False)
        counts, its_counts = SPAWN.Pipe(duplex=False)
        with lending(self._store.turns) as its_turns, its_queues, its_counts, ExitStack() as failed:
            for connection in (queues, counts):
                failed.callback(connection.close)
            # A thread that appends must not wait here.
            os.set_blocking(queues.fileno(), False)
            arguments = (self._open_worker, self._store.file, its_turns, its_queues, its_counts)
            process = SPAWN.Process(target=_work, args=arguments, name=PROCESS_NAME)
            process.start()
            failed.pop_all()
        return _WorkerPart(process, queues, counts)


def _work(
    open_worker: OpenWorker,
    file: KnownFile | None,
    turns: Connection[Any, Any],
    queues: Connection[Any, Any],
    counts: Connection[Any, Any],
) -> None:
    """Work until the service closes the pipe of the queues, or the worker fails."""
    begin_part(PROCESS_NAME)
    # Some send it to all processes of a service. This one has to hand its jobs back, and the service says when.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with open_worker(file, LentTurns(turns).one, RelayedMetrics(counts)) as worker, suppress(EOFError):
        while worker.is_alive:
            if queues.poll(LOOK_SECONDS):
                worker.notifier.notify(queues.recv())
