"""The longest side of the images in the view at each entry."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    # NULL is "not known": the images are counted when they are needed.
    for table in ("branch", "entry"):
        op.add_column(table, sa.Column("image_side", sa.Integer(), nullable=True))


def downgrade() -> None:
    """Take it back."""
    for table in ("entry", "branch"):
        with op.batch_alter_table(table) as batch_op:
            batch_op.drop_column("image_side")
