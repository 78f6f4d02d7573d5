"""The migrations against the tables they have to make."""

from __future__ import annotations

from pathlib import Path

from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlmodel import SQLModel

import migrations
from sessions.store import Store


def test_the_migrations_make_the_tables_of_the_models(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path}/new.db")
    migrations.upgrade(store.engine)
    migrations.upgrade(store.engine)
    with store.engine.begin() as connection:
        differences = compare_metadata(MigrationContext.configure(connection), SQLModel.metadata)
    store.close()
    assert differences == []
