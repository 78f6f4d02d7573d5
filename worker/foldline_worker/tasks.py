"""The worker's tasks: claim a job, have its summary written, publish it or end the job otherwise."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from threading import BoundedSemaphore, Event, Lock
from typing import Final, Protocol

from tenacity import (
    Retrying,
    retry_if_exception_type,
    sleep_using_event,
    stop_after_delay,
    stop_when_event_set,
    wait_exponential,
    wait_random,
)

from foldline.engine.summaries.prompt import SummaryDraft
from foldline.log.compaction.enqueue import BACKGROUND, INTERACTIVE
from foldline.log.compaction.summaries import HOOK
from foldline.log.errors import Unavailable
from foldline.log.events import JobWaits
from foldline.log.job_state import JobState
from foldline.log.jobs import breakers, claims, endings, publish
from foldline.log.jobs.claims import ClaimDeferred
from foldline.log.jobs.leases import Claim
from foldline.log.jobs.sweeps import sweep
from foldline.log.jobs.writing.chunk_texts import KeptChunkTexts
from foldline.log.storage.store import Store
from foldline.settings import Settings
from foldline.telemetry.logs import Contained, about, describe
from foldline.telemetry.tracing import Silent, Span, Tracing
from foldline_worker.cancellation import Cancellation, Cancelled
from foldline_worker.hooks.hooks import Decision, HookFailed, Hooks
from foldline_worker.leases import Leases
from foldline_worker.summarizers.contract import (
    ProviderDeclined,
    Summarizer,
    SummarizerHeldBack,
    SummarizerUnavailable,
)


class Slots:
    """The slots for concurrent summaries; the last one is reserved for interactive jobs."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._limits = {INTERACTIVE: number, BACKGROUND: max(number - 1, 1)}
        self._taken: Counter[str] = Counter()
        self._lock = Lock()

    def take(self, queue: str) -> bool:
        """Take a slot for a job of this queue; False if none is free. The caller gives it back."""
        with self._lock:
            has_one = self._taken.total() < self._number and self._taken[queue] < self._limits[queue]
            self._taken[queue] += has_one
            return has_one

    def give_back(self, queue: str) -> None:
        """Give back a slot that `take` gave."""
        with self._lock:
            self._taken[queue] -= 1


logger = logging.getLogger(__name__)

# Threads that use the database at a time: one may wait at a locked session. More compete for the interpreter and get
# less done: with 3, 64 summaries of a second took 1.19 s; with 2 they take 1.16 s.
DATABASE_THREADS: Final = 2
PUBLISH_WAIT_SECONDS: Final = 0.2
PUBLISH_WAIT_SECONDS_MAX: Final = 5.0


class PassOn(Protocol):
    """Has a message sent again, in place of one that this process could not use."""

    def __call__(self, queue: str, *, is_busy: bool) -> None:
        """`is_busy`: there was no slot for a job."""
        ...


