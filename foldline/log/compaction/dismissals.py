"""What the user has dismissed of a session's ledger: texts that no later summary chooses from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Final

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


def standing(tx: Transaction, session: Session, items: Iterable[ItemAt]) -> list[ItemAt]:
    """The items that are not dismissed."""
    keys = dismissed_keys(tx, session)
    return [found for found in items if key_of(found[1].text) not in keys] if keys else list(items)


def dismiss(tx: Transaction, session: Session, text: str) -> None:
    """Dismiss a text; doing so again changes nothing."""
    key = key_of(text)
    if key not in dismissed_keys(tx, session):
        row = {"session_pk": session.pk, "key": key, "tenant": session.tenant, "created_at": tx.now}
        tx.execute(_INSERT, row)


def restore(tx: Transaction, session: Session, text: str) -> None:
    """Take a dismissal back; a text that is not dismissed stays as it is."""
    tx.execute(_REMOVE, {"pk": session.pk, "dismissed": key_of(text)})
