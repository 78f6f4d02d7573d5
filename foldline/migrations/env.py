"""Alembic's entry: runs the revisions on the connection that `migrations.upgrade` hands over."""

from __future__ import annotations

from alembic import context

from foldline.log.storage.tables import SESSION

CONNECTION = context.config.attributes["connection"]
# On SQLite all revisions share the transaction that keeps other migrations away.
IS_SQLITE = CONNECTION.dialect.name == "sqlite"

context.configure(
    connection=CONNECTION,
    target_metadata=SESSION.metadata,
    render_as_batch=True,
    transaction_per_migration=not IS_SQLITE,
)
with context.begin_transaction():
    context.run_migrations()
