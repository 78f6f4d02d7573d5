"""Summarizers that failed too often in a row are held back, for all workers: one row for each that failed last.

While one is held back, its jobs go to the next summarizer or wait. When its pause is over, one job tries it again.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from sqlalchemy import bindparam, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from foldline.log.events import JobWaits
from foldline.log.job_state import JobState
from foldline.log.jobs.endings import JITTER, pause_seconds, requeue
from foldline.log.jobs.leases import Claim, open_claimed
from foldline.log.storage.store import Store, Transaction
from foldline.log.storage.tables import BREAKER, JOB

WAITS: Final = "waits for the summarizer {name}, which failed too often to be called now"

_FIND: Final = select(BREAKER.c.failures, BREAKER.c.next_try_at).where(BREAKER.c.name == bindparam("summarizer"))
_TAKE_PROBE: Final = (
    update(BREAKER)
    .where(BREAKER.c.name == bindparam("summarizer"), BREAKER.c.next_try_at == bindparam("seen"))
    .values(next_try_at=bindparam("until"))
)
_COUNT: Final = (
    update(BREAKER)
    .where(BREAKER.c.name == bindparam("summarizer"), BREAKER.c.failures.between(bindparam("least"), bindparam("most")))
    .values(failures=BREAKER.c.failures + 1)
    .returning(BREAKER.c.failures)
)
_HOLD_BACK: Final = (
    update(BREAKER).where(BREAKER.c.name == bindparam("summarizer")).values(next_try_at=bindparam("until"))
)
_BEGIN: Final = insert(BREAKER)
_CLOSE: Final = delete(BREAKER).where(
    BREAKER.c.name == bindparam("summarizer"), BREAKER.c.failures <= bindparam("most")
)
# Jobs that another transaction has locked come when their pause is over.
_WAITING: Final = (
    select(JOB.c.number)
    .where(JOB.c.state == JobState.QUEUED, JOB.c.waits_for == bindparam("summarizer"))
    .with_for_update(skip_locked=True)
)
_WAKE: Final = (
    update(JOB)
    .where(JOB.c.number.in_(_WAITING))
    .values(not_before=0, waits_for=None, error=None)
    .returning(JOB.c.queue)
)
# Locked against a success meanwhile, which would not wake a job that is about to wait.
_LOCK: Final = _FIND.with_for_update(read=True)


def hold_back(store: Store, claim: Claim, summarizer: str, seconds: float) -> None:
    """Put a claimed job back into its queue until a summarizer is tried again; it does not count as an attempt."""
    with store.write() as tx:
        _, job = open_claimed(tx, claim)
        if job is None:
            return
        row = tx.execute(_LOCK, {"summarizer": summarizer}).first()
        if row is None or row.failures < tx.limits.summarizer_failures:
            # It was used again meanwhile.
            requeue(tx, job, attempts=job.attempts - 1, error=None)
            return
        # With jitter, so that not all jobs that wait for it come at once.
        until = tx.now + int(seconds * 1000 * (1 + JITTER * tx.chance()))
        waiting = {"not_before": until, "waits_for": summarizer}
        requeue(tx, job, attempts=job.attempts - 1, error=WAITS.format(name=summarizer), waiting=waiting)


class Admission(NamedTuple):
    """Leave to use a summarizer, which failed so many times in a row; `is_probe` if it was held back until now."""

    failures: int
    is_probe: bool = False


class Breakers:
    """Which summarizers may be used: one that failed as often in a row as the store's limits allow is not, for a pause.

    The pause doubles with each failure after it, within the limits for the pauses of automatic jobs.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def admit(self, name: str) -> Admission | float:
        """Leave to use a summarizer now, or the seconds for which it is held back."""
        with self._store.read() as tx:
            row = tx.execute(_FIND, {"summarizer": name}).first()
            now, lease_milliseconds, most = tx.now, tx.limits.lease_seconds * 1000, tx.limits.summarizer_failures
        if row is None or row.failures < most:
            return Admission(row.failures if row else 0)
        if row.next_try_at > now:
            return float((row.next_try_at - now) / 1000)
        with self._store.write() as tx:
            # A probe that never reports makes way for another one.
            probe = {"summarizer": name, "seen": row.next_try_at, "until": now + lease_milliseconds}
            is_taken = tx.execute(_TAKE_PROBE, probe).rowcount
        return Admission(row.failures, is_probe=True) if is_taken else lease_milliseconds / 1000

    def failed(self, name: str, admission: Admission, retry_after_seconds: float | None = None) -> bool:
        """Count a failure; whether the summarizer is held back from now on.

        One that began before the summarizer was held back changes nothing.
        """
        try:
            with self._store.write() as tx:
                failures = self._counted(tx, name, admission)
                if failures < tx.limits.summarizer_failures:
                    return False
                seconds = pause_seconds(tx, failures - tx.limits.summarizer_failures, retry_after_seconds)
                tx.execute(_HOLD_BACK, {"summarizer": name, "until": tx.now + int(seconds * 1000)})
                return True
        except IntegrityError:
            # Another worker counted the first failure at the same moment.
            return self.failed(name, admission, retry_after_seconds)

    def _counted(self, tx: Transaction, name: str, admission: Admission) -> int:
        """The failures with this one; 0 if it does not count."""
        alone, any_before = (admission.failures, admission.failures), (0, tx.limits.summarizer_failures - 1)
        least, most = alone if admission.is_probe else any_before
        failures = tx.execute(_COUNT, {"summarizer": name, "least": least, "most": most}).scalar()
        if failures is not None:
            return int(failures)
        if tx.execute(_FIND, {"summarizer": name}).first():
            return 0
        tx.execute(_BEGIN, {"name": name, "failures": 1, "next_try_at": 0})
        return 1

    def succeeded(self, name: str, admission: Admission) -> None:
        """Forget the failures, and wake the jobs that wait for this summarizer.

        One that is held back is used again only when the one that tries it succeeds.
        """
        with self._store.read() as tx:
            row, most = tx.execute(_FIND, {"summarizer": name}).first(), tx.limits.summarizer_failures
        if row is None or (row.failures >= most and not admission.is_probe):
            return
        with self._store.write() as tx:
            closed = {"summarizer": name, "most": row.failures if admission.is_probe else most - 1}
            if tx.execute(_CLOSE, closed).rowcount:
                tx.events.extend(JobWaits(queue) for queue in {*tx.execute(_WAKE, {"summarizer": name}).scalars()})
