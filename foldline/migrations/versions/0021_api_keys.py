"""API keys that are stored, the audit trail, and secrets that all processes share."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Apply this revision."""
    op.create_table(
        "api_key",
        sa.Column("number", NUMBER, nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("scopes", sa.String(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.Column("used_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("number"),
    )
    op.create_index("api_key_id_once", "api_key", ["id"], unique=True)
    op.create_index("api_key_of_tenant", "api_key", ["tenant", "number"])
    op.create_table(
        "audit",
        sa.Column("number", NUMBER, nullable=False),
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("session_id", sa.String(), nullable=True),
        sa.Column("object_id", sa.String(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("number"),
    )
    op.create_index("audit_of_tenant", "audit", ["tenant", "number"])
    op.create_index("audit_by_age", "audit", ["created_at"])
    op.create_table(
        "secret",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("value", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )


def downgrade() -> None:
    """Take it back."""
    op.drop_table("secret")
    op.drop_table("audit")
    op.drop_table("api_key")
