"""Transactions that commit without waiting for the disk, on PostgreSQL."""

from __future__ import annotations

from sqlalchemy import text, update

from foldline.log.storage.engines.without_sync import WITHOUT_SYNC
from foldline.log.storage.store import Transaction
from foldline.log.storage.tables import SESSION
from tests.support.log.sessions import Scene
from tests.support.processes.databases import only_postgresql

database_kind = only_postgresql


def changed(tx: Transaction, session_id: str) -> str:
    """How a transaction commits that changed the session of this id."""
    tx.execute(update(SESSION).where(SESSION.c.id == session_id).values(model="m").returning(WITHOUT_SYNC)).all()
    return str(tx.execute(text("SHOW synchronous_commit")).scalar_one())


def test_a_transaction_that_changed_a_row_does_not_wait_for_the_disk_and_no_other_does_so(scene: Scene) -> None:
    with scene.store.write() as tx:
        assert changed(tx, scene.id) == "off"
    with scene.store.write() as tx:
        assert changed(tx, "another") == "on"
