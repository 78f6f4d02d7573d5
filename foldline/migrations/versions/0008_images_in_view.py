"""The images in the view at each entry: their number, and the bytes of their base64."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    # NULL is "not known": they are counted when they are needed.
    for table in ("branch", "entry"):
        op.add_column(table, sa.Column("images", sa.Integer(), nullable=True))
        op.add_column(table, sa.Column("image_bytes", sa.BigInteger(), nullable=True))


def downgrade() -> None:
    """Take it back."""
    for table in ("entry", "branch"):
        with op.batch_alter_table(table) as batch_op:
            batch_op.drop_column("image_bytes")
            batch_op.drop_column("images")
