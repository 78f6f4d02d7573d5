"""How large a session may become. Its size is counted now and then, so that an append costs the same at any size."""

from __future__ import annotations

from typing import Final

from sqlalchemy import bindparam, func, select

from foldline.log.errors import LimitExceeded
from foldline.log.storage.rows import Path
from foldline.log.storage.store import Transaction
from foldline.log.storage.tables import ENTRY

# On its way to a limit, a session is counted so many times on average.
COUNTS: Final = 16
_SIZE: Final = select(func.count(), func.coalesce(func.sum(func.length(ENTRY.c.body)), 0)).where(
    ENTRY.c.session_pk == bindparam("pk")
)


def check_size(tx: Transaction, path: Path, entries: int, size: int) -> None:
    """Check that a session has room for so many more entries, with bodies of `size` bytes together.

    By chance, more likely for a larger part of a limit: a count reads the whole session. One that reaches from nothing
    to a sixteenth of a limit or further is always checked.

    Raises:
        LimitExceeded: it has not.
    """
    limits = tx.limits
    part = max(entries / limits.session_entries, size / limits.session_bytes)
    if tx.chance() + part * COUNTS < 1:
        return
    stored_entries, stored_bytes = tx.execute(_SIZE, {"pk": path.session.pk}).one()
    if stored_entries + entries > limits.session_entries:
        what = f"the session would have {stored_entries + entries} entries"
        raise LimitExceeded(limits.session_entries, "max_session_entries", what)
    if stored_bytes + size > limits.session_bytes:
        what = f"the entries of the session would have {stored_bytes + size} bytes"
        raise LimitExceeded(limits.session_bytes, "max_session_bytes", what)
