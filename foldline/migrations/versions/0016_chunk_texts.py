"""Texts of chunks, kept until their summary is published."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    op.create_table(
        "chunk_text",
        sa.Column("session_pk", sa.BigInteger(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("text", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("session_pk", "key"),
    )


def downgrade() -> None:
    """Take it back."""
    op.drop_table("chunk_text")
