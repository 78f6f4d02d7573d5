"""The ledger of each entry, and of all that each summary covers."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    # NULL is "not known": the items are found when they are needed.
    for table in ("entry", "summary"):
        op.add_column(table, sa.Column("ledger", sa.LargeBinary(), nullable=True))


def downgrade() -> None:
    """Take it back."""
    for table in ("summary", "entry"):
        with op.batch_alter_table(table) as batch_op:
            batch_op.drop_column("ledger")
