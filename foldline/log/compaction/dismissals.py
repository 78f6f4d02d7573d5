"""What the user has dismissed of a session's ledger: texts that no later summary chooses from."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from typing import Final, NamedTuple

from sqlalchemy import bindparam, delete, insert, select

from foldline.engine.ledger.items import ItemAt
from foldline.log.storage.rows import Session
from foldline.log.storage.store import Transaction
from foldline.log.storage.tables import DISMISSAL

_KEYS: Final = select(DISMISSAL.c.key).where(DISMISSAL.c.session_pk == bindparam("pk"))
_REMOVE: Final = delete(DISMISSAL).where(
    DISMISSAL.c.session_pk == bindparam("pk"), DISMISSAL.c.key == bindparam("dismissed")
)
_INSERT: Final = insert(DISMISSAL)


def dismissed_keys(tx: Transaction, session: Session) -> frozenset[str]:
    """The keys (`key_of`) of all that is dismissed."""
    return frozenset(tx.execute(_KEYS, {"pk": session.pk}).scalars())


def key_of(text: str) -> str:
    """The key of an item's text, wherever it was said."""
    return hashlib.sha256(" ".join(text.split()).encode("utf-8", "surrogatepass")).hexdigest()


class Ledger(NamedTuple):
    """The items that a summary chooses from, and those that the user has dismissed."""

    items: list[ItemAt]
    dismissed: list[ItemAt]

    def until(self, seq: int) -> tuple[ItemAt, ...]:
        """The items before this seq."""
        return tuple(found for found in self.items if found[0] < seq)

    def since(self, seq: int) -> tuple[ItemAt, ...]:
        """The items from this seq on."""
        return tuple(found for found in self.items if found[0] >= seq)


def ledger_of(items: list[ItemAt], keys: Collection[str]) -> Ledger:
    """The ledger of these items, of which those with the `keys` are dismissed."""
    if not keys:
        return Ledger(items, [])
    gone = [key_of(item.text) in keys for _, item in items]
    return Ledger(
        [found for found, is_gone in zip(items, gone, strict=True) if not is_gone],
        [found for found, is_gone in zip(items, gone, strict=True) if is_gone],
    )


def dismiss(tx: Transaction, session: Session, text: str) -> None:
    """Dismiss a text; doing so again changes nothing."""
    key = key_of(text)
    if key not in dismissed_keys(tx, session):
        row = {"session_pk": session.pk, "key": key, "tenant": session.tenant, "created_at": tx.now}
        tx.change(_INSERT, row)


def restore(tx: Transaction, session: Session, text: str) -> None:
    """Take a dismissal back; a text that is not dismissed stays as it is."""
    tx.change(_REMOVE, {"pk": session.pk, "dismissed": key_of(text)})
