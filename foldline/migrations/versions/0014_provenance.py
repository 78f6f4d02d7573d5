"""The provenance of summaries: the item behind each line."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    # NULL is "not known".
    op.add_column("summary", sa.Column("provenance", sa.LargeBinary(), nullable=True))


def downgrade() -> None:
    """Take it back."""
    with op.batch_alter_table("summary") as batch_op:
        batch_op.drop_column("provenance")
