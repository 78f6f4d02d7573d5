"""Columns with the names the documentation uses. Processes of the version before have to stop for this one."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

RENAMED = (
    ("branch", "owed_tokens", "pending_tokens"),
    ("entry", "owed_tokens", "pending_tokens"),
    ("branch", "gauged", "estimated"),
)
INDEXES = ("branch_owed", "branch_pending")


def upgrade() -> None:
    """Apply this revision."""
    for table, old, new in RENAMED:
        _rename(table, old, new)
    _rename_index("pending_tokens", *INDEXES)


def downgrade() -> None:
    """Take it back."""
    for table, old, new in RENAMED:
        _rename(table, new, old)
    _rename_index("owed_tokens", *reversed(INDEXES))


def _rename(table: str, old: str, new: str) -> None:
    # Both databases know this statement; Alembic would copy the whole table on SQLite.
    op.execute(f"ALTER TABLE {table} RENAME COLUMN {old} TO {new}")


def _rename_index(column: str, old: str, new: str) -> None:
    if op.get_bind().dialect.name == "sqlite":
        op.drop_index(old, "branch")
        op.create_index(new, "branch", [column], sqlite_where=sa.text(f"{column} > 0"))
    else:
        op.execute(f"ALTER INDEX {old} RENAME TO {new}")
