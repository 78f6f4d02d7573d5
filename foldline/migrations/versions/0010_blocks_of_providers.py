"""What a model's own provider answered as its summary."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    # NULL is a summary that is text alone.
    op.add_column("summary", sa.Column("block", sa.LargeBinary(), nullable=True))


def downgrade() -> None:
    """Take it back."""
    with op.batch_alter_table("summary") as batch_op:
        batch_op.drop_column("block")
