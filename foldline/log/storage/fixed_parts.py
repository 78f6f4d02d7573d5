"""The fixed parts of a session's views: what comes before all messages."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final, NamedTuple

from foldline.engine.wire import dumps
from foldline.log.storage.rows import Session

DIGEST_CHARS: Final = 16


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
