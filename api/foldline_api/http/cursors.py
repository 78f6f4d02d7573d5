"""Cursors of lists: positions that only this service can read.

A position may be a number of the whole database: whoever could read it would see how much others store.
"""

from __future__ import annotations

import base64
import hmac
from dataclasses import dataclass, field
from typing import Final

from foldline.log.access.shared_secrets import shared_secret
from foldline.log.storage.store import Store

NAME: Final = "cursors"
# Of the position, and of the tag before it.
PART_BYTES: Final = 8


@dataclass(slots=True)
class Cursors:
    """Writes and reads the cursors of one application; others on the same database read them too."""

    store: Store
    _secret: bytes = field(default=b"", repr=False)

    def written(self, owner: str, position: int) -> str:
        """The cursor of a position, at least 0 and below 2 to the 62nd, for this `owner` alone: a list of a tenant.

        As in SIV mode (RFC 5297), the tag proves that the cursor is ours, and hides the position under a mask that no
        other position has.
        """
        number = position.to_bytes(PART_BYTES)
        tag = self._digest(owner, b"tag", number)
        return base64.urlsafe_b64encode(tag + _xor(number, self._digest(owner, b"mask", tag))).rstrip(b"=").decode()

    def read(self, owner: str, cursor: str) -> int:
        """The position in a cursor.

        Raises:
            ValueError: it was not written for this owner.
        """
        both = base64.urlsafe_b64decode(cursor.encode("ascii") + b"==")
        tag, hidden = both[:PART_BYTES], both[PART_BYTES:]
        number = _xor(hidden, self._digest(owner, b"mask", tag))
        if not hmac.compare_digest(tag, self._digest(owner, b"tag", number)):
            raise ValueError(cursor)
        return int.from_bytes(number)

    def _digest(self, owner: str, use: bytes, part: bytes) -> bytes:
        self._secret = self._secret or shared_secret(self.store, NAME)
        message = b"\0".join((use, owner.encode(errors="surrogatepass"), part))
        return hmac.digest(self._secret, message, "sha256")[:PART_BYTES]


def _xor(one: bytes, other: bytes) -> bytes:
    """Byte by byte.

    Raises:
        ValueError: one is longer than the other.
    """
    return bytes(a ^ b for a, b in zip(one, other, strict=True))
