"""Deletes all that a tenant has: its sessions, stored answers and, if requested, its keys."""

from __future__ import annotations

from time import sleep
from typing import Final, NamedTuple

from sqlalchemy import select

from foldline.log.access import api_keys, audit
from foldline.log.access.audit import AuditedAction
from foldline.log.jobs import deletion
from foldline.log.storage import idempotency
from foldline.log.storage.store import Store, Transaction
from foldline.log.storage.tables import API_KEY, AUDIT, SESSION

SESSIONS_AT_ONCE: Final = 100
_KNOWN: Final = (SESSION, API_KEY, AUDIT)


def has_any(tx: Transaction, tenant: str) -> bool:
    """Whether the service knows the tenant: it had a session or a key, or somebody did something in its name."""
    return any(tx.execute(select(table.c.tenant).where(table.c.tenant == tenant).limit(1)).first() for table in _KNOWN)


class Deleted(NamedTuple):
    """How many sessions were deleted, and how many keys revoked."""

    sessions: int
    keys: int


def delete_tenant(store: Store, tenant: str, actor: str, *, with_keys: bool) -> Deleted:
    """Delete the sessions of a tenant, in short transactions; the sweeper removes their rows later.

    `with_keys` revokes its stored keys too, and removes their names; two seconds later, when all processes refuse them,
    it deletes what was done with them meanwhile. A request that was let in before and ends later still may leave a
    session, which another call deletes. The audit trail stays, and says who did this.
    """
    with store.write() as tx:
        # First, so that it stands there even if what follows is broken off.
        audit.record(tx, tenant, actor, AuditedAction.DELETED)
        keys = api_keys.revoke_all(tx, tenant) if with_keys else []
        for key_id in keys:
            audit.record(tx, tenant, actor, AuditedAction.REVOKED_KEY, object_id=key_id)
    sessions = _delete_all(store, tenant)
    if keys:
        sleep(api_keys.REVOKED_SECONDS)
        sessions += _delete_all(store, tenant)
    return Deleted(sessions, len(keys))


def _delete_all(store: Store, tenant: str) -> int:
    is_more = True
    while is_more:
        with store.write() as tx:
            is_more = idempotency.forget_tenant(tx, tenant, deletion.PURGE_ROWS) == deletion.PURGE_ROWS
    sessions = 0
    while True:
        with store.write() as tx:
            found = _delete_some(tx, tenant)
        if not found:
            return sessions
        sessions += found


def _delete_some(tx: Transaction, tenant: str) -> int:
    alive = select(SESSION.c.pk, SESSION.c.id).where(SESSION.c.tenant == tenant, SESSION.c.deleted_at.is_(None))
    sessions = {row.pk: row.id for row in tx.execute(alive.limit(SESSIONS_AT_ONCE).with_for_update())}
    if sessions:
        deletion.delete_sessions(tx, tenant, sessions)
    return len(sessions)
