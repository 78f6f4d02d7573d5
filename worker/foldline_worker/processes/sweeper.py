"""The sweeper of an embedded worker, which has no Celery beat: a thread that sweeps."""

from __future__ import annotations

import logging
from threading import Event, Thread

from foldline.log.jobs.sweeps import sweep
from foldline.log.storage.store import Store
from foldline.telemetry.logs import Contained, describe

logger = logging.getLogger(__name__)


class Sweeper:
    """Sweeps at the start, for jobs that an earlier process left, and then every `interval_seconds`."""

    def __init__(self, store: Store, interval_seconds: float) -> None:
        self._store = store
        self._interval_seconds = interval_seconds
        self._stopping = Event()
        self._thread = Thread(target=self._run, name="foldline-sweeper", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, timeout_seconds: float) -> bool:
        """End after the sweep in progress; False if that did not end in time."""
        self._stopping.set()
        self._thread.join(timeout_seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        self._sweep()
        while not self._stopping.wait(self._interval_seconds):
            self._sweep()

    def _sweep(self) -> None:
        # The thread must not end: the next sweep tries again.
        with Contained(lambda error: logger.warning("sweep failed: %s", describe(error))):
            # Requests wait for this thread's turns of the interpreter, so that it rests for as long as it worked.
            sweep(self._store, self._stopping.wait)
