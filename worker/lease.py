"""The hold on one claimed job: extended while its summary is written, and the flag that says to stop writing."""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Event, Thread
from time import monotonic
from typing import Final, Self

from worker.failures import Contained, describe

logger = logging.getLogger(__name__)

# Often enough that two missed beats do not lose a lease, and that a cancelled job stops within seconds.
BEATS_PER_LEASE: Final = 4
BEAT_SECONDS_MAX: Final = 2.0
# A call in flight tells nothing about itself but the time it took, so progress stops short of the end.
PROGRESS_MAX: Final = 0.95


class Lease:
    """A context that calls `beat(progress)` from a thread of its own until it is left or `beat` answers False.

    Args:
        beat: extends the lease; False when it is lost or the job was cancelled.
        lease_seconds: how long one beat holds.
        expected_seconds: how long the work may take; progress is the share of it that has passed.
        job_id: for the log.
    """

    def __init__(
        self, beat: Callable[[float], bool], lease_seconds: float, expected_seconds: float, job_id: str
    ) -> None:
        self._beat = beat
        self._interval_seconds = min(lease_seconds / BEATS_PER_LEASE, BEAT_SECONDS_MAX)
        self._expected_seconds = expected_seconds
        self._job_id = job_id
        self._left = Event()
        self._lost = Event()
        self._thread = Thread(target=self._run, name="foldline-lease", daemon=True)

    @property
    def is_lost(self) -> bool:
        """Whether the job is no longer ours to finish."""
        return self._lost.is_set()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._left.set()
        self._thread.join()

    def _run(self) -> None:
        started = monotonic()
        while not self.is_lost and not self._left.wait(self._interval_seconds):
            # A database that is away for a moment must not end the call: the lease still runs.
            with Contained(self._report):
                self._extend(min((monotonic() - started) / self._expected_seconds, PROGRESS_MAX))

    def _extend(self, progress: float) -> None:
        if not self._beat(progress):
            self._lost.set()

    def _report(self, error: Exception) -> None:
        about = {"job_id": self._job_id}
        logger.warning("lease not extended job_id=%s: %s", self._job_id, describe(error), extra=about)
