"""Stored answers have the session that they are about, so that those of a deleted one are found at once."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    # NULL is an answer of the version before, which goes on adding them; none is older than a day.
    op.add_column("idempotency", sa.Column("session_id", sa.String(), nullable=True))
    op.create_index("idempotency_by_session", "idempotency", ["tenant", "session_id"])


def downgrade() -> None:
    """Take it back."""
    op.drop_index("idempotency_by_session", "idempotency")
    op.drop_column("idempotency", "session_id")
