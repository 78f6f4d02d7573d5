"""When a session is deleted that does not go on."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    op.add_column("session", sa.Column("expires_at", sa.BigInteger()))
    where = sa.text("expires_at IS NOT NULL")
    op.create_index("session_expires", "session", ["expires_at"], sqlite_where=where, postgresql_where=where)


def downgrade() -> None:
    """Take it back."""
    op.drop_index("session_expires", "session")
    op.drop_column("session", "expires_at")
