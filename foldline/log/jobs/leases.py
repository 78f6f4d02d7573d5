"""Claimed jobs: what is about to be summarized, and the lease that every report on the job must carry."""

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
    """What a job is about to summarize; hooks are given it.

    `kind` is `compact` or `branch`, `reason` is `asked` or `trigger`. The entries from `first_entry_id` to
    `last_entry_id` are covered, on the session's own path or on the branch that was left; `original_tokens` are
    theirs, `max_tokens` what the summary's text may take. `first_kept_entry_id` is the next that stays in view, for a
    compaction, and `left_entry_id` the newest of the branch that was left. `details` has the `read_files` and
    `modified_files`. `request` has what a summarizer gets: the messages, the summaries that are taken up, the user's
    instructions. `policy` is the one in force, as `GET /sessions/{id}` shows it.
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
        """Whether the summary ends in the middle of a turn, which then has a part of its own in it."""
        return bool(self.request.turn_prefix)


class Lease(NamedTuple):
    """The hold on a job: only who has the token may report on it."""

    job_id: str
    token: str


@dataclass(frozen=True, slots=True)
class Claim:
    """A job in this worker's hands: what to summarize, and the lease that every report must carry.

    `is_followed`: more jobs of its queue could be claimed. `traceparent`: the trace it was asked for in.
    """

    lease: Lease
    session_pk: int
    branch: int
    preparation: Preparation
    wanted: Wanted
    is_followed: bool = False
    traceparent: str | None = None

    @property
    def request(self) -> SummaryInput:
        """What a summarizer gets."""
        return self.preparation.request

    @property
    def job_id(self) -> str:
        """The job's id."""
        return self.lease.job_id


def extend_leases(store: Store, progress_by_lease: Mapping[Lease, float]) -> set[Lease]:
    """Extend leases and note the progress (0 to 1) of their jobs; those of the leases that still hold."""
    with store.write() as tx:
        until = tx.now + tx.limits.lease_seconds * 1000
        # Jobs are locked in no order here, so none is waited for: what changes just now is extended the next time.
        free = _current(tx, _FREE_LEASES, progress_by_lease)
        if free:
            tx.execute(_EXTEND, [_held(lease) | {"until": until, "share": progress_by_lease[lease]} for lease in free])
        return free if len(free) == len(progress_by_lease) else _current(tx, _LEASES, progress_by_lease)


def _current(tx: Transaction, statement: Any, leases: Collection[Lease]) -> set[Lease]:
    found = tx.execute(statement, {"jobs": [lease.job_id for lease in leases]})
    return {Lease(*row) for row in found}.intersection(leases)


def open_claimed(tx: Transaction, done: Claim) -> tuple[Path | None, Any]:
    """The path of a claimed job, and the job if it is still held; both locked.

    The session goes first, as everywhere: whoever holds it may go on to its jobs.
    """
    path = paths.open_branch(tx, done.session_pk, done.branch)
    return path, tx.execute(_HELD, _held(done.lease)).first()


def _held(lease: Lease) -> dict[str, str]:
    return {"job": lease.job_id, "token": lease.token}
