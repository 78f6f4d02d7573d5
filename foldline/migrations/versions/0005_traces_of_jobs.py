"""The trace that a job was asked for in."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    # A process of the version before writes no such column.
    op.add_column("job", sa.Column("traceparent", sa.String(), nullable=True))


def downgrade() -> None:
    """Take it back."""
    with op.batch_alter_table("job") as batch_op:
        batch_op.drop_column("traceparent")
