"""Columns with the names the documentation uses. Processes of the version before have to stop for this one."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from foldline.migrations import CannotMigrate

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

# An append locks its branch first, then writes entries.
RENAMED = (
    ("branch", "owed_tokens", "pending_tokens"),
    ("branch", "gauged", "estimated"),
    ("entry", "owed_tokens", "pending_tokens"),
)
INDEXES = ("branch_owed", "branch_pending")
# Later versions call their connections by their version too.
CONNECTIONS_OF_0_1 = sa.text(
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'foldline'"
)


def upgrade() -> None:
    """Apply this revision.

    Raises:
        CannotMigrate: processes of 0.1 are connected; each of their requests would fail afterwards.
    """
    _refuse_beside_older_processes()
    for table, old, new in RENAMED:
        _rename(table, old, new)
    _rename_index("pending_tokens", *INDEXES)


def downgrade() -> None:
    """Take it back."""
    for table, old, new in RENAMED:
        _rename(table, new, old)
    _rename_index("owed_tokens", *reversed(INDEXES))


def _refuse_beside_older_processes() -> None:
    # SQLite does not say who has the file open.
    connections = 0 if _is_sqlite() else op.get_bind().execute(CONNECTIONS_OF_0_1).scalar()
    if connections:
        problem = (
            f"processes of Foldline 0.1 are connected to the database ({connections} connections), and this revision, "
            f"{revision}, renames columns that they use. Stop them, then migrate again"
        )
        raise CannotMigrate(problem)


def _rename(table: str, old: str, new: str) -> None:
    # Both databases know this statement; Alembic would copy the whole table on SQLite.
    op.execute(f"ALTER TABLE {table} RENAME COLUMN {old} TO {new}")


def _rename_index(column: str, old: str, new: str) -> None:
    if _is_sqlite():
        op.drop_index(old, "branch")
        op.create_index(new, "branch", [column], sqlite_where=sa.text(f"{column} > 0"))
    else:
        op.execute(f"ALTER INDEX {old} RENAME TO {new}")


def _is_sqlite() -> bool:
    return op.get_bind().dialect.name == "sqlite"
