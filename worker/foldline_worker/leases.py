"""The hold on claimed jobs: one thread extends those of a process together, while their summaries are written."""

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

# Often enough that two missed beats do not lose a lease, and that a cancelled job stops within seconds.
BEATS_PER_LEASE: Final = 4
BEAT_SECONDS_MAX: Final = 2.0
# A call in flight tells nothing about itself but the time it took, so progress stops short of the end.
PROGRESS_MAX: Final = 0.95


@dataclass(frozen=True, slots=True)
class _Hold:
    cancellation: Cancellation = field(default_factory=Cancellation)
    begun: float = field(default_factory=monotonic)


class Leases:
    """The leases of a process.

    A job that is lost or was cancelled is told so, and so is one that is claimed once `stopping` is set.

    Args:
        beat: extends leases, given the progress of the jobs under them; answers with those that still hold.
        lease_seconds: how long a lease holds that is not extended.
        expected_seconds: how long a summary may take; a job's progress is the share of it that has passed.
        stopping: once it is set, leases run out by themselves.
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
        """From now on, leases are extended."""
        self._thread.start()

    def stop(self, timeout_seconds: float) -> bool:
        """Ends, once `stopping` is set. False if it did not in time."""
        self._thread.join(timeout_seconds)
        return not self._thread.is_alive()

    @property
    def is_alive(self) -> bool:
        """Whether leases are being extended."""
        return self._thread.is_alive()

    def cancel_all(self) -> None:
        """Cancels all jobs that are held, and waits for nothing: whoever sets `stopping` calls this next."""
        for hold in dict(self._hold_by_lease).values():
            hold.cancellation.cancel()

    @contextmanager
    def held(self, lease: Lease) -> Iterator[Cancellation]:
        """A block in which a lease is extended; what it yields says when to stop."""
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
                # A database that is away for a moment must not end the calls: the leases still run.
                with Contained(partial(_report, holds)):
                    self._extend(holds)

    def _extend(self, hold_by_lease: dict[Lease, _Hold]) -> None:
        current = self._beat({lease: self._progress(hold) for lease, hold in hold_by_lease.items()})
        for lease in hold_by_lease.keys() - {*current}:
            hold_by_lease[lease].cancellation.cancel()

    def _progress(self, hold: _Hold) -> float:
        return min((monotonic() - hold.begun) / self._expected_seconds, PROGRESS_MAX)


def _report(leases: Collection[Lease], error: Exception) -> None:
    job_ids = [lease.job_id for lease in leases]
    logger.warning("leases not extended: %s", describe(error), extra={"job_ids": job_ids})
