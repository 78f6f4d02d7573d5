"""The tables, as SQLModel classes. Each row has its tenant. Times are milliseconds since the epoch, UTC.

Conversations are JSON in columns of bytes, because text columns refuse NUL (PostgreSQL) and lone surrogates.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Final

from sqlalchemy import BigInteger, Column, ColumnElement, Index, Integer, Table, false, or_, text, true
from sqlmodel import Field, SQLModel

from foldline.log.job_state import ACTIVE
from foldline.log.sealing.sealed_column import Sealed

IS_LIVE: Final = text("deleted_at IS NULL")
IS_DELETED: Final = text("deleted_at IS NOT NULL")
IS_PASSING: Final = text("expires_at IS NOT NULL")
IS_HELD_BACK: Final = text("next_summary_at > 0")
IS_PENDING: Final = text("pending_tokens > 0")
IS_OF_SERVICE: Final = text("deleted_at IS NULL AND retention_days IS NULL")
IS_OF_ITS_OWN: Final = text("due_at IS NOT NULL")
IS_UNINDEXED: Final = text("passages IS NULL")
# SQLite numbers rows only in a column of exactly this type, which has 64 bits there.
NUMBER: Final = BigInteger().with_variant(Integer, "sqlite")


class SessionRow(SQLModel, table=True):
    """One conversation. A deleted one keeps its row until the sweeper has removed the rest; its id is free at once.

    On SQLite, `deleted_at` is negative once only its terms are left in the index: the time since then, negated.

    The sweeper deletes it at `expires_at`, unless it goes on before. It got no message from `quiet_since` until it was
    last looked at; 0 is before that. With `retention_days` of its own, it is looked at next at `due_at`. `origin` has
    the header and the order of the entries of the file it was imported from.
    """

    __tablename__: ClassVar[Any] = "session"
    __table_args__ = (
        Index("session_id_once", "tenant", "id", unique=True, sqlite_where=IS_LIVE, postgresql_where=IS_LIVE),
        Index("session_deleted", "deleted_at", sqlite_where=IS_DELETED, postgresql_where=IS_DELETED),
        Index("session_expires", "expires_at", sqlite_where=IS_PASSING, postgresql_where=IS_PASSING),
        Index("session_quiet", "tenant", "quiet_since", sqlite_where=IS_OF_SERVICE, postgresql_where=IS_OF_SERVICE),
        Index("session_due", "due_at", sqlite_where=IS_OF_ITS_OWN, postgresql_where=IS_OF_ITS_OWN),
    )

    pk: int | None = Field(default=None, primary_key=True, sa_type=NUMBER)
    tenant: str
    id: str
    model: str
    context_window: int | None = None
    max_output_tokens: int | None = None
    auto_compact: bool = True
    head: int = 0
    branches: int = 1
    version: int = 1
    multiplier: int = 1000
    fixed_tokens: int = 0
    tools_tokens: int = 0
    pins_tokens: int = 0
    created_at: int = Field(sa_type=BigInteger)
    deleted_at: int | None = Field(default=None, sa_type=BigInteger)
    expires_at: int | None = Field(default=None, sa_type=BigInteger)
    quiet_since: int = Field(default=0, sa_type=BigInteger, sa_column_kwargs={"server_default": "0"})
    retention_days: int | None = None
    due_at: int | None = Field(default=None, sa_type=BigInteger)
    policy: bytes = Field(sa_type=Sealed)
    system: bytes | None = Field(default=None, sa_type=Sealed)
    tools: bytes = Field(sa_type=Sealed)
    origin: bytes | None = Field(default=None, sa_type=Sealed)


class BranchRow(SQLModel, table=True):
    """A line of entries, with the state of its leaf (see `EntryRow`).

    `left_seq` is the seq of the parent's entry where it begins. `failures` counts failed summaries since the last
    published one. `estimated` are the history's tokens by the policy's counter, where that is an estimate and known.
    `reported` is a provider's count of the whole view up to `reported_seq`, None once the view was edited. `images` and
    `image_bytes` are the images in view, `image_side` the longest side of any of them in pixels; None if they are not
    known. `not_compacted` is the last trigger run, as
    JSON, if it led to nothing.
    """

    __tablename__: ClassVar[Any] = "branch"
    __table_args__ = (
        Index("branch_held_back", "next_summary_at", sqlite_where=IS_HELD_BACK, postgresql_where=IS_HELD_BACK),
        Index("branch_pending", "pending_tokens", sqlite_where=IS_PENDING, postgresql_where=IS_PENDING),
    )

    session_pk: int = Field(primary_key=True, sa_type=BigInteger)
    branch: int = Field(primary_key=True)
    tenant: str
    parent: int | None = None
    left_seq: int = 0
    leaf_seq: int = 0
    last_message_seq: int = 0
    messages: int = 0
    kept: int = Field(default=0, sa_type=BigInteger)
    raw: int = Field(default=0, sa_type=BigInteger)
    pending_tokens: int = Field(default=0, sa_type=BigInteger)
    edits_branch: int | None = None
    edits_seq: int = 0
    tail_unit: int = 0
    next_summary_at: int = Field(default=0, sa_type=BigInteger)
    failures: int = Field(default=0, sa_column_kwargs={"server_default": "0"})
    estimated: int | None = Field(default=None, sa_type=BigInteger)
    reported: int | None = Field(default=None, sa_type=BigInteger)
    reported_seq: int = Field(default=0, sa_column_kwargs={"server_default": "0"})
    images: int | None = None
    image_bytes: int | None = Field(default=None, sa_type=BigInteger)
    image_side: int | None = None
    open_calls: bytes | None = Field(default=None, sa_type=Sealed)
    not_compacted: bytes | None = Field(default=None, sa_type=Sealed)


class EntryRow(SQLModel, table=True):
    """One immutable entry: a message, compaction, undo, redo, branch summary, or an imported one that no view shows.

    `kept` and `raw` are the view's tokens after it, with and without edits. `edits_branch` and `edits_seq` name the
    newest compaction, undo or redo on the path; that entry's `live` column has the edits in force after it. `tail_unit`
    and `open_calls` are the batch that a result may still join. `images`, `image_bytes` and `image_side` are those of a
    branch. `passages` is how many it has for recall to search, `ledger` has the items of a message; both are None until
    it is indexed (see `storage.passages`). Large columns come last, so that reading facts skips them.
    """

    __tablename__: ClassVar[Any] = "entry"
    __table_args__ = (
        Index(
            "entry_edits",
            "session_pk",
            "branch",
            "seq",
            sqlite_where=text("kind <> 'message'"),
            postgresql_where=text("kind <> 'message'"),
        ),
        Index(
            "entry_unindexed",
            "session_pk",
            "branch",
            "seq",
            sqlite_where=IS_UNINDEXED,
            postgresql_where=IS_UNINDEXED,
        ),
    )

    session_pk: int = Field(primary_key=True, sa_type=BigInteger)
    branch: int = Field(primary_key=True)
    seq: int = Field(primary_key=True)
    tenant: str
    kind: str
    role: str = ""
    tokens: int = 0
    unit: int = 0
    is_late: bool = False
    is_joined: bool = False
    format: str = ""
    messages: int = 0
    last_message_seq: int = 0
    kept: int = Field(default=0, sa_type=BigInteger)
    raw: int = Field(default=0, sa_type=BigInteger)
    pending_tokens: int = Field(default=0, sa_type=BigInteger)
    edits_branch: int | None = None
    edits_seq: int = 0
    tail_unit: int = 0
    images: int | None = None
    image_bytes: int | None = Field(default=None, sa_type=BigInteger)
    image_side: int | None = None
    passages: int | None = None
    version: int
    created_at: int = Field(sa_type=BigInteger)
    open_calls: bytes | None = Field(default=None, sa_type=Sealed)
    facts: bytes | None = Field(default=None, sa_type=Sealed)
    ledger: bytes | None = Field(default=None, sa_type=Sealed)
    body: bytes = Field(sa_type=Sealed)
    live: bytes | None = Field(default=None, sa_type=Sealed)


class SummaryRow(SQLModel, table=True):
    """A kept summary; `key` is a hash of the range, the replaced summaries and the parameters it was made of.

    `details` has the files of all it covers, and what a hook added. `appendix` is shown below the text in views.
    `block` is shown in its place to the model whose provider wrote it. `ledger` has the items of all it
    covers, each with its place, `provenance` those of its lines, if it was made of the ledger.
    """

    __tablename__: ClassVar[Any] = "summary"
    __table_args__ = (Index("summary_key_once", "session_pk", "key", unique=True),)

    id: str = Field(primary_key=True)
    session_pk: int = Field(sa_type=BigInteger)
    tenant: str
    key: str
    tokens: int
    original_tokens: int
    summarizer: str
    model: str | None = None
    is_degraded: bool = False
    created_at: int = Field(sa_type=BigInteger)
    usage: bytes = Field(sa_type=Sealed)
    text: bytes = Field(sa_type=Sealed)
    details: bytes | None = Field(default=None, sa_type=Sealed)
    appendix: bytes | None = Field(default=None, sa_type=Sealed)
    block: bytes | None = Field(default=None, sa_type=Sealed)
    ledger: bytes | None = Field(default=None, sa_type=Sealed)
    provenance: bytes | None = Field(default=None, sa_type=Sealed)


class JobRow(SQLModel, table=True):
    """One queued summary request and its state; at most one running and one waiting per branch, kind and subject.

    The next is the one with the least `turn`, first those that cannot wait, as their session is close to overflow.
    `subject` is the id of the last entry that was left, for a branch summary. `traceparent` is the trace of the first
    request for it. `waits_for` is the summarizer that it waits for, one that is held back after failures.
    """

    __tablename__: ClassVar[Any] = "job"
    __table_args__ = (
        Index("job_id_once", "id", unique=True),
        Index("job_of_session", "session_pk", "number"),
        Index("job_by_turn", "state", "queue", "turn", "can_wait", "number"),
        Index("job_of_tenant", "state", "queue", "tenant", "can_wait", "turn"),
        *(
            Index(
                f"job_{state}_once",
                "session_pk",
                "branch",
                "kind",
                "subject",
                unique=True,
                sqlite_where=text(f"state = '{state}'"),
                postgresql_where=text(f"state = '{state}'"),
            )
            for state in ACTIVE
        ),
    )

    number: int | None = Field(default=None, primary_key=True, sa_type=NUMBER)
    id: str
    session_pk: int = Field(sa_type=BigInteger)
    tenant: str
    branch: int
    kind: str
    subject: str = Field(default="", sa_column_kwargs={"server_default": ""})
    state: str
    queue: str
    turn: int = Field(default=0, sa_type=BigInteger, sa_column_kwargs={"server_default": "0"})
    can_wait: bool = Field(default=True, sa_column_kwargs={"server_default": true()})
    is_asked: bool = False
    attempts: int = 0
    progress: float = 0.0
    error: str | None = None
    lease: str | None = None
    lease_until: int = Field(default=0, sa_type=BigInteger)
    not_before: int = Field(default=0, sa_type=BigInteger)
    waits_for: str | None = None
    superseded_by: str | None = None
    created_at: int = Field(sa_type=BigInteger)
    ended_at: int | None = Field(default=None, sa_type=BigInteger)
    traceparent: str | None = None
    parameters: bytes = Field(sa_type=Sealed)
    claim: bytes | None = Field(default=None, sa_type=Sealed)
    result: bytes | None = Field(default=None, sa_type=Sealed)


class PinRow(SQLModel, table=True):
    """A text that is in every view of a session, verbatim."""

    __tablename__: ClassVar[Any] = "pin"
    __table_args__ = (Index("pin_of_session", "session_pk", "number"),)

    number: int | None = Field(default=None, primary_key=True, sa_type=NUMBER)
    id: str = Field(unique=True)
    session_pk: int = Field(sa_type=BigInteger)
    tenant: str
    tokens: int
    created_at: int = Field(sa_type=BigInteger)
    text: bytes = Field(sa_type=Sealed)


class DismissalRow(SQLModel, table=True):
    """A text of a session's ledger that the user does not want in later summaries; `key` is a digest of it."""

    __tablename__: ClassVar[Any] = "dismissal"

    session_pk: int = Field(primary_key=True, sa_type=BigInteger)
    key: str = Field(primary_key=True)
    tenant: str
    created_at: int = Field(sa_type=BigInteger)


