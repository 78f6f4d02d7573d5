"""Exports all that a tenant has, as JSON Lines: each row of each table, read page by page in short transactions.

A line has the `type` of the thing, and its columns: times as RFC 3339, and what was said as the JSON that it is. The
lines of a session follow its own. The last line says how many there are, so that a file that ends early is noticed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from types import MappingProxyType
from typing import Any, Final

from sqlalchemy import ColumnElement, Table

from foldline.engine.wire import dumps, loads
from foldline.log.sealing.pages import pages
from foldline.log.storage import segments
from foldline.log.storage.store import Store
from foldline.log.storage.tables import (
    API_KEY,
    AUDIT,
    BRANCH,
    CHUNK_TEXT,
    DISMISSAL,
    ENTRY,
    IDEMPOTENCY,
    JOB,
    PIN,
    SESSION,
    SUMMARY,
)
from foldline.log.transfer.exporting import timestamp

VERSION: Final = 1
PIECE_BYTES: Final = 1 << 16
# Other tables have hashes and words of what these have, or nothing of a tenant.
OF_SESSIONS: Final[Mapping[str, Table]] = MappingProxyType(
    {
        "branch": BRANCH,
        "entry": ENTRY,
        "summary": SUMMARY,
        "job": JOB,
        "pin": PIN,
        "dismissal": DISMISSAL,
        "chunk_text": CHUNK_TEXT,
    }
)
OF_TENANTS: Final[Mapping[str, Table]] = MappingProxyType({"answer": IDEMPOTENCY, "key": API_KEY, "audit": AUDIT})
# Numbers of rows, the hash of a key, and when the service looks at something next.
LEFT_OUT: Final = frozenset(
    {"pk", "session_pk", "tenant", "digest", "lease", "lease_until", "not_before", "next_summary_at", "turn"}
    | {"deleted_at", "due_at", "quiet_since"}
)


def export_tenant(store: Store, tenant: str) -> Iterator[bytes]:
    """The lines of the export in pieces of about 64 KiB; what is said meanwhile may be in it or not.

    Raises:
        Unavailable: the database does not answer.
    """
    piece, lines = bytearray(), 0
    for line in _lines(store, tenant):
        lines += 1
        piece += dumps(line) + b"\n"
        if len(piece) >= PIECE_BYTES:
            yield bytes(piece)
            piece.clear()
    yield bytes(piece) + dumps({"type": "end", "lines": lines}) + b"\n"


def _lines(store: Store, tenant: str) -> Iterator[dict[str, Any]]:
    yield {"type": "tenant", "tenant": tenant, "exported_at": timestamp(store.now), "version": VERSION}
    is_its_own = (SESSION.c.tenant == tenant) & SESSION.c.deleted_at.is_(None)
    for session in _rows(store, SESSION, is_its_own):
        yield {"type": "session", **_columns(SESSION, session)}
        for kind, table in OF_SESSIONS.items():
            for row in _rows(store, table, table.c.session_pk == session.pk):
                at = {"id": segments.entry_id(row.branch, row.seq)} if table is ENTRY else {}
                yield {"type": kind, "session_id": session.id, **at, **_columns(table, row)}
    for kind, table in OF_TENANTS.items():
        for row in _rows(store, table, table.c.tenant == tenant):
            yield {"type": kind, **_columns(table, row)}


def _rows(store: Store, table: Table, condition: ColumnElement[bool]) -> Iterator[Any]:
    """The rows of a table, in the order of its primary key."""
    return chain.from_iterable(pages(store, table, [*table.columns], condition))


def _columns(table: Table, row: Any) -> dict[str, Any]:
    names: Iterable[str] = (column.name for column in table.c if column.name not in LEFT_OUT)
    return {name: _value(name, getattr(row, name)) for name in names}


def _value(name: str, value: Any) -> Any:
    if isinstance(value, bytes | memoryview):
        return _said(bytes(value))
    return timestamp(value) if name.endswith("_at") and value is not None else value


def _said(value: bytes) -> Any:
    """The JSON that a column has, or else its text: an export leaves nothing out because it looks odd."""
    try:
        return loads(value)
    except ValueError:
        return value.decode(errors="replace")
