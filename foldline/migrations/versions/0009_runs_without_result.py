"""The last trigger run of a branch, if it led to nothing."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    # NULL is "not known": the next append over the trigger plans.
    op.add_column("branch", sa.Column("not_compacted", sa.LargeBinary(), nullable=True))


def downgrade() -> None:
    """Take it back."""
    with op.batch_alter_table("branch") as batch_op:
        batch_op.drop_column("not_compacted")
