"""Reads the texts of a session's pins."""

from __future__ import annotations

from typing import Final

from sqlalchemy import bindparam, select

from foldline.engine.wire import loads
from foldline.log.storage.store import Transaction
from foldline.log.storage.tables import PIN

_PINS: Final = select(PIN.c.text).where(PIN.c.session_pk == bindparam("pk")).order_by(PIN.c.number)


def pins_of(tx: Transaction, session_pk: int) -> list[str]:
    """The texts of a session's pins, oldest first."""
    return [loads(text) for text in tx.execute(_PINS, {"pk": session_pk}).scalars()]
