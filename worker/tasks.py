"""What the worker does with a message: it claims a job, makes one call to the summarizer, and publishes or fails."""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Event
from typing import Final

from tenacity import (
    Retrying,
    retry_if_exception_type,
    sleep_using_event,
    stop_after_delay,
    stop_when_event_set,
    wait_exponential_jitter,
)

from compaction.summary import Draft
from sessions import claiming, jobs
from sessions.errors import Unavailable
from sessions.jobs import Claim
from sessions.requests import BACKGROUND, INTERACTIVE
from sessions.settings import Settings
from sessions.store import Store
from worker.failures import Contained, describe
from worker.lease import Lease
from worker.slots import Slots
from worker.summarizers import Cancelled, Summarizer, SummarizerUnavailable
from worker.sweeper import sweep

logger = logging.getLogger(__name__)

PUBLISH_WAIT_SECONDS: Final = 0.2
PUBLISH_WAIT_SECONDS_MAX: Final = 5.0


class Tasks:
    """The tasks of one process. They take keywords only, ignore those they do not know, and may run twice.

    Once `stopping` is set, running jobs are handed back and no more are taken. `pass_on` is called with the queue of a
    ring that came at such a time, or while every slot was taken: it is sent again a moment later.
    """

    def __init__(
        self,
        settings: Settings,
        store: Store,
        summarizer: Summarizer,
        *,
        pass_on: Callable[[str], None],
        stopping: Event,
    ) -> None:
        self._settings = settings
        self._store = store
        self._summarizer = summarizer
        self._pass_on = pass_on
        self._stopping = stopping
        self._slots = Slots(settings.worker_concurrency)

    def summarize(self, *, queue: str = BACKGROUND, **_unknown: object) -> None:
        """Does the next job of `queue`, if one is waiting; which one is the database's decision, not the message's."""
        if self._stopping.is_set() or not self._slots.take(queue):
            # Another process may be idle: the message must not end here.
            self._pass_on(queue)
            return
        # What fails here has its remedy elsewhere: the lease lapses and the sweeper rings.
        with Contained(lambda error: logger.error("task of %s failed: %s", queue, describe(error))):
            try:
                has_found_one = self._do_next(queue)
            finally:
                self._slots.give_back(queue)
            if has_found_one:
                # A job of either class may have waited for this one's slot, or for its session.
                self._ring(INTERACTIVE, BACKGROUND)

    def sweep(self, **_unknown: object) -> None:
        """What the sweeper's thread does in a process of its own."""
        with Contained(lambda error: logger.error("sweep failed: %s", describe(error))):
            sweep(self._store)

    def _do_next(self, queue: str) -> bool:
        claim = claiming.claim(self._store, queue)
        if claim is None:
            return False
        # There may be more behind it. One job a message lets the queues take turns, and passing the ring on before the
        # work wakes the next thread, so that one ring is enough for any number of jobs.
        self._ring(queue)
        self._finish(claim)
        return True

    def _ring(self, *queues: str) -> None:
        for queue in queues:
            self._store.doorbell(queue)

    def _finish(self, claim: Claim) -> None:
        """Ends the job, or hands it back. Each step is conditional on the lease, so a late one changes nothing."""
        with Contained(lambda error: self._fail(claim, error)):
            state = self._write(claim)
            logger.info("job %s job_id=%s", state, claim.job_id, extra={"job_id": claim.job_id, "state": state})

    def _write(self, claim: Claim) -> str:
        """The job's end state, after the summarizer's one call."""
        settings = self._settings
        lease = Lease(
            lambda progress: jobs.beat(self._store, claim, progress),
            settings.lease_seconds,
            settings.summarizer_timeout_seconds,
            claim.job_id,
        )
        with lease:
            draft = self._summarizer.summarize(claim.request, lambda: lease.is_lost or self._stopping.is_set())
            return self._publish(claim, draft)

    def _publish(self, claim: Claim, draft: Draft) -> str:
        """The job's end state. A summary was paid for: it outlasts a short absence of the database."""
        patient = Retrying(
            retry=retry_if_exception_type(Unavailable),
            wait=wait_exponential_jitter(PUBLISH_WAIT_SECONDS, PUBLISH_WAIT_SECONDS_MAX),
            # Longer, and the job is somebody else's.
            stop=stop_after_delay(self._settings.lease_seconds) | stop_when_event_set(self._stopping),
            sleep=sleep_using_event(self._stopping),
            reraise=True,
        )
        return patient(jobs.publish, self._store, claim, draft)

    def _fail(self, claim: Claim, error: Exception) -> None:
        about = {"job_id": claim.job_id}
        if self._stopping.is_set():
            jobs.release(self._store, claim)
            logger.info("job handed back job_id=%s", claim.job_id, extra=about)
        elif isinstance(error, Unavailable):
            logger.warning("job left to its lease, the database is away job_id=%s", claim.job_id, extra=about)
        elif isinstance(error, Cancelled):
            logger.info("job given up, it was cancelled or taken over job_id=%s", claim.job_id, extra=about)
        else:
            reason = str(error) if isinstance(error, SummarizerUnavailable) else describe(error)
            pause_seconds = error.retry_after_seconds if isinstance(error, SummarizerUnavailable) else None
            logger.warning("job failed job_id=%s: %s", claim.job_id, reason, extra=about)
            jobs.fail(self._store, claim, reason, pause_seconds)
