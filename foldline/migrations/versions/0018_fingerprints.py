"""Fingerprints of what was said, by which the gateway recognises a conversation."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    op.create_table(
        "fingerprint",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("session_pk", sa.BigInteger(), nullable=False),
        sa.Column("branch", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "digest"),
    )
    op.create_index("fingerprint_of_session", "fingerprint", ["session_pk"])


def downgrade() -> None:
    """Take it back."""
    op.drop_table("fingerprint")
