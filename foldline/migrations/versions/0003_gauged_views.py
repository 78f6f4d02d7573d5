"""What a view takes by the policy's own counter."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    op.add_column("branch", sa.Column("gauged", sa.BigInteger(), nullable=True))


def downgrade() -> None:
    """Take it back."""
    with op.batch_alter_table("branch") as batch_op:
        batch_op.drop_column("gauged")
