"""The worker of a service in a process of its own, so that what it computes keeps no request waiting.

One thread of a process computes at a time. Beside one that condenses what a tenant has said, each step of another
tenant's request waits.
"""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from threading import Event, Lock, Thread
from time import monotonic
from typing import Any, Final, NamedTuple, Self, TypeAlias

from foldline.log.events import Event as LogEvent
from foldline.log.events import JobWaits
from foldline.log.storage.engines.database_file import KnownFile
from foldline.log.storage.engines.lent_turns import LentTurns, lending
from foldline.log.storage.store import Store
from foldline.log.storage.turns import OuterTurn
from foldline.service_process import BEGINNING, SPAWN, begin_part
from foldline.telemetry.logs import Contained, describe
from foldline.telemetry.worker_metrics import RelayedMetrics, WorkerMetrics, count_relayed
from foldline_worker.embedded import EmbeddedWorker

logger = logging.getLogger(__name__)

# Between the end of a process and the start of the next; doubled for each that ends soon after its start, so that one
# which cannot start does not use up a core.
RESTART_SECONDS: Final = 0.5
RESTART_SECONDS_MAX: Final = 60.0
SOON_SECONDS: Final = 60.0
# For what the process does after its worker and its hooks have stopped.
END_SECONDS: Final = 3.0
# How often the process looks whether its worker still runs, and the service whether the process does.
LOOK_SECONDS: Final = 1.0
# A process sends a heartbeat as often. One that is silent for so long is frozen, maybe with SQLite's lock.
SILENT_SECONDS: Final = 30.0
PROCESS_NAME: Final = "foldline-worker"

# Opens the started worker of such a process, on the file that the service has open, if its database is one. It takes
# turns at writing to that, and what it counts is the service's.
OpenWorker: TypeAlias = Callable[[KnownFile | None, OuterTurn, WorkerMetrics], AbstractContextManager[EmbeddedWorker]]


class _WorkerPart(NamedTuple):
    """A process, the pipe on which it gets the queues where jobs wait, until that is closed, and that of its counts."""

    process: BaseProcess
    queues: Connection[Any, Any]
    counts: Connection[Any, Any]
    began: float

    @property
    def is_young(self) -> bool:
        return monotonic() - self.began < SOON_SECONDS


class WorkerProcess:
    """A context manager that has the store's jobs done by a process beside this one; if it ends, another one begins.

    Its start returns at once. Until the process is ready, jobs wait in the database.
    """

    _part: _WorkerPart

    def __init__(self, open_worker: OpenWorker, store: Store, metrics: WorkerMetrics, stop_seconds: float) -> None:
        self._open_worker = open_worker
        self._store = store
        self._metrics = metrics
        # Those of the worker, then those of its hooks.
        self._end_seconds = 2 * stop_seconds + END_SECONDS
        # How many processes in a row ended soon after their start.
        self._quick_ends = 0
        self._stopping = Event()
        # Held while a queue is sent, and while the process is exchanged: a number of a closed pipe may be that of
        # another file.
        self._exchange = Lock()
        self._watch = Thread(target=self._run, name="foldline-worker-watch", daemon=True)

    @property
    def is_alive(self) -> bool:
        """Whether the process runs, and is not one of several that ended soon after their start."""
        part = self._part
        return part.process.is_alive() and not (part.is_young and self._quick_ends > 1)

    def __enter__(self) -> Self:
        self._part = self._begun()
        self._store.subscribe(self._on_event)
        self._watch.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._store.unsubscribe(self._on_event)
        with self._exchange:
            self._stopping.set()
            self._part.queues.close()
        process = self._part.process
        process.join(self._end_seconds)
        if process.is_alive():
            logger.warning("the worker's process %s did not end in time, and is killed", process.pid)
            process.kill()
            process.join()
        self._watch.join(END_SECONDS)

    def _on_event(self, event: LogEvent) -> None:
        if isinstance(event, JobWaits):
            # Of a full pipe all messages are read before long, and a process that begins finds the jobs by itself.
            with self._exchange, suppress(OSError):
                self._part.queues.send(event.queue)

    def _run(self) -> None:
        """Count what the process counts, and begin another one when it ends by itself."""
        while True:
            part = self._part
            with part.counts:
                self._count(part)
            if self._stopping.is_set():
                return
            self._quick_ends = self._quick_ends + 1 if part.is_young else 0
            pause = min(RESTART_SECONDS * 2**self._quick_ends, RESTART_SECONDS_MAX)
            logger.error("the worker's process %s has ended; another one begins in %g s", part.process.pid, pause)
            if self._stopping.wait(pause):
                return
            self._replace(part)

    def _count(self, part: _WorkerPart) -> None:
        """Count until the process ends. A program that a hook started may keep its end of the pipe open for longer."""
        # Counted, not timed: where both were frozen, the process may go on later than this one.
        silences = 0
        with suppress(EOFError, OSError):
            while (is_sent := part.counts.poll(LOOK_SECONDS)) or part.process.is_alive():
                silences = 0 if is_sent else silences + 1
                if is_sent:
                    count_relayed(part.counts.recv(), self._metrics)
                elif silences * LOOK_SECONDS >= SILENT_SECONDS and not self._stopping.is_set():
                    logger.error("the worker's process %s is silent, and is killed", part.process.pid)
                    part.process.kill()

    def _replace(self, part: _WorkerPart) -> None:
        with self._exchange, Contained(lambda error: logger.error("it did not begin: %s", describe(error))):
            if not self._stopping.is_set():
                part.queues.close()
                part.process.join()
                self._part = self._begun()

    def _begun(self) -> _WorkerPart:
        with ExitStack() as failed:
            its_queues, queues = (failed.enter_context(end) for end in SPAWN.Pipe(duplex=False))
            counts, its_counts = (failed.enter_context(end) for end in SPAWN.Pipe(duplex=False))
            # A thread that appends must not wait here.
            os.set_blocking(queues.fileno(), False)
            with lending(self._store.turns) as its_turns, BEGINNING:
                arguments = (self._open_worker, self._store.file, its_turns, its_queues, its_counts)
                process = SPAWN.Process(target=_work, args=arguments, name=PROCESS_NAME)
                process.start()
            failed.pop_all()
        its_queues.close()
        its_counts.close()
        return _WorkerPart(process, queues, counts, monotonic())


def _work(
    open_worker: OpenWorker,
    file: KnownFile | None,
    turns: Connection[Any, Any],
    queues: Connection[Any, Any],
    counts: Connection[Any, Any],
) -> None:
    """Work until the service closes the pipe of the queues, or the worker fails."""
    # Some send it to all processes of a service. This one has to hand its jobs back, and the service says when.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    begin_part(PROCESS_NAME)
    metrics = RelayedMetrics(counts)
    with open_worker(file, LentTurns(turns).one, metrics) as worker, suppress(EOFError):
        while worker.is_alive:
            metrics.heartbeat()
            if queues.poll(LOOK_SECONDS):
                worker.notifier.notify(queues.recv())
