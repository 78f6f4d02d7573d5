"""Encrypts values: AES-256-GCM (NIST SP 800-38D), each value with a random nonce, by the first of several keys."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from foldline.log.errors import DamagedValue, SealingKeyMissing

KEY_ID_BYTES: Final = 4
NONCE_BYTES: Final = 12
# How each encrypted value begins. What is stored without a key is JSON, which never begins with a NUL.
MARK: Final = b"\0foldline\1"
_HEAD_BYTES: Final = len(MARK) + KEY_ID_BYTES
_TERM_BYTES: Final = 10


class Cipher:
    """The keys of a service, at least one, of 32 bytes each. The first encrypts, and all of them decrypt."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        self._keys = {_id_of(key): AESGCM(key) for key in keys}
        self._first = _id_of(keys[0])

    @property
    def first(self) -> str:
        """The name of the key that encrypts. Names can be read by anybody who reads the database."""
        return self._first.hex()

    @property
    def names(self) -> frozenset[str]:
        """The names of all keys."""
        return frozenset(key_id.hex() for key_id in self._keys)

    def sealed(self, value: bytes) -> bytes:
        """The value, encrypted."""
        head, nonce = MARK + self._first, os.urandom(NONCE_BYTES)
        return head + nonce + self._keys[self._first].encrypt(nonce, value, head)

    def opened(self, stored: bytes) -> bytes:
        """The value that was stored, encrypted or from before there was a key.

        Raises:
            SealingKeyMissing: it was encrypted with another key.
            DamagedValue: it was changed since.
        """
        if not is_sealed(stored):
            return stored
        head, rest = stored[:_HEAD_BYTES], stored[_HEAD_BYTES:]
        key = self._keys.get(head[len(MARK) :])
        if key is None:
            raise SealingKeyMissing(head[len(MARK) :].hex())
        try:
            return key.decrypt(rest[:NONCE_BYTES], rest[NONCE_BYTES:], head)
        except (InvalidTag, ValueError) as error:
            raise DamagedValue from error

    def is_newest(self, stored: bytes) -> bool:
        """Whether a stored value is encrypted with the first key."""
        return stored.startswith(MARK + self._first)


def readable(stored: bytes | None) -> bytes | None:
    """A stored value, for a process without keys; NULL stays NULL.

    Raises:
        SealingKeyMissing: it is encrypted.
    """
    if stored is not None and stored.startswith(MARK):
        raise SealingKeyMissing(stored[len(MARK) : _HEAD_BYTES].hex())
    return stored


def is_sealed(stored: bytes) -> bool:
    """Whether a stored value is encrypted, with whatever key."""
    return stored.startswith(MARK)


def hidden_term(key: bytes, term: str) -> str:
    """A term as an index has it, from which only those who have the key can find the term."""
    return hashlib.blake2b(term.encode(errors="surrogatepass"), key=key, digest_size=_TERM_BYTES).hexdigest()


def _id_of(key: bytes) -> bytes:
    return hashlib.blake2b(key, person=b"foldline key id", digest_size=KEY_ID_BYTES).digest()
