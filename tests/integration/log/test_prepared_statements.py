"""Prepared statements of PostgreSQL, which a pooler by transactions cannot have."""

from __future__ import annotations

from contextlib import closing

import pytest
from sqlalchemy import text

from foldline.log.storage.engines.postgresql import PREPARED_FROM
from foldline.log.storage.store import Store
from tests.support.processes.databases import only_postgresql

database_kind = only_postgresql


@pytest.mark.parametrize("prepares", [True, False])
def test_statements_are_prepared_unless_a_setting_says_no(database: str, *, prepares: bool) -> None:
    with closing(Store(database, connections=1, prepares=prepares)) as store:
        for _ in range(PREPARED_FROM + 2):
            with store.read() as tx:
                tx.execute(text("SELECT count(*) FROM session")).one()
        with store.read() as tx:
            prepared = tx.execute(text("SELECT count(*) FROM pg_prepared_statements")).scalar_one()
    assert bool(prepared) is prepares