class ChunkTextRow(SQLModel, table=True):
    """What a model wrote of a part of a session, until the summary that it is for is published."""

    __tablename__: ClassVar[Any] = "chunk_text"

    session_pk: int = Field(primary_key=True, sa_type=BigInteger)
    key: str = Field(primary_key=True)
    created_at: int = Field(sa_type=BigInteger)
    text: bytes = Field(sa_type=Sealed)


class BreakerRow(SQLModel, table=True):
    """A summarizer that failed last, and when it is tried again once it has failed too often in a row."""

    __tablename__: ClassVar[Any] = "breaker"

    name: str = Field(primary_key=True)
    failures: int
    next_try_at: int = Field(default=0, sa_type=BigInteger)


class FingerprintRow(SQLModel, table=True):
    """The entry that ends a part of a conversation; `digest` is of all that was said up to it."""

    __tablename__: ClassVar[Any] = "fingerprint"
    __table_args__ = (Index("fingerprint_of_session", "session_pk"),)

    tenant: str = Field(primary_key=True)
    digest: bytes = Field(primary_key=True)
    session_pk: int = Field(sa_type=BigInteger)
    branch: int
    seq: int


class IdempotencyRow(SQLModel, table=True):
    """The response to a request with an `Idempotency-Key`, written in the transaction of the request's effect.

    `session_id` is the session that was created or changed, "" where that is none, None if an older version wrote it.
    """

    __tablename__: ClassVar[Any] = "idempotency"
    __table_args__ = (
        Index("idempotency_by_age", "created_at"),
        Index("idempotency_by_session", "tenant", "session_id"),
    )

    tenant: str = Field(primary_key=True)
    route: str = Field(primary_key=True)
    key: str = Field(primary_key=True)
    request_hash: str
    status: int
    created_at: int = Field(sa_type=BigInteger)
    headers: bytes
    body: bytes = Field(sa_type=Sealed)
    session_id: str | None = None


