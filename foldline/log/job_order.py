"""The order of jobs: tenants take turns, and a session that is close to overflow goes before the tenant's others.

A job's `turn` is one more than that of the last job that was begun, and than the last one of its tenant that waits or
runs (self-clocked fair queueing, Golestani 1994). So a tenant with thousands of jobs is as far ahead as one with a
single job, and the order is that of an index. A job that waits for something else than a worker, such as a summarizer
that is held back, keeps its turn, and no other job stands behind it.
"""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import ScalarSelect, bindparam, func, select, union_all, update

from foldline.log.job_state import JobState
from foldline.log.storage.rows import Path
from foldline.log.storage.store import Transaction
from foldline.log.storage.tables import JOB

# Of the budget: a view with more may not fit soon.
CLOSE_SHARE: Final = 0.9

_IS_OWN: Final = JOB.c.tenant == bindparam("of_tenant")


def _last_turn(state: JobState, *where: Any) -> Any:
    last = func.coalesce(func.max(JOB.c.turn), 0).label("turn")
    return select(last).where(JOB.c.queue == bindparam("in_queue"), JOB.c.state == state, *where)


_BEFORE: Final = union_all(
    # Those that were begun. Failed ones are not asked: some were never begun.
    _last_turn(JobState.RUNNING),
    _last_turn(JobState.SUCCEEDED),
    _last_turn(JobState.RUNNING, _IS_OWN),
    # Those that cannot wait stand among the others.
    _last_turn(JobState.QUEUED, _IS_OWN, JOB.c.can_wait, JOB.c.not_before <= bindparam("at")),
).subquery()
NEXT_TURN: Final[ScalarSelect[int]] = select(func.max(_BEFORE.c.turn) + 1).scalar_subquery()
_OWN: Final = select(JOB.c.number, JOB.c.session_pk, JOB.c.turn, JOB.c.queue).where(
    JOB.c.id == bindparam("job"), JOB.c.state == JobState.QUEUED, JOB.c.can_wait
)
_FIRST_OF_OTHERS: Final = (
    select(JOB.c.turn)
    .where(JOB.c.state == JobState.QUEUED, JOB.c.queue == bindparam("in_queue"), _IS_OWN, JOB.c.can_wait)
    .where(JOB.c.session_pk != bindparam("pk"))
    .order_by(JOB.c.turn)
    .limit(1)
)
_HURRY: Final = (
    update(JOB).where(JOB.c.number == bindparam("hurried")).values(turn=bindparam("to_turn"), can_wait=False)
)


def turn_values(tx: Transaction, path: Path, queue: str) -> dict[str, Any]:
    """The parameters of `NEXT_TURN` for a job of the path's session."""
    return {"in_queue": queue, "of_tenant": path.session.tenant, "at": tx.now}


def is_close(path: Path) -> bool:
    """Whether the session's view may not fit soon."""
    return path.used > path.session.budget.limit * CLOSE_SHARE


def hurry(tx: Transaction, path: Path, job_id: str) -> None:
    """Have a waiting job of a session that is close to overflow go before those of the tenant's other sessions.

    It takes the turn of the first of them, which keeps it too.
    """
    own = tx.execute(_OWN, {"job": job_id}).first()
    if own is None:
        return
    wanted = {"in_queue": own.queue, "of_tenant": path.session.tenant, "pk": own.session_pk}
    first = tx.execute(_FIRST_OF_OTHERS, wanted).scalar()
    if first is not None:
        tx.execute(_HURRY, {"hurried": own.number, "to_turn": min(first, own.turn)})
