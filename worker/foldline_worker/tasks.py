"""What the worker does with a message: it claims a job, has a summary written, and publishes it or fails."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from threading import BoundedSemaphore, Event, Lock
from typing import Final

from tenacity import (
    Retrying,
    retry_if_exception_type,
    sleep_using_event,
    stop_after_delay,
    stop_when_event_set,
    wait_exponential,
    wait_random,
)

from foldline.engine.summaries.prompt import SummaryDraft, SummaryInput
from foldline.log.compaction.enqueue import BACKGROUND, INTERACTIVE
from foldline.log.compaction.summaries import HOOK
from foldline.log.errors import Unavailable
from foldline.log.job_state import JobState
from foldline.log.jobs import claims, endings, publish
from foldline.log.jobs.claims import ClaimDeferred
from foldline.log.jobs.leases import Claim
from foldline.log.jobs.sweeps import sweep
from foldline.log.storage.events import JobWaits
from foldline.log.storage.store import Store
from foldline.settings import Settings
from foldline.telemetry.logs import Contained, about, describe
from foldline.telemetry.tracing import Silent, Span, Tracing
from foldline_worker.cancellation import Cancellation, Cancelled
from foldline_worker.hooks.hooks import Decision, HookFailed, Hooks
from foldline_worker.leases import Leases
from foldline_worker.summarizers.contract import Summarizer, SummarizerUnavailable


class Slots:
    """`number` slots; the last one is kept for what someone asked for, so that it need not wait for automatic jobs."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._limits = {INTERACTIVE: number, BACKGROUND: max(number - 1, 1)}
        self._taken: Counter[str] = Counter()
        self._lock = Lock()

    def take(self, queue: str) -> bool:
        """Whether a job of this queue may start; whoever gets True gives the slot back."""
        with self._lock:
            has_one = self._taken.total() < self._number and self._taken[queue] < self._limits[queue]
            self._taken[queue] += has_one
            return has_one

    def give_back(self, queue: str) -> None:
        """Ends what `take` began."""
        with self._lock:
            self._taken[queue] -= 1


logger = logging.getLogger(__name__)

# Threads at the database at a time: more only take the interpreter from each other, and twice as many get less done.
DATABASE_THREADS: Final = 3
PUBLISH_WAIT_SECONDS: Final = 0.2
PUBLISH_WAIT_SECONDS_MAX: Final = 5.0


class Tasks:
    """The tasks of one process. They take keywords only, ignore those they do not know, and may run twice.

    `queues` are those that this process takes from. Once `stopping` is set, running jobs are handed back and no more
    are taken. `pass_on` is called with the queue of a message that came at such a time, or while every slot was taken:
    it is sent again a moment later.
    """

    def __init__(
        self,
        settings: Settings,
        store: Store,
        summarizer: Summarizer,
        *,
        leases: Leases,
        queues: Collection[str],
        pass_on: Callable[[str], None],
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
        """Does jobs for as long as any wait; which ones is the database's decision, not the message's."""
        if self._stopping.is_set() or not self._slots.take(queue):
            # Another process may be idle: the message must not end here.
            self._pass_on(queue)
            return
        # What fails here has its remedy elsewhere: the lease lapses and the sweeper notifies.
        with Contained(lambda error: logger.error("task of %s failed: %s", queue, describe(error))):
            if self._do_next(queue, is_notified=True):
                while not self._stopping.is_set() and self._do_another():
                    pass
                # A job may have waited for its session, in a queue that this process does not take from any more.
                for other in (INTERACTIVE, BACKGROUND):
                    if self._stopping.is_set() or other not in self._queues:
                        self._store.publish(JobWaits(other))

    def sweep(self, **_unknown: object) -> None:
        """What the sweeper's thread does in a process of its own."""
        with Contained(lambda error: logger.error("sweep failed: %s", describe(error))):
            sweep(self._store)

    def _do_another(self) -> bool:
        """Whether there was a job to do, in any queue; what someone waits for goes first."""
        return any(self._slots.take(queue) and self._do_next(queue) for queue in self._queues)

    def _do_next(self, queue: str, *, is_notified: bool = False) -> bool:
        """Whether there was a job to do. The slot for it is taken, and given back."""
        try:
            claim = self._claim(queue)
            if claim is None:
                return False
            if is_notified and claim.is_followed:
                # Passed on before the work, so that one message wakes as many threads as there are jobs.
                self._store.publish(JobWaits(queue))
            self._finish(claim)
            return True
        finally:
            self._slots.give_back(queue)

    def _claim(self, queue: str) -> Claim | None:
        # One thread at most waits for a session that is being written to: others have summaries to publish.
        with self._at_database, suppress(ClaimDeferred), _tried(self._waiting) as waits:
            # Stopping may have begun before this thread could get here.
            if not self._stopping.is_set():
                return claims.claim(self._store, queue, waits=waits)
        self._pass_on(queue)
        return None

    def _finish(self, claim: Claim) -> None:
        """Ends the job, or hands it back. Each step is conditional on the lease, so a late one changes nothing."""
        names = {"job_id": claim.job_id, "session_id": claim.preparation.session_id}
        facts = {f"foldline.{name}": value for name, value in names.items()}
        span = self._tracing.span("summarize", place="consumer", parent=claim.traceparent, facts=facts)
        with about(**names), span as told, Contained(lambda error: self._fail(claim, error)), _failing(told):
            state = self._write(claim)
            told.note({"foldline.state": state})
            logger.info("job %s", state)

    def _write(self, claim: Claim) -> str:
        """The job's end state, after the hooks were asked and the summarizer, unless a hook knows better."""
        with self._leases.held(claim.lease) as cancellation:
            decision = self._hooks.before(claim.preparation, cancellation)
            if decision.cancelled is not None:
                reason = f"cancelled by the hook {decision.hook}: {decision.cancelled}"
                with self._at_database:
                    endings.cancel_held(self._store, claim, reason)
                return JobState.CANCELLED
            return self._publish(claim, self._drafted(claim.request, decision, cancellation))

    def _drafted(self, request: SummaryInput, decision: Decision, cancellation: Cancellation) -> SummaryDraft:
        if decision.summary is not None:
            supplier = f"{HOOK}{decision.hook}"
            return SummaryDraft(decision.summary, degraded=False, summarizer=supplier, details=decision.details)
        wishes = [text for text in (request.instructions, decision.instructions) if text]
        return self._summarizer.summarize(replace(request, instructions="\n\n".join(wishes) or None), cancellation)

    def _publish(self, claim: Claim, draft: SummaryDraft) -> str:
        """The job's end state. A summary was paid for: it outlasts a short absence of the database."""
        patient = Retrying(
            retry=retry_if_exception_type(Unavailable),
            wait=wait_exponential(multiplier=PUBLISH_WAIT_SECONDS, max=PUBLISH_WAIT_SECONDS_MAX)
            + wait_random(0, PUBLISH_WAIT_SECONDS),
            # Longer, and the job is somebody else's.
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
    """A block whose exceptions fail the span, whoever takes them."""
    try:
        yield
    except Exception as error:
        span.fail(error)
        raise


@contextmanager
def _tried(lock: Lock) -> Iterator[bool]:
    """Whether this thread has the lock in the block; it does not wait for it."""
    has_it = lock.acquire(blocking=False)
    try:
        yield has_it
    finally:
        if has_it:
            lock.release()
