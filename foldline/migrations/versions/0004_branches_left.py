"""Summaries of branches that were left, details of summaries, what providers reported, and where sessions are from."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

SINGLE = ["session_pk", "branch", "kind"]


def upgrade() -> None:
    """Apply this revision."""
    for table, column in _added():
        op.add_column(table, column)
    _one_at_a_time([*SINGLE, "subject"])


def downgrade() -> None:
    """Take it back."""
    # Several of these may wait for one branch.
    op.execute("DELETE FROM job WHERE subject <> ''")
    _one_at_a_time(SINGLE)
    for table, column in _added():
        with op.batch_alter_table(table) as batch_op:
            batch_op.drop_column(column.name)


def _added() -> list[tuple[str, sa.Column[Any]]]:
    return [
        ("session", sa.Column("origin", sa.LargeBinary(), nullable=True)),
        ("branch", sa.Column("reported", sa.BigInteger(), nullable=True)),
        # A process of the version before writes no such columns.
        ("branch", sa.Column("reported_seq", sa.Integer(), nullable=False, server_default="0")),
        ("job", sa.Column("subject", sa.String(), nullable=False, server_default="")),
        ("summary", sa.Column("details", sa.LargeBinary(), nullable=True)),
        ("summary", sa.Column("appendix", sa.LargeBinary(), nullable=True)),
    ]


def _one_at_a_time(columns: list[str]) -> None:
    for state in ("queued", "running"):
        is_such = sa.text(f"state = '{state}'")
        op.drop_index(f"job_{state}_once", "job")
        op.create_index(
            f"job_{state}_once", "job", columns, unique=True, sqlite_where=is_such, postgresql_where=is_such
        )
