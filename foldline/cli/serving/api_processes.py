"""Several processes of the API on one listening socket: starts them, replaces those that end, and stops all."""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
from multiprocessing.connection import Connection, wait
from threading import Event, Thread
from time import monotonic
from typing import Any, Final

from foldline.cli.database import open_store
from foldline.cli.models_file import use_models_file
from foldline.cli.process_setup import telemetry_of
from foldline.cli.serving.api_server import api_beside_workers, run_api
from foldline.service_process import SPAWN
from foldline.settings import Settings
from foldline.telemetry.metric_catalog import Source
from foldline.telemetry.metrics import Metrics
from foldline.telemetry.process_pipes import ProcessPipe, answer_questions, metrics_of
from foldline.telemetry.several_processes import FamiliesByProcess
from foldline.terminal import CommandFailed, ExitCode

logger = logging.getLogger(__name__)

CHECK_SECONDS: Final = 0.2
# Between two starts in the place of a process that ended, so that one which cannot start does not use up a core.
RESTART_SECONDS: Final = 1.0
# For what a process does after its last answer.
END_SECONDS: Final = 3.0


class ApiProcess:
    """One process of the API; it is running when this returns, and ends by itself if we are killed."""

    def __init__(self, settings: Settings, listener: socket.socket, number: int) -> None:
        ours, theirs = SPAWN.Pipe()
        self._process = SPAWN.Process(target=serve_part, args=(settings, listener, theirs))
        self._process.start()
        theirs.close()
        self.pipe = ProcessPipe(ours)
        self.number = number
        self.started_at = monotonic()

    @property
    def end(self) -> int:
        """What `multiprocessing.connection.wait` takes to wait for the end of the process."""
        return self._process.sentinel

    @property
    def has_ended(self) -> bool:
        return not self._process.is_alive()

    @property
    def pid(self) -> int | None:
        return self._process.pid

    def stop(self) -> None:
        """Have it finish what is under way and end."""
        self._process.terminate()

    def finish(self, timeout_seconds: float) -> None:
        """Wait for its end, and kill it if that takes longer."""
        self._process.join(timeout_seconds)
        if self._process.is_alive():
            logger.warning("process %s of the API did not end in time, and is killed", self.pid)
            self._process.kill()
            self._process.join()


class ApiProcesses:
    """The processes that the settings ask for, from `start` on, on a socket that listens already."""

    def __init__(self, settings: Settings, listener: socket.socket) -> None:
        self._settings = settings
        self._listener = listener
        self._processes: list[ApiProcess] = []
        self._is_stopping = Event()

    @property
    def serve(self) -> bool:
        """Whether one of them takes requests."""
        return any(process.pipe.serves and not process.has_ended for process in self._processes)

    def metrics(self) -> FamiliesByProcess:
        """The metrics of those that answer, by number from 1."""
        return metrics_of({process.number: process.pipe for process in self._processes})

    def start(self) -> None:
        """Start all; returns when all serve, or when a signal says to stop.

        Raises:
            CommandFailed: one ended before.
        """
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self._is_stopping.set())
        self._processes = [self._started(number + 1) for number in range(self._settings.api_processes)]
        while not self._is_stopping.is_set() and not all(process.pipe.serves for process in self._processes):
            self._watch()
            if any(process.has_ended for process in self._processes):
                raise CommandFailed(
                    "a process of the API did not start; its log lines say why", ExitCode.SERVICE_FAILED
                )

    def run(self) -> None:
        """Replace those that end, until a signal says to stop."""
        while not self._is_stopping.is_set():
            self._watch()
            self._processes = [self._replaced(process) for process in self._processes]

    def stop(self) -> None:
        """Stop all at the same time, each within the settings' `stop_seconds` for what is under way."""
        # Otherwise clients could still connect, and would wait for an answer that nobody gives.
        self._listener.close()
        for process in self._processes:
            process.stop()
        deadline = monotonic() + self._settings.stop_seconds + END_SECONDS
        for process in self._processes:
            process.finish(max(0.0, deadline - monotonic()))
        # Apart: a close waits for who asks all processes for their metrics, and another one may be silent.
        for process in self._processes:
            process.pipe.close()

    def _watch(self) -> None:
        running = [process for process in self._processes if not process.has_ended]
        wait([process.end for process in running], CHECK_SECONDS)
        for process in running:
            process.pipe.note_start()

    def _replaced(self, process: ApiProcess) -> ApiProcess:
        if not process.has_ended or self._is_stopping.is_set():
            return process
        if monotonic() - process.started_at < RESTART_SECONDS:
            # The next look is soon enough.
            return process
        logger.error("process %s of the API ended by itself; another one takes its place", process.pid)
        process.finish(0.0)
        process.pipe.close()
        return self._started(process.number)

    def _started(self, number: int) -> ApiProcess:
        return ApiProcess(self._settings, self._listener, number)


def serve_part(settings: Settings, listener: socket.socket, pipe: Connection[Any, Any]) -> None:
    """What each process runs: the API, until a signal says to stop or the process that started it has ended."""
    with telemetry_of(settings, "api", Source.API) as signals:
        answering = Thread(
            target=answer_while_asked, args=(pipe, signals.metrics), name="foldline-metrics", daemon=True
        )
        try:
            use_models_file(settings.models_file)
            with (
                open_store(settings, signals.tracing) as store,
                api_beside_workers(settings, store, signals) as app,
            ):
                run_api(app, listener, settings, answering.start)
        except CommandFailed as failure:
            logger.critical("%s", failure)
            sys.exit(failure.code)


def answer_while_asked(pipe: Connection[Any, Any], metrics: Metrics) -> None:
    """Answer on the pipe, until its other end is closed: then nobody would stop or replace this process."""
    try:
        answer_questions(pipe, metrics)
    finally:
        os.kill(os.getpid(), signal.SIGTERM)
