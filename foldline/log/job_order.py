"""The order of jobs: tenants take turns, and a session that is close to overflow goes before the tenant's others.

A job's `turn` is one more than that of the job that is done now, and than the last one of its tenant (self-clocked fair
queueing, Golestani 1994). So a tenant with thousands of jobs is as far ahead as one with a single job, and the order is
that of an index. A long job counts as several.
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


_QUEUED, _RUNNING = JOB.c.state == JobState.QUEUED, JOB.c.state == JobState.RUNNING
_IS_OWN: Final = JOB.c.tenant == bindparam("of_tenant")


def _of_queue(turn: Any, *where: Any) -> Any:
    return select(turn.label("turn")).where(JOB.c.queue == bindparam("in_queue"), *where)


# The turn that is done now. Where nothing is done, the next one has not begun.
_NOW: Final = func.coalesce(
    _of_queue(func.max(JOB.c.turn), _RUNNING).scalar_subquery(),
    _of_queue(func.min(JOB.c.turn), _QUEUED).scalar_subquery() - 1,
    0,
)
_BEFORE: Final = union_all(
    select(_NOW.label("turn")),
    _of_queue(func.max(JOB.c.turn), _RUNNING, _IS_OWN),
    _of_queue(func.max(JOB.c.turn), _QUEUED, _IS_OWN),
).subquery()
NEXT_TURN: Final[ScalarSelect[int]] = select(func.max(_BEFORE.c.turn) + bindparam("length")).scalar_subquery()
_OWN: Final = select(JOB.c.number, JOB.c.session_pk, JOB.c.turn, JOB.c.queue).where(
    JOB.c.id == bindparam("job"), _QUEUED, ~JOB.c.is_close
)
_FIRST_OF_OTHERS: Final = (
    select(JOB.c.number, JOB.c.turn)
    .where(_QUEUED, JOB.c.queue == bindparam("in_queue"), _IS_OWN, JOB.c.turn < bindparam("before"))
    .where(~JOB.c.is_close, JOB.c.session_pk != bindparam("pk"))
    .order_by(JOB.c.turn, JOB.c.number)
    .limit(1)
    # One that is claimed at this moment keeps its turn.
    .with_for_update(skip_locked=True)
)
_MOVE: Final = update(JOB).where(JOB.c.number == bindparam("moved")).values(turn=bindparam("to_turn"))
_HURRY: Final = update(JOB).where(JOB.c.number == bindparam("moved")).values(turn=bindparam("to_turn"), is_close=True)


def turn_values(path: Path, queue: str, summarizer_tokens: int) -> dict[str, Any]:
    """The parameters of `NEXT_TURN` for a job of the path's session."""
    # As many calls of a model as the job is likely to make.
    length = max(1, -(-path.pending_tokens // summarizer_tokens))
    return {"in_queue": queue, "of_tenant": path.session.tenant, "length": length}


def is_close(path: Path) -> bool:
    """Whether the session's view may not fit soon."""
    return path.used > path.session.budget.limit * CLOSE_SHARE


def hurry(tx: Transaction, path: Path, job_id: str) -> None:
    """Have a waiting job of a session that is close to overflow change turns with the tenant's first that is not."""
    own = tx.execute(_OWN, {"job": job_id}).first()
    if own is None:
        return
    wanted = {"in_queue": own.queue, "of_tenant": path.session.tenant, "before": own.turn, "pk": own.session_pk}
    other = tx.execute(_FIRST_OF_OTHERS, wanted).first()
    if other is not None:
        tx.execute(_MOVE, {"moved": other.number, "to_turn": own.turn})
    tx.execute(_HURRY, {"moved": own.number, "to_turn": other.turn if other is not None else own.turn})