class Tasks:
    """The tasks of one process. They take keywords only, ignore unknown ones, and may run twice.

    `queues` are those that this process consumes. Once `stopping` is set, running jobs are put back into the queue and
    no more are claimed. `pass_on` is called with the queue of a message that came then, or while every slot was taken:
    the notifier sends the message again a moment later.
    """

    def __init__(
        self,
        settings: Settings,
        store: Store,
        summarizer: Summarizer,
        *,
        leases: Leases,
        queues: Collection[str],
        pass_on: PassOn,
        stopping: Event,
        hooks: Hooks | None = None,
        tracing: Tracing | None = None,
    ) -> None:
        self._settings = settings
        self._store = store
        self._summarizer = summarizer
        self._leases = leases
        self._queues = [queue for queue in (INTERACTIVE, BACKGROUND) if queue in queues]
        self._pass_on = pass_on
        self._stopping = stopping
        self._tracing = tracing or Silent()
        self._hooks = hooks or Hooks({}, settings.hook_timeout_seconds)
        self._slots = Slots(settings.worker_concurrency)
        self._at_database = BoundedSemaphore(DATABASE_THREADS)
        self._waiting = Lock()

    def summarize(self, *, queue: str = BACKGROUND, **_unknown: object) -> None:
        """Do jobs while any wait. The database decides which ones; the message only says that there are some."""
        if self._stopping.is_set() or not self._slots.take(queue):
            # Another process may be idle, so the message is sent again.
            self._pass_on(queue, is_busy=True)
            return
        # After an error here the lease lapses, and the sweeper notifies.
        with Contained(lambda error: logger.error("task of %s failed: %s", queue, describe(error))):
            if self._do_next(queue, is_notified=True):
                while not self._stopping.is_set() and self._do_another():
                    pass
                # A job may have waited for its session, in a queue that this process does not consume any more.
                for other in (INTERACTIVE, BACKGROUND):
                    if self._stopping.is_set() or other not in self._queues:
                        self._store.publish(JobWaits(other))

    def sweep(self, **_unknown: object) -> None:
        """Sweep once; sent by beat."""
        with Contained(lambda error: logger.error("sweep failed: %s", describe(error))):
            sweep(self._store)

    def _do_another(self) -> bool:
        """Do a job of any queue, interactive ones first; False if there was none."""
        return any(self._slots.take(queue) and self._do_next(queue) for queue in self._queues)

    def _do_next(self, queue: str, *, is_notified: bool = False) -> bool:
        """Do the next job of a queue; False if there was none. The caller took a slot; it is given back here."""
        try:
            claim = self._claim(queue)
            if claim is None:
                return False
            if is_notified and claim.is_followed:
                # Notified before the work, so that one message wakes as many threads as there are jobs.
                self._store.publish(JobWaits(queue))
            self._finish(claim)
            return True
        finally:
            self._slots.give_back(queue)

    def _claim(self, queue: str) -> Claim | None:
        # At most one thread waits for a locked session: the others have summaries to publish.
        with self._at_database, suppress(ClaimDeferred), _tried(self._waiting) as waits:
            # Stopping may have begun while this thread waited.
            if not self._stopping.is_set():
                return claims.claim(self._store, queue, waits=waits)
        self._pass_on(queue, is_busy=False)
        return None

    def _finish(self, claim: Claim) -> None:
        """End the job, or put it back into the queue. Each step needs the lease, so a late one changes nothing."""
        names = {"job_id": claim.job_id, "session_id": claim.preparation.session_id}
        facts = {f"foldline.{name}": value for name, value in names.items()}
        span = self._tracing.span("summarize", place="consumer", parent=claim.traceparent, facts=facts)
        with about(**names), span as opened, Contained(lambda error: self._fail(claim, error)), _failing(opened):
            state = self._write(claim)
            opened.note({"foldline.state": state})
            logger.info("job %s", state)

    def _write(self, claim: Claim) -> str:
        """Call the hooks, then the summarizer unless a hook decided, and publish; the state in which the job ended."""
        with self._leases.held(claim.lease) as cancellation:
            decision = self._hooks.before(claim.preparation, cancellation)
            if decision.cancelled is not None:
                reason = f"cancelled by the hook {decision.hook}: {decision.cancelled}"
                with self._at_database:
                    endings.cancel_held(self._store, claim, reason)
                return JobState.CANCELLED
            try:
                draft = self._drafted(claim, decision, cancellation)
            except ProviderDeclined as error:
                logger.warning("%s; the service's summarizer takes over", error)
                with self._at_database:
                    endings.decline(self._store, claim, str(error))
                return JobState.QUEUED
            except SummarizerHeldBack as error:
                with self._at_database:
                    breakers.hold_back(self._store, claim, error.name, error.seconds)
                return JobState.QUEUED
            except SummarizerUnavailable as error:
                if not error.is_refusal or claim.request.if_refused is None:
                    raise
                logger.warning("%s; less is tried", error)
                with self._at_database:
                    endings.try_less(self._store, claim, str(error))
                return JobState.QUEUED
            return self._publish(claim, draft)

    def _drafted(self, claim: Claim, decision: Decision, cancellation: Cancellation) -> SummaryDraft:
        if decision.summary is not None:
            supplier = f"{HOOK}{decision.hook}"
            return SummaryDraft(decision.summary, degraded=False, summarizer=supplier, details=decision.details)
        instructions = [text for text in (claim.request.instructions, decision.instructions) if text]
        request = replace(claim.request, instructions="\n\n".join(instructions) or None)
        return self._summarizer.summarize(request, cancellation, KeptChunkTexts(self._store, claim))

    def _publish(self, claim: Claim, draft: SummaryDraft) -> str:
        """Publish; the end state. Retried while the database is away, because the summary is paid for."""
        patient = Retrying(
            retry=retry_if_exception_type(Unavailable),
            wait=wait_exponential(multiplier=PUBLISH_WAIT_SECONDS, max=PUBLISH_WAIT_SECONDS_MAX)
            + wait_random(0, PUBLISH_WAIT_SECONDS),
            # After this the lease has lapsed.
            stop=stop_after_delay(self._settings.lease_seconds) | stop_when_event_set(self._stopping),
            sleep=sleep_using_event(self._stopping),
            reraise=True,
        )
        return patient(self._publish_once, claim, draft)

    def _publish_once(self, claim: Claim, draft: SummaryDraft) -> str:
        with self._at_database:
            return publish.publish(self._store, claim, draft)

    def _fail(self, claim: Claim, error: Exception) -> None:
        if self._stopping.is_set():
            with self._at_database:
                endings.release(self._store, claim)
            logger.info("job handed back")
        elif isinstance(error, Unavailable):
            logger.warning("job left to its lease: %s", describe(error))
        elif isinstance(error, Cancelled):
            logger.info("job given up, it was cancelled or taken over")
        else:
            reason = str(error) if isinstance(error, SummarizerUnavailable | HookFailed) else describe(error)
            pause_seconds = error.retry_after_seconds if isinstance(error, SummarizerUnavailable) else None
            logger.warning("job failed: %s", reason)
            with self._at_database:
                endings.fail(self._store, claim, reason, pause_seconds)


@contextmanager
def _failing(span: Span) -> Iterator[None]:
    """A block whose exceptions mark the span as failed, also if they are caught outside."""
    try:
        yield
    except Exception as error:
        span.fail(error)
        raise


@contextmanager
def _tried(lock: Lock) -> Iterator[bool]:
    """Try to take the lock for the block, without a wait; yields whether it was taken."""
    has_it = lock.acquire(blocking=False)
    try:
        yield has_it
    finally:
        if has_it:
            lock.release()
