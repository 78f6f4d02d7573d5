"""The trace that a job was asked for in, and an index to what is owed."""

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
    is_owed = sa.text("owed_tokens > 0")
    op.create_index("branch_owed", "branch", ["owed_tokens"], sqlite_where=is_owed, postgresql_where=is_owed)


def downgrade() -> None:
    """Take it back."""
    op.drop_index("branch_owed", "branch")
    with op.batch_alter_table("job") as batch_op:
        batch_op.drop_column("traceparent")
