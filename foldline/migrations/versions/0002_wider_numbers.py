"""Numbers as wide as a busy PostgreSQL needs, and how often in a row the summaries of a branch failed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

TOTALS = ("kept", "raw", "owed_tokens")
WIDENED = {
    "session": ("pk",),
    "branch": ("session_pk", *TOTALS),
    "entry": ("session_pk", *TOTALS),
    "summary": ("session_pk",),
    "job": ("number", "session_pk"),
    "pin": ("number", "session_pk"),
}
SEQUENCES = ("session_pk_seq", "job_number_seq", "pin_number_seq")


def upgrade() -> None:
    """Apply this revision."""
    # A process of the version before writes no such column.
    op.add_column("branch", sa.Column("failures", sa.Integer(), nullable=False, server_default="0"))
    _change("BIGINT")


def downgrade() -> None:
    """Take it back."""
    _change("INTEGER")
    with op.batch_alter_table("branch") as batch_op:
        batch_op.drop_column("failures")


def _change(width: str) -> None:
    # Integers of SQLite have 64 bits, whatever their column is called.
    if op.get_context().dialect.name == "sqlite":
        return
    for table, columns in WIDENED.items():
        # One statement for each table, which is written anew only once.
        op.execute(f"ALTER TABLE {table} " + ", ".join(f"ALTER COLUMN {column} TYPE {width}" for column in columns))
    for sequence in SEQUENCES:
        op.execute(f"ALTER SEQUENCE {sequence} AS {width}")
