"""First tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    op.create_table(
        "branch",
        sa.Column("session_pk", sa.Integer(), nullable=False),
        sa.Column("branch", sa.Integer(), nullable=False),
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("parent", sa.Integer(), nullable=True),
        sa.Column("left_seq", sa.Integer(), nullable=False),
        sa.Column("leaf_seq", sa.Integer(), nullable=False),
        sa.Column("last_message_seq", sa.Integer(), nullable=False),
        sa.Column("messages", sa.Integer(), nullable=False),
        sa.Column("kept", sa.Integer(), nullable=False),
        sa.Column("raw", sa.Integer(), nullable=False),
        sa.Column("owed_tokens", sa.Integer(), nullable=False),
        sa.Column("edits_branch", sa.Integer(), nullable=True),
        sa.Column("edits_seq", sa.Integer(), nullable=False),
        sa.Column("tail_unit", sa.Integer(), nullable=False),
        sa.Column("next_summary_at", sa.BigInteger(), nullable=False),
        sa.Column("open_calls", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("session_pk", "branch"),
    )
    with op.batch_alter_table("branch", schema=None) as batch_op:
        batch_op.create_index(
            "branch_held_back",
            ["next_summary_at"],
            unique=False,
            sqlite_where=sa.text("next_summary_at > 0"),
            postgresql_where=sa.text("next_summary_at > 0"),
        )

    op.create_table(
        "entry",
        sa.Column("session_pk", sa.Integer(), nullable=False),
        sa.Column("branch", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("unit", sa.Integer(), nullable=False),
        sa.Column("is_late", sa.Boolean(), nullable=False),
        sa.Column("is_joined", sa.Boolean(), nullable=False),
        sa.Column("format", sa.String(), nullable=False),
        sa.Column("messages", sa.Integer(), nullable=False),
        sa.Column("last_message_seq", sa.Integer(), nullable=False),
        sa.Column("kept", sa.Integer(), nullable=False),
        sa.Column("raw", sa.Integer(), nullable=False),
        sa.Column("owed_tokens", sa.Integer(), nullable=False),
        sa.Column("edits_branch", sa.Integer(), nullable=True),
        sa.Column("edits_seq", sa.Integer(), nullable=False),
        sa.Column("tail_unit", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("open_calls", sa.LargeBinary(), nullable=True),
        sa.Column("facts", sa.LargeBinary(), nullable=True),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("live", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("session_pk", "branch", "seq"),
    )
    with op.batch_alter_table("entry", schema=None) as batch_op:
        batch_op.create_index(
            "entry_edits",
            ["session_pk", "branch", "seq"],
            unique=False,
            sqlite_where=sa.text("kind <> 'message'"),
            postgresql_where=sa.text("kind <> 'message'"),
        )

    op.create_table(
        "idempotency",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("route", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("request_hash", sa.String(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("headers", sa.LargeBinary(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "route", "key"),
    )
    with op.batch_alter_table("idempotency", schema=None) as batch_op:
        batch_op.create_index("idempotency_by_age", ["created_at"], unique=False)

    op.create_table(
        "job",
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("session_pk", sa.Integer(), nullable=False),
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("branch", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("queue", sa.String(), nullable=False),
        sa.Column("is_asked", sa.Boolean(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("progress", sa.Float(), nullable=False),
        sa.Column("error", sa.String(), nullable=True),
        sa.Column("lease", sa.String(), nullable=True),
        sa.Column("lease_until", sa.BigInteger(), nullable=False),
        sa.Column("not_before", sa.BigInteger(), nullable=False),
        sa.Column("superseded_by", sa.String(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.Column("parameters", sa.LargeBinary(), nullable=False),
        sa.Column("claim", sa.LargeBinary(), nullable=True),
        sa.Column("result", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("number"),
    )
    with op.batch_alter_table("job", schema=None) as batch_op:
        batch_op.create_index("job_by_queue", ["state", "queue", "number"], unique=False)
        batch_op.create_index("job_id_once", ["id"], unique=True)
        batch_op.create_index("job_of_session", ["session_pk", "number"], unique=False)
        batch_op.create_index(
            "job_queued_once",
            ["session_pk", "branch", "kind"],
            unique=True,
            sqlite_where=sa.text("state = 'queued'"),
            postgresql_where=sa.text("state = 'queued'"),
        )
        batch_op.create_index(
            "job_running_once",
            ["session_pk", "branch", "kind"],
            unique=True,
            sqlite_where=sa.text("state = 'running'"),
            postgresql_where=sa.text("state = 'running'"),
        )

    op.create_table(
        "pin",
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("session_pk", sa.Integer(), nullable=False),
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("text", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("number"),
        sa.UniqueConstraint("id"),
    )
    with op.batch_alter_table("pin", schema=None) as batch_op:
        batch_op.create_index("pin_of_session", ["session_pk", "number"], unique=False)

    op.create_table(
        "session",
        sa.Column("pk", sa.Integer(), nullable=False),
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("context_window", sa.Integer(), nullable=True),
        sa.Column("max_output_tokens", sa.Integer(), nullable=True),
        sa.Column("auto_compact", sa.Boolean(), nullable=False),
        sa.Column("head", sa.Integer(), nullable=False),
        sa.Column("branches", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("multiplier", sa.Integer(), nullable=False),
        sa.Column("fixed_tokens", sa.Integer(), nullable=False),
        sa.Column("tools_tokens", sa.Integer(), nullable=False),
        sa.Column("pins_tokens", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("deleted_at", sa.BigInteger(), nullable=True),
        sa.Column("policy", sa.LargeBinary(), nullable=False),
        sa.Column("system", sa.LargeBinary(), nullable=True),
        sa.Column("tools", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("pk"),
    )
    with op.batch_alter_table("session", schema=None) as batch_op:
        batch_op.create_index(
            "session_deleted",
            ["deleted_at"],
            unique=False,
            sqlite_where=sa.text("deleted_at IS NOT NULL"),
            postgresql_where=sa.text("deleted_at IS NOT NULL"),
        )
        batch_op.create_index(
            "session_id_once",
            ["tenant", "id"],
            unique=True,
            sqlite_where=sa.text("deleted_at IS NULL"),
            postgresql_where=sa.text("deleted_at IS NULL"),
        )

    op.create_table(
        "summary",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("session_pk", sa.Integer(), nullable=False),
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("original_tokens", sa.Integer(), nullable=False),
        sa.Column("summarizer", sa.String(), nullable=False),
        sa.Column("model", sa.String(), nullable=True),
        sa.Column("is_degraded", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("usage", sa.LargeBinary(), nullable=False),
        sa.Column("text", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("summary", schema=None) as batch_op:
        batch_op.create_index("summary_key_once", ["session_pk", "key"], unique=True)


def downgrade() -> None:
    """Take it back."""
    with op.batch_alter_table("summary", schema=None) as batch_op:
        batch_op.drop_index("summary_key_once")

    op.drop_table("summary")
    with op.batch_alter_table("session", schema=None) as batch_op:
        batch_op.drop_index(
            "session_id_once",
            sqlite_where=sa.text("deleted_at IS NULL"),
            postgresql_where=sa.text("deleted_at IS NULL"),
        )
        batch_op.drop_index(
            "session_deleted",
            sqlite_where=sa.text("deleted_at IS NOT NULL"),
            postgresql_where=sa.text("deleted_at IS NOT NULL"),
        )

    op.drop_table("session")
    with op.batch_alter_table("pin", schema=None) as batch_op:
        batch_op.drop_index("pin_of_session")

    op.drop_table("pin")
    with op.batch_alter_table("job", schema=None) as batch_op:
        batch_op.drop_index(
            "job_running_once", sqlite_where=sa.text("state = 'running'"), postgresql_where=sa.text("state = 'running'")
        )
        batch_op.drop_index(
            "job_queued_once", sqlite_where=sa.text("state = 'queued'"), postgresql_where=sa.text("state = 'queued'")
        )
        batch_op.drop_index("job_of_session")
        batch_op.drop_index("job_id_once")
        batch_op.drop_index("job_by_queue")

    op.drop_table("job")
    with op.batch_alter_table("idempotency", schema=None) as batch_op:
        batch_op.drop_index("idempotency_by_age")

    op.drop_table("idempotency")
    with op.batch_alter_table("entry", schema=None) as batch_op:
        batch_op.drop_index(
            "entry_edits", sqlite_where=sa.text("kind <> 'message'"), postgresql_where=sa.text("kind <> 'message'")
        )

    op.drop_table("entry")
    with op.batch_alter_table("branch", schema=None) as batch_op:
        batch_op.drop_index(
            "branch_held_back",
            sqlite_where=sa.text("next_summary_at > 0"),
            postgresql_where=sa.text("next_summary_at > 0"),
        )

    op.drop_table("branch")
