"""The fixed parts of a session's views: what comes before all messages."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final, NamedTuple

from sqlalchemy import bindparam, select

from foldline.engine.wire import dumps, loads
from foldline.log.storage.rows import Session
from foldline.log.storage.store import Transaction
from foldline.log.storage.tables import PIN

DIGEST_CHARS: Final = 16
_PINS: Final = select(PIN.c.text).where(PIN.c.session_pk == bindparam("pk")).order_by(PIN.c.number)


def pins_of(tx: Transaction, session: Session) -> list[str]:
    """The texts of a session's pins, oldest first."""
    # Most sessions have none.
    found = tx.execute(_PINS, {"pk": session.pk}).scalars() if session.pins_tokens else ()
    return [loads(text) for text in found]


class FixedParts(NamedTuple):
    """What comes before all messages of a view of a session, and the model that the view is for."""

    session: Session
    model: str
    pins: Sequence[str]

    @property
    def digest(self) -> str:
        """A digest of all of it."""
        session = self.session
        parts = (dumps(self.model), session.system_json or b"", session.tools_json, dumps(list(self.pins)))
        return hashlib.sha256(b"\0".join(parts)).hexdigest()[:DIGEST_CHARS]
