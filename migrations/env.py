"""Alembic's entry: runs the revisions on the connection that `migrations.upgrade` hands over."""

from __future__ import annotations

from alembic import context

from sessions.tables import SESSION

context.configure(
    connection=context.config.attributes["connection"], target_metadata=SESSION.metadata, render_as_batch=True
)
with context.begin_transaction():
    context.run_migrations()
