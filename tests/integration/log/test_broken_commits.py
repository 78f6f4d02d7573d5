"""A connection that breaks during a commit: nobody knows whether the changes are there, and the error says so."""

from __future__ import annotations

import pytest
from sqlalchemy import func, select

from foldline.log.errors import OutcomeUnknown, Unavailable
from foldline.log.storage.store import Store
from foldline.log.use_cases import lifecycle
from foldline.log.use_cases.lifecycle import NewSession
from tests.support.log.sessions import TENANT, open_store
from tests.support.processes.databases import only_postgresql

database_kind = only_postgresql
NEW = NewSession("openai/gpt-4o", "s")


def create(store: Store, database: str, *, breaks_before: bool) -> None:
    """Create a session over a connection that breaks before that is done, or before it is committed."""
    with store.write() as tx:
        if not breaks_before:
            lifecycle.create(tx, TENANT, NEW)
        pid = tx.execute(select(func.pg_backend_pid())).scalar_one()
        with open_store(database) as other, other.read() as killing:
            assert killing.execute(select(func.pg_terminate_backend(pid))).scalar_one()
        if breaks_before:
            lifecycle.create(tx, TENANT, NEW)


def test_a_connection_that_breaks_before_the_commit_leaves_the_outcome_unknown(store: Store, database: str) -> None:
    with pytest.raises(OutcomeUnknown):
        create(store, database, breaks_before=False)


def test_one_that_breaks_while_work_is_done_has_stored_nothing(store: Store, database: str) -> None:
    with pytest.raises(Unavailable) as raised:
        create(store, database, breaks_before=True)
    assert not isinstance(raised.value, OutcomeUnknown)
    with store.write() as tx:
        lifecycle.create(tx, TENANT, NEW)
