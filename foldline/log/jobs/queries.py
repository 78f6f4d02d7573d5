"""Reads jobs for callers: one job, the jobs of a session, jobs by id."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Row, Select, select

from foldline.engine.messages import JsonObject
from foldline.engine.wire import loads
from foldline.log.errors import NotFound
from foldline.log.job_state import JobState
from foldline.log.storage import paths
from foldline.log.storage.store import Transaction
from foldline.log.storage.tables import JOB, SESSION


@dataclass(frozen=True, slots=True)
class Job:
    """A job as it is now. Times are milliseconds since the epoch; `progress` is 0 to 1.

    `waits_for` is the summarizer that a waiting job waits for, because it failed too often to be called now.
    `result` has the compaction or entry it made, its tokens, `degraded` and the usage; it is empty before a success.
    """

    number: int
    id: str
    session_id: str
    kind: str
    state: JobState
    attempts: int
    progress: float
    error: str | None
    waits_for: str | None
    superseded_by: str | None
    created_at: int
    ended_at: int | None
    result: JsonObject

    @property
    def has_ended(self) -> bool:
        """Whether its state is final."""
        return self.state.is_final


_JOBS: Final = select(
    JOB.c.number,
    JOB.c.id,
    SESSION.c.id.label("session_id"),
    JOB.c.kind,
    JOB.c.state,
    JOB.c.attempts,
    JOB.c.progress,
    JOB.c.error,
    JOB.c.waits_for,
    JOB.c.superseded_by,
    JOB.c.created_at,
    JOB.c.ended_at,
    JOB.c.result,
).join_from(JOB, SESSION, SESSION.c.pk == JOB.c.session_pk)


def job(tx: Transaction, tenant: str, job_id: str) -> Job:
    """One job of a tenant.

    Raises:
        NotFound: this tenant has no such job, or its session was deleted.
    """
    chosen = (JOB.c.tenant == tenant, JOB.c.id == job_id, SESSION.c.deleted_at.is_(None))
    found = _read(tx, _JOBS.where(*chosen))
    if not found:
        raise NotFound("job", job_id)
    return found[0]


def jobs(tx: Transaction, tenant: str, session_id: str, after_number: int, limit: int) -> list[Job]:
    """Up to `limit` jobs of a session, oldest first, after the job numbered `after_number`.

    Raises:
        NotFound: no such session.
    """
    session = paths.open_head(tx, tenant, session_id).session
    chosen = (JOB.c.session_pk == session.pk, JOB.c.number > after_number)
    return _read(tx, _JOBS.where(*chosen).order_by(JOB.c.number).limit(limit))


def jobs_by_id(tx: Transaction, job_ids: Collection[str]) -> dict[str, Job]:
    """The jobs with these ids, also of deleted sessions; ids without a job are left out."""
    return {found.id: found for found in _read(tx, _JOBS.where(JOB.c.id.in_(job_ids)))}


def _read(tx: Transaction, statement: Select[Any]) -> list[Job]:
    return [_job(row) for row in tx.execute(statement)]


def _job(row: Row[Any]) -> Job:
    values = row._asdict()
    state, result = values.pop("state"), values.pop("result")
    return Job(**values, state=JobState(state), result=loads(result) if result else {})
