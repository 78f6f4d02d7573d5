"""How long sessions are kept: their own number of days, and what finds those that are due."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

OF_SERVICE = sa.text("deleted_at IS NULL AND retention_days IS NULL")
OF_THEIR_OWN = sa.text("due_at IS NOT NULL")


def upgrade() -> None:
    """Apply this revision."""
    # 0 is "not looked at yet": so are the sessions of the version before, which goes on adding them.
    op.add_column("session", sa.Column("quiet_since", sa.BigInteger(), nullable=False, server_default="0"))
    op.add_column("session", sa.Column("retention_days", sa.Integer(), nullable=True))
    op.add_column("session", sa.Column("due_at", sa.BigInteger(), nullable=True))
    columns = ["tenant", "quiet_since"]
    op.create_index("session_quiet", "session", columns, sqlite_where=OF_SERVICE, postgresql_where=OF_SERVICE)
    op.create_index("session_due", "session", ["due_at"], sqlite_where=OF_THEIR_OWN, postgresql_where=OF_THEIR_OWN)


def downgrade() -> None:
    """Take it back."""
    op.drop_index("session_due", "session")
    op.drop_index("session_quiet", "session")
    for column in ("due_at", "retention_days", "quiet_since"):
        op.drop_column("session", column)
