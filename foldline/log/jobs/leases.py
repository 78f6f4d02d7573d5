"""Claimed jobs: what a worker is about to summarize, and the lease that allows it to report on the job."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from sqlalchemy import and_, bindparam, select, update

from foldline.engine.summaries.prompt import SummaryInput
from foldline.log.compaction.summaries import Wanted
from foldline.log.job_state import JobState
from foldline.log.storage import paths
from foldline.log.storage.rows import Path
from foldline.log.storage.store import Store, Transaction
from foldline.log.storage.tables import JOB

# Statements are built once: building one costs as much as running it.
_IS_HELD: Final = and_(JOB.c.id == bindparam("job"), JOB.c.state == JobState.RUNNING, JOB.c.lease == bindparam("token"))
_HELD: Final = select(JOB).where(_IS_HELD).with_for_update()
_LEASES: Final = select(JOB.c.id, JOB.c.lease).where(
    JOB.c.id.in_(bindparam("jobs", expanding=True)), JOB.c.state == JobState.RUNNING
)
_FREE_LEASES: Final = _LEASES.with_for_update(skip_locked=True)
_EXTEND: Final = update(JOB).where(_IS_HELD).values(lease_until=bindparam("until"), progress=bindparam("share"))


@dataclass(frozen=True, slots=True)
class Preparation:
    """The summary that a job is about to make; `before_compact` and `before_branch` hooks get this object.

    `kind` is `compact` or `branch`. `reason` is `asked` or `trigger`. The summary covers the entries from
    `first_entry_id` to `last_entry_id`, on the session's path or on the branch that was left. `original_tokens` are
    those of these entries, and `tokens_before` those of the view. `max_tokens` is what the summary's text may take.
    `first_kept_entry_id` is the next entry that stays in view, for a compaction. `left_entry_id` is the last entry of
    the branch that was left. `details` has `read_files` and `modified_files`. `request` is the summarizer's input:
    messages, summaries to absorb, the caller's instructions. `policy` is the policy in force, as `GET /sessions/{id}`
    shows it.
    """

    kind: str
    session_id: str
    job_id: str
    policy: Mapping[str, Any]
    reason: str
    first_entry_id: str
    last_entry_id: str
    first_kept_entry_id: str | None
    left_entry_id: str | None
    original_tokens: int
    tokens_before: int
    max_tokens: int
    details: Mapping[str, Any]
    request: SummaryInput

    @property
    def is_split_turn(self) -> bool:
        """Whether the range ends inside a turn; the summary then has a section for the beginning of that turn."""
        return bool(self.request.turn_prefix)


class Lease(NamedTuple):
    """The right to report on a running job; a report with another token changes nothing."""

    job_id: str
    token: str


class HeldJob(NamedTuple):
    """A running job that is this worker's: its lease, and the branch on which it publishes."""

    lease: Lease
    session_pk: int
    branch: int


@dataclass(frozen=True, slots=True)
class Claim:
    """A job that this worker has claimed, with its lease and what to summarize.

    `leaf_seq` is the last entry of the branch at the claim; what comes after it is said while the summary is written.
    `is_followed`: more jobs of the same queue could be claimed. `traceparent` is the trace of the request for it, as in
    W3C Trace Context.
    """

    lease: Lease
    session_pk: int
    branch: int
    preparation: Preparation
    wanted: Wanted
    leaf_seq: int
    is_followed: bool = False
    traceparent: str | None = None

    @property
    def request(self) -> SummaryInput:
        """The summarizer's input."""
        return self.preparation.request

    @property
    def job_id(self) -> str:
        """The job's id."""
        return self.lease.job_id

    @property
    def held(self) -> HeldJob:
        """The job as it is held."""
        return HeldJob(self.lease, self.session_pk, self.branch)


def extend_leases(store: Store, progress_by_lease: Mapping[Lease, float]) -> set[Lease]:
    """Extend leases and record the progress of their jobs, 0 to 1; the leases that are still current."""
    with store.write() as tx:
        until = tx.now + tx.limits.lease_seconds * 1000
        # Jobs are locked in no order here, so a locked one is skipped: it is extended the next time.
        free = _current(tx, _FREE_LEASES, progress_by_lease)
        if free:
            tx.execute(_EXTEND, [_held(lease) | {"until": until, "share": progress_by_lease[lease]} for lease in free])
        return free if len(free) == len(progress_by_lease) else _current(tx, _LEASES, progress_by_lease)


def _current(tx: Transaction, statement: Any, leases: Collection[Lease]) -> set[Lease]:
    found = tx.execute(statement, {"jobs": [lease.job_id for lease in leases]})
    return {Lease(*row) for row in found}.intersection(leases)


def open_claimed(tx: Transaction, claim: Claim) -> tuple[Path | None, Any]:
    """The path of a claimed job, and the job's row; both locked, and None if the session or the lease is gone."""
    return open_held(tx, claim.held)


def open_held(tx: Transaction, held: HeldJob) -> tuple[Path | None, Any]:
    """The path of a job that is held, and the job's row, as `open_claimed`.

    The session is locked before the job, as in every transaction.
    """
    path = paths.open_branch(tx, held.session_pk, held.branch)
    return path, tx.execute(_HELD, _held(held.lease)).first()


def _held(lease: Lease) -> dict[str, str]:
    return {"job": lease.job_id, "token": lease.token}
