"""The audit trail: who did what to which session, written in the transaction of the effect. It quotes nobody."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from sqlalchemy import bindparam, delete, insert, select

from foldline.log.storage.store import Transaction
from foldline.log.storage.tables import AUDIT

# The actor of what the operator's commands do in the database.
COMMAND: Final = "command"

# The number that it gets is not asked for.
_INSERT: Final = insert(AUDIT).inline()
_OLD: Final = (
    select(AUDIT.c.number)
    .where(AUDIT.c.created_at < bindparam("oldest"))
    .order_by(AUDIT.c.created_at)
    .limit(bindparam("limit"))
    .with_for_update(skip_locked=True)
)


class AuditedAction(StrEnum):
    """What is written down. Compactions that no caller asks for are in their session's own history."""

    COMPACTED = "compacted"
    UNDID = "undid"
    REDID = "redid"
    BRANCHED = "branched"
    PINNED = "pinned"
    UNPINNED = "unpinned"
    CANCELLED_JOB = "cancelled-job"
    DELETED = "deleted"
    IMPORTED = "imported"
    EXPORTED = "exported"
    CREATED_KEY = "created-key"
    REVOKED_KEY = "revoked-key"


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """A line of the trail; see `AuditRow`. `created_at` is milliseconds since the epoch."""

    number: int
    actor: str
    action: AuditedAction
    session_id: str | None
    object_id: str | None
    created_at: int


def record(
    tx: Transaction,
    tenant: str,
    actor: str,
    action: AuditedAction,
    *,
    session_id: str | None = None,
    object_id: str | None = None,
) -> None:
    """Write down that `actor` did this, if the transaction commits.

    `object_id` is what it was done to, where that is no session: a compaction, entry, pin, job or key.
    """
    row = {"tenant": tenant, "actor": actor, "action": action.value, "created_at": tx.now}
    tx.change(_INSERT, {**row, "session_id": session_id, "object_id": object_id})


def records(tx: Transaction, tenant: str, after_number: int, limit: int) -> list[AuditRecord]:
    """Up to `limit` lines of a tenant's trail after the one with this number, oldest first."""
    columns = (AUDIT.c[name] for name in AuditRecord.__slots__)
    chosen = AUDIT.c.tenant == tenant, AUDIT.c.number > after_number
    rows = tx.execute(select(*columns).where(*chosen).order_by(AUDIT.c.number).limit(limit))
    return [AuditRecord(number, actor, AuditedAction(action), *rest) for number, actor, action, *rest in rows]


def remove_old(tx: Transaction, limit: int) -> int:
    """Remove up to `limit` lines that are older than they are kept; how many."""
    oldest = tx.now - tx.limits.audit_seconds * 1000
    found = tx.execute(_OLD, {"oldest": oldest, "limit": limit}).scalars().all()
    if found:
        tx.execute(delete(AUDIT).where(AUDIT.c.number.in_(found)))
    return len(found)
