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
    op.add_column("job", sa.Column("is_close", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.drop_index("job_by_queue", "job")
    op.create_index("job_by_turn", "job", ["state", "queue", "turn", "number"])
    op.create_index("job_of_tenant", "job", ["state", "queue", "tenant", "turn"])


def downgrade() -> None:
    """Take it back."""
    op.drop_index("job_of_tenant", "job")
    op.drop_index("job_by_turn", "job")
    op.create_index("job_by_queue", "job", ["state", "queue", "number"])
    op.drop_column("job", "is_close")
    op.drop_column("job", "turn")
