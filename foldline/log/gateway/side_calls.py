"""Side calls, such as those for titles: sessions without tools that are deleted in time, unless they go on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from foldline.log.storage.rows import Session
from foldline.log.storage.store import Transaction
from foldline.log.use_cases import lifecycle


@contextmanager
def deleted_in_time(tx: Transaction, session: Session) -> Iterator[None]:
    """A block in which a side call stays one, whatever is changed in it: the conversation did not go on."""
    expires_at = None if session.tools else lifecycle.expiry(tx, session.pk)
    yield
    if expires_at is not None:
        lifecycle.expire(tx, session.pk, expires_at)
