"""Summarizers that are held back after failures, and the jobs that wait for one."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    op.create_table(
        "breaker",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("next_try_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.add_column("job", sa.Column("waits_for", sa.String(), nullable=True))


def downgrade() -> None:
    """Take it back."""
    with op.batch_alter_table("job") as job:
        job.drop_column("waits_for")
    op.drop_table("breaker")
