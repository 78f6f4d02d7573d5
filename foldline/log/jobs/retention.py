"""Retention: finds the sessions whose last message is too old, and deletes them.

A session has a time since which it was quiet at the least: that of the last message when it was last looked at. So what
is due is found by an index, appends write nothing for it, and a session that goes on is looked at about once in the
time for which it is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import Any, Final

from sqlalchemy import ColumnElement, and_, bindparam, case, func, select, update

from foldline.log.access import audit
from foldline.log.access.audit import AuditedAction
from foldline.log.job_state import ACTIVE
from foldline.log.jobs import deletion
from foldline.log.storage.store import Transaction
from foldline.log.storage.tables import BRANCH, ENTRY, JOB, SESSION, one_of

DAY_MILLISECONDS: Final = 86_400_000
# Each is read, and its jobs and answers are looked for, in one transaction.
LOOKED_AT_ONCE: Final = 50
# The actor of what retention deletes.
RETENTION: Final = "retention"

_IS_LIVE: Final = SESSION.c.deleted_at.is_(None)
_IS_BUSY: Final = SESSION.c.pk.in_(select(JOB.c.session_pk).where(one_of(JOB.c.state, ACTIVE)))
# A branch without a message of its own has none at this place; its parent has it.
_LAST_MESSAGE: Final = (
    select(func.max(ENTRY.c.created_at))
    .join_from(BRANCH, ENTRY, and_(ENTRY.c.session_pk == BRANCH.c.session_pk, ENTRY.c.branch == BRANCH.c.branch))
    .where(BRANCH.c.session_pk == SESSION.c.pk, ENTRY.c.seq == BRANCH.c.last_message_seq)
    .scalar_subquery()
)
# Messages that were imported may be older than their session.
_QUIET_SINCE: Final = case((SESSION.c.created_at < _LAST_MESSAGE, _LAST_MESSAGE), else_=SESSION.c.created_at)
_LOOKED_AT: Final = select(
    SESSION.c.pk, SESSION.c.tenant, SESSION.c.id, SESSION.c.retention_days, _QUIET_SINCE.label("since")
)
_NOTE: Final = (
    update(SESSION)
    .where(SESSION.c.pk == bindparam("session_pk"))
    .values(quiet_since=bindparam("since"), due_at=bindparam("due"))
)

# Each tenant is found by a look-up, and so is its session: what has many sessions is stepped over.
_OF_SERVICE: Final = (_IS_LIVE, SESSION.c.retention_days.is_(None))
_TENANTS: Final = select(func.min(SESSION.c.tenant).label("tenant")).where(*_OF_SERVICE).cte("tenants", recursive=True)
_NEXT_TENANT: Final = (
    select(func.min(SESSION.c.tenant)).where(*_OF_SERVICE, SESSION.c.tenant > _TENANTS.c.tenant).scalar_subquery()
)
_ALL_TENANTS: Final = _TENANTS.union_all(select(_NEXT_TENANT).where(_TENANTS.c.tenant.is_not(None)))
_QUIETEST: Final = select(
    _ALL_TENANTS.c.tenant,
    select(func.min(SESSION.c.quiet_since))
    .where(*_OF_SERVICE, SESSION.c.tenant == _ALL_TENANTS.c.tenant)
    .scalar_subquery(),
)


def columns(since: int, days: int | None) -> dict[str, int | None]:
    """The columns of a session that is kept for so many days after `since`; None is as long as the service says."""
    return {"retention_days": days, "due_at": None if days is None else since + days * DAY_MILLISECONDS}


def delete_of_their_own(tx: Transaction) -> bool:
    """Delete a batch of the sessions that are kept for a time of their own, and that is over; whether more may be."""
    return _delete_old(tx, SESSION.c.due_at <= tx.now, SESSION.c.due_at)


def delete_of_service(tx: Transaction) -> bool:
    """Delete a batch of those that are kept as long as the service says; whether there may be more."""
    if not tx.limits.retention_days and not tx.limits.retention_days_by_tenant:
        return False
    # By tenant, so that sessions of one that are kept for longer do not stand in the way of others'.
    quiet = [(tenant, _newest_old(tx, tenant)) for tenant, since in _quietest(tx) if since <= _newest_old(tx, tenant)]
    is_old = (and_(*_OF_SERVICE, SESSION.c.tenant == tenant, SESSION.c.quiet_since <= at) for tenant, at in quiet)
    return any(_delete_old(tx, condition, SESSION.c.quiet_since) for condition in is_old)


def _quietest(tx: Transaction) -> list[tuple[str, int]]:
    """Each tenant, and since when its session has been quiet that was so for longest."""
    return [(tenant, since) for tenant, since in tx.execute(_QUIETEST) if tenant is not None]


def _newest_old(tx: Transaction, tenant: str) -> int:
    """The newest time of which all that a tenant said last is too old; -1 if it is kept for ever."""
    days = tx.limits.retention_days_by_tenant.get(tenant, tx.limits.retention_days)
    return -1 if days is None else tx.now - days * DAY_MILLISECONDS


def _delete_old(tx: Transaction, is_old: ColumnElement[bool], order: ColumnElement[int]) -> bool:
    """Look at sessions that may be old, and delete those that are; whether there were any."""
    found = select(SESSION.c.pk).where(is_old, _IS_LIVE, ~_IS_BUSY).order_by(order).limit(LOOKED_AT_ONCE)
    pks = tx.execute(found.with_for_update(skip_locked=True)).scalars().all()
    if not pks:
        return False
    # Read with the sessions locked: one that got a message meanwhile is seen with it.
    rows = tx.execute(_LOOKED_AT.where(SESSION.c.pk.in_(pks)).order_by(SESSION.c.tenant)).all()
    for tenant, sessions in groupby(rows, key=lambda row: row.tenant):
        delete(tx, tenant, {row.pk: row.id for row in sessions if _due_at(tx, row) <= tx.now})
    going_on = [_noted(row) for row in rows if _due_at(tx, row) > tx.now]
    if going_on:
        tx.execute(_NOTE, going_on)
    return True


def _noted(row: Any) -> dict[str, Any]:
    due = columns(row.since, row.retention_days)["due_at"]
    return {"session_pk": row.pk, "since": row.since, "due": due}


def _due_at(tx: Transaction, row: Any) -> int:
    """When a session that is kept for a time is deleted."""
    of_service = tx.limits.retention_days_by_tenant.get(row.tenant, tx.limits.retention_days)
    days: int = row.retention_days or of_service or 0
    return int(row.since) + days * DAY_MILLISECONDS


def delete(tx: Transaction, tenant: str, sessions: Mapping[int, str]) -> None:
    """Delete sessions of a tenant whose time is over, by primary key with their ids, and note it in the trail."""
    deletion.delete_sessions(tx, tenant, sessions)
    for session_id in sessions.values():
        audit.record(tx, tenant, RETENTION, AuditedAction.DELETED, session_id=session_id)
