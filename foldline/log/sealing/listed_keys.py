"""The database's list of the keys that values in it may be encrypted with, by their names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlalchemy import delete, insert, select

from foldline.log.storage.tables import SECRET

if TYPE_CHECKING:
    from foldline.log.storage.store import Transaction

PREFIX: Final = "sealing-key-"
_LISTED: Final = select(SECRET.c.name).where(SECRET.c.name.startswith(PREFIX, autoescape=True))


def missing_keys(tx: Transaction) -> list[str]:
    """The names of the keys that the database needs and the process does not have."""
    return sorted(listed_keys(tx) - (tx.cipher.names if tx.cipher else frozenset()))


def listed_keys(tx: Transaction) -> frozenset[str]:
    """The names of all keys on the list."""
    return frozenset(name.removeprefix(PREFIX) for (name,) in tx.execute(_LISTED))


def list_key(tx: Transaction, name: str) -> None:
    """Put a key on the list: from now on values may be encrypted with it.

    Raises:
        IntegrityError: it is there.
    """
    tx.execute(insert(SECRET).values(name=PREFIX + name, value=b""))


def strike_key(tx: Transaction, name: str) -> None:
    """Take a key from the list: no value is encrypted with it any more."""
    tx.execute(delete(SECRET).where(SECRET.c.name == PREFIX + name))
