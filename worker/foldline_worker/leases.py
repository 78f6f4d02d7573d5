"""Extends the leases of a process's jobs while their summaries are written, on one thread."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from threading import Event, Thread
from time import monotonic
from typing import Final

from foldline.log.jobs.leases import Lease
from foldline.telemetry.logs import Contained, describe
from foldline_worker.cancellation import Cancellation

logger = logging.getLogger(__name__)

# Often enough that two failed beats do not lose a lease, and that a cancelled job stops within seconds.
BEATS_PER_LEASE: Final = 4
BEAT_SECONDS_MAX: Final = 2.0
# Progress stays below 1 until the end.
PROGRESS_MAX: Final = 0.95


@dataclass(frozen=True, slots=True)
class _Hold:
    cancellation: Cancellation = field(default_factory=Cancellation)
    begun: float = field(default_factory=monotonic)


class Leases:
    """The leases of a process's running jobs.

    A job's work is cancelled when its lease is gone, when the job was cancelled, or when `stopping` is set.

    Args:
        beat: extends leases, given the progress of their jobs; returns those that are still current.
        lease_seconds: how long a lease lasts unless it is extended.
        expected_seconds: how long a call may take; a job's progress is the share of it that has passed, unless its
            work reports how far it is.
        stopping: once it is set, leases are not extended any more.
    """

    def __init__(
        self,
        beat: Callable[[Mapping[Lease, float]], Collection[Lease]],
        lease_seconds: float,
        expected_seconds: float,
        stopping: Event,
    ) -> None:
        self._beat = beat
        self._interval_seconds = min(lease_seconds / BEATS_PER_LEASE, BEAT_SECONDS_MAX)
        self._expected_seconds = expected_seconds
        self._stopping = stopping
        self._hold_by_lease: dict[Lease, _Hold] = {}
        self._thread = Thread(target=self._run, name="foldline-leases", daemon=True)

    def start(self) -> None:
        """Start to extend leases."""
        self._thread.start()

    def stop(self, timeout_seconds: float) -> bool:
        """Wait for the thread to end, once `stopping` is set; False if it does not in time."""
        self._thread.join(timeout_seconds)
        return not self._thread.is_alive()

    @property
    def is_alive(self) -> bool:
        """Whether the thread that extends leases runs."""
        return self._thread.is_alive()

    def cancel_all(self) -> None:
        """Cancel the work of all held jobs, without a wait; to be called after `stopping` is set."""
        for hold in dict(self._hold_by_lease).values():
            hold.cancellation.cancel()

    @contextmanager
    def held(self, lease: Lease) -> Iterator[Cancellation]:
        """A block in which a lease is extended; it yields the cancellation of the work."""
        hold = self._hold_by_lease[lease] = _Hold()
        try:
            if self._stopping.is_set():
                hold.cancellation.cancel()
            yield hold.cancellation
        finally:
            del self._hold_by_lease[lease]

    def _run(self) -> None:
        while not self._stopping.wait(self._interval_seconds):
            if holds := dict(self._hold_by_lease):
                # A short outage of the database must not cancel the work: the leases have not lapsed.
                with Contained(partial(_report, holds)):
                    self._extend(holds)

    def _extend(self, hold_by_lease: dict[Lease, _Hold]) -> None:
        current = self._beat({lease: self._progress(hold) for lease, hold in hold_by_lease.items()})
        for lease in hold_by_lease.keys() - {*current}:
            hold_by_lease[lease].cancellation.cancel()

    def _progress(self, hold: _Hold) -> float:
        # Work of many calls reports how far it is; that of one call is known by its time alone.
        share = hold.cancellation.share or (monotonic() - hold.begun) / self._expected_seconds
        return min(share, PROGRESS_MAX)


def _report(leases: Collection[Lease], error: Exception) -> None:
    job_ids = [lease.job_id for lease in leases]
    logger.warning("leases not extended: %s", describe(error), extra={"job_ids": job_ids})
