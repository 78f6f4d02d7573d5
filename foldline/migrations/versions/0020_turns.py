"""The turns of jobs, so that tenants share the workers."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    op.add_column("job", sa.Column("turn", sa.BigInteger(), nullable=False, server_default="0"))
    op.add_column("job", sa.Column("can_wait", sa.Boolean(), nullable=False, server_default=sa.true()))
    op.execute(
        "UPDATE job SET turn = waiting.turn FROM ("
        "SELECT number, row_number() OVER (PARTITION BY queue, tenant ORDER BY number) AS turn"
        " FROM job WHERE state = 'queued') AS waiting WHERE waiting.number = job.number"
    )
    op.drop_index("job_by_queue", "job")
    op.create_index("job_by_turn", "job", ["state", "queue", "turn", "can_wait", "number"])
    op.create_index("job_of_tenant", "job", ["state", "queue", "tenant", "can_wait", "turn"])


def downgrade() -> None:
    """Take it back."""
    op.drop_index("job_of_tenant", "job")
    op.drop_index("job_by_turn", "job")
    op.create_index("job_by_queue", "job", ["state", "queue", "number"])
    op.drop_column("job", "can_wait")
    op.drop_column("job", "turn")
