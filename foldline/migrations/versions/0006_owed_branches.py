"""An index to what is owed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

INDEX = "branch_owed"
IS_OWED = sa.text("owed_tokens > 0")


def upgrade() -> None:
    """Apply this revision, while others go on writing."""
    if op.get_bind().dialect.name == "sqlite":
        op.create_index(INDEX, "branch", ["owed_tokens"], sqlite_where=IS_OWED)
        return
    with op.get_context().autocommit_block():
        # It waits for all who write now, and nobody waits for it.
        op.execute("SET lock_timeout = 0")
        # What an attempt left behind that was ended would be taken for the index, and is none.
        op.drop_index(INDEX, "branch", if_exists=True, postgresql_concurrently=True)
        op.create_index(INDEX, "branch", ["owed_tokens"], postgresql_where=IS_OWED, postgresql_concurrently=True)


def downgrade() -> None:
    """Take it back."""
    op.drop_index(INDEX, "branch")
