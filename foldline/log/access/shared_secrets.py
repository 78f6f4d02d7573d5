"""Random secrets that all processes on a database share; each is made when it is first needed."""

from __future__ import annotations

import secrets
from typing import Final

from sqlalchemy import bindparam, insert, select
from sqlalchemy.exc import IntegrityError

from foldline.log.storage.store import Store, Transaction
from foldline.log.storage.tables import SECRET

SECRET_BYTES: Final = 32
_VALUE: Final = select(SECRET.c.value).where(SECRET.c.name == bindparam("name"))


def shared_secret(store: Store, name: str) -> bytes:
    """The secret of this name.

    Raises:
        Unavailable: the database does not answer.
    """
    with store.read() as tx:
        found = secret_in(tx, name)
    return found or _made(store, name)


def _made(store: Store, name: str) -> bytes:
    value = secrets.token_bytes(SECRET_BYTES)
    try:
        with store.write() as tx:
            tx.execute(insert(SECRET).values(name=name, value=value))
    except IntegrityError:
        # Another process was first.
        return shared_secret(store, name)
    return value


def secret_in(tx: Transaction, name: str) -> bytes | None:
    """The secret of this name; None if nobody has needed it yet."""
    found: bytes | None = tx.execute(_VALUE, {"name": name}).scalar()
    return found
