"""The index of what is said, which recall searches."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

UNINDEXED = "entry_unindexed"
IS_UNINDEXED = sa.text("passages IS NULL")
COLUMNS = ["session_pk", "branch", "seq"]
# Neither positions nor sizes are needed: a row is a passage, and terms are ranked elsewhere.
ON_SQLITE = """
CREATE VIRTUAL TABLE passage USING fts5(
  session_pk UNINDEXED, branch UNINDEXED, seq UNINDEXED, number UNINDEXED, kinds UNINDEXED, terms,
  tokenize = "ascii tokenchars '_'", detail = none, columnsize = 0
)
"""


def upgrade() -> None:
    """Apply this revision, while others go on writing."""
    # NULL is "not indexed": rows of earlier entries are written at the first recall that misses them.
    if op.get_bind().dialect.name == "sqlite":
        op.add_column("entry", sa.Column("passages", sa.Integer(), nullable=True))
        op.execute(ON_SQLITE)
        op.create_index(UNINDEXED, "entry", COLUMNS, sqlite_where=IS_UNINDEXED)
        return
    # The index at the end is made outside the transaction. An attempt that was ended there has left all this behind.
    op.execute("ALTER TABLE entry ADD COLUMN IF NOT EXISTS passages integer")
    op.execute(
        "CREATE TABLE IF NOT EXISTS passage ("
        "session_pk bigint NOT NULL, branch integer NOT NULL, seq integer NOT NULL, "
        "number integer NOT NULL, kinds integer NOT NULL, terms tsvector NOT NULL, "
        "PRIMARY KEY (session_pk, branch, seq, number))"
    )
    # New rows are collected and sorted in together. Few at a time, as one append pays for it; the limit is in kB.
    op.execute(
        "CREATE INDEX IF NOT EXISTS passage_terms ON passage USING gin (terms) WITH (gin_pending_list_limit = 512)"
    )
    with op.get_context().autocommit_block():
        # It waits for all who write now, and nobody waits for it.
        op.execute("SET lock_timeout = 0")
        # What an attempt left behind that was ended would be taken for the index, and is none.
        op.drop_index(UNINDEXED, "entry", if_exists=True, postgresql_concurrently=True)
        op.create_index(UNINDEXED, "entry", COLUMNS, postgresql_where=IS_UNINDEXED, postgresql_concurrently=True)


def downgrade() -> None:
    """Take it back."""
    op.execute("DROP TABLE passage")
    op.drop_index(UNINDEXED, "entry")
    with op.batch_alter_table("entry") as batch_op:
        batch_op.drop_column("passages")