class ApiKeyRow(SQLModel, table=True):
    """A key of a tenant's callers. `digest` is a hash of it, it begins with `id`, and `scopes` are parted by spaces.

    `used_at` is when it was last used, to an hour.
    """

    __tablename__: ClassVar[Any] = "api_key"
    __table_args__ = (
        Index("api_key_id_once", "id", unique=True),
        Index("api_key_of_tenant", "tenant", "number"),
    )

    number: int | None = Field(default=None, primary_key=True, sa_type=NUMBER)
    id: str
    tenant: str
    name: str
    scopes: str
    digest: bytes
    created_at: int = Field(sa_type=BigInteger)
    expires_at: int | None = Field(default=None, sa_type=BigInteger)
    revoked_at: int | None = Field(default=None, sa_type=BigInteger)
    used_at: int | None = Field(default=None, sa_type=BigInteger)


class AuditRow(SQLModel, table=True):
    """An action of a caller, written in the transaction of its effect. Nothing of what was said is in it.

    `actor` is the id of a key, or a name for callers without one. `object_id` is what the action was on, if that has an
    id of its own: a compaction, pin, entry, job or key.
    """

    __tablename__: ClassVar[Any] = "audit"
    __table_args__ = (Index("audit_of_tenant", "tenant", "number"), Index("audit_by_age", "created_at"))

    number: int | None = Field(default=None, primary_key=True, sa_type=NUMBER)
    tenant: str
    actor: str
    action: str
    session_id: str | None = None
    object_id: str | None = None
    created_at: int = Field(sa_type=BigInteger)


class SecretRow(SQLModel, table=True):
    """A random secret that all processes on the database share."""

    __tablename__: ClassVar[Any] = "secret"

    name: str = Field(primary_key=True)
    value: bytes = Field(sa_type=Sealed)


def _table(name: str) -> Table:
    return SQLModel.metadata.tables[name]


SESSION: Final = _table("session")
BRANCH: Final = _table("branch")
ENTRY: Final = _table("entry")
SUMMARY: Final = _table("summary")
JOB: Final = _table("job")
PIN: Final = _table("pin")
DISMISSAL: Final = _table("dismissal")
CHUNK_TEXT: Final = _table("chunk_text")
BREAKER: Final = _table("breaker")
FINGERPRINT: Final = _table("fingerprint")
IDEMPOTENCY: Final = _table("idempotency")
API_KEY: Final = _table("api_key")
AUDIT: Final = _table("audit")
SECRET: Final = _table("secret")


def one_of(column: Column[Any], values: Iterable[str]) -> ColumnElement[bool]:
    """The condition that a column has one of these values; SQLAlchemy would compile an IN anew at each execution."""
    return or_(false(), *(column == value for value in values))
