"""Cursors of lists: positions that only this service can read.

A position may be a number of the whole database: whoever could read it would see how much others store.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from foldline.log.access.shared_secrets import shared_secret
from foldline.log.storage.store import Store

NAME: Final = "cursors"
POSITION_BYTES: Final = 8


@dataclass(slots=True)
class Cursors:
    """Writes and reads the cursors of one application; others on the same database read them too."""

    store: Store
    _cipher: AESSIV | None = field(default=None, repr=False)

    def written(self, owner: str, position: int) -> str:
        """The cursor of a position, at least 0 and below 2 to the 62nd, for this `owner` alone: a list of a tenant.

        AES-SIV (RFC 5297) needs no nonce, so a position has the same cursor whenever it is written.
        """
        sealed = self._opened().encrypt(position.to_bytes(POSITION_BYTES), [_bytes(owner)])
        return base64.urlsafe_b64encode(sealed).rstrip(b"=").decode()

    def read(self, owner: str, cursor: str) -> int:
        """The position in a cursor.

        Raises:
            ValueError: it was not written for this owner.
        """
        sealed = base64.urlsafe_b64decode(cursor.encode("ascii") + b"==")
        try:
            return int.from_bytes(self._opened().decrypt(sealed, [_bytes(owner)]))
        except InvalidTag as error:
            raise ValueError(cursor) from error

    def _opened(self) -> AESSIV:
        if self._cipher is None:
            self._cipher = AESSIV(shared_secret(self.store, NAME))
        return self._cipher


def _bytes(owner: str) -> bytes:
    return owner.encode(errors="surrogatepass")
