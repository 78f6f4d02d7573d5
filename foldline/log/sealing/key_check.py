"""Whether a process has the keys of what its database holds. The database lists the names of the keys in use."""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import Final

from sqlalchemy import LargeBinary, delete, insert, select, type_coerce
from sqlalchemy.exc import IntegrityError

from foldline.log.errors import SealingKeyMissing
from foldline.log.storage.store import Store, Transaction
from foldline.log.storage.tables import SECRET, SESSION

logger = logging.getLogger(__name__)

PREFIX: Final = "sealing-key-"
_LISTED: Final = select(SECRET.c.name).where(SECRET.c.name.startswith(PREFIX, autoescape=True))
# `encrypt_all` comes to the oldest session last.
_LAST: Final = select(type_coerce(SESSION.c.tools, LargeBinary)).order_by(SESSION.c.pk).limit(1)


def check_keys(store: Store) -> None:
    """Check that the process has the keys that the database needs, and list the one that encrypts from now on.

    Raises:
        SealingKeyMissing: it has values of a key that the process does not have.
    """
    cipher = store.cipher
    with store.read() as tx:
        missing, listed, last = missing_keys(tx), listed_keys(tx), tx.execute(_LAST).scalar()
    if missing:
        raise SealingKeyMissing(missing[0])
    if cipher is None:
        return
    if cipher.first not in listed:
        # Another process may be first.
        with suppress(IntegrityError), store.write() as tx:
            tx.execute(insert(SECRET).values(name=PREFIX + cipher.first, value=b""))
    if last is not None and not cipher.is_newest(bytes(last)):
        logger.warning("older values are not encrypted with the first key yet: run `foldline encrypt`")


def missing_keys(tx: Transaction) -> list[str]:
    """The names of the keys that the database needs and the process does not have."""
    return sorted(listed_keys(tx) - (tx.cipher.names if tx.cipher else frozenset()))


def listed_keys(tx: Transaction) -> frozenset[str]:
    """The names of the keys that values in the database may be encrypted with."""
    return frozenset(name.removeprefix(PREFIX) for (name,) in tx.execute(_LISTED))


def strike_key(tx: Transaction, name: str) -> None:
    """Take a key from the list: no value is encrypted with it any more."""
    tx.execute(delete(SECRET).where(SECRET.c.name == PREFIX + name))
