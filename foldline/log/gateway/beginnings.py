"""Reads the conversation of a request: the process keeps the fingerprints of what it read last, and reads what follows.

An agent sends the same history again with each request. To hash its bytes takes a fifth of the time of reading it.
The process also keeps where the last request was stored: who locks the session sees by its version whether that holds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Final, NamedTuple

from cachetools import LRUCache

from foldline.engine.formats import FORMATS
from foldline.engine.formats.contract import Wire
from foldline.engine.gateway.dialects import AgentRequest
from foldline.engine.gateway.fingerprints import beginning, fingerprints
from foldline.engine.messages import Message
from foldline.engine.wire import dumps
from foldline.log.gateway.known import KnownPart

# What a kept beginning takes beside its fingerprints, and what one of these takes.
BEGINNING_BYTES: Final = 500
FINGERPRINT_BYTES: Final = 64


class ReadBeginning(NamedTuple):
    """The first `wires` messages of a request as its caller wrote them, and the fingerprints of what they say.

    `stored` is where they are stored, if that is known; others may have changed the session since.
    """

    wires: int
    digests: Sequence[bytes | None]
    stored: KnownPart | None = None

    @property
    def size(self) -> int:
        """The bytes that it takes in memory."""
        return BEGINNING_BYTES + FINGERPRINT_BYTES * len(self.digests)


NOTHING: Final = ReadBeginning(0, ())


class Beginnings:
    """The beginnings that were read last, of at most so many bytes; what was not used for longest goes first.

    The same bytes always have the same fingerprints, so what is kept is never wrong, and what is not is read again.
    """

    def __init__(self, most_bytes: int) -> None:
        self._kept: LRUCache[bytes, ReadBeginning] = LRUCache(most_bytes, getsizeof=lambda beginning: beginning.size)
        self._lock = Lock()

    def longest(self, keys: Sequence[bytes]) -> ReadBeginning:
        """The longest kept beginning; the last of `keys` is that of the whole."""
        with self._lock:
            return next((self._kept[key] for key in reversed(keys) if key in self._kept), NOTHING)

    def keep(self, keys: Sequence[bytes], former: ReadBeginning, digests: Sequence[bytes | None]) -> None:
        """Keep what has these keys, in place of the beginning that it continues."""
        found = ReadBeginning(len(keys), digests)
        with self._lock:
            if former.wires:
                self._kept.pop(keys[former.wires - 1], None)
            if found.size <= self._kept.maxsize:
                self._kept[keys[-1]] = found

    def keep_place(self, key: bytes, stored: KnownPart) -> None:
        """Keep where the beginning that has this key is stored."""
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept[key] = found._replace(stored=stored)


@dataclass(frozen=True, slots=True)
class Conversation:
    """The conversation of a request: the fingerprints of its messages, and those that follow the known beginning.

    `stored` is where its beginning was stored last. `keep_place` is for where all of it is stored now.
    """

    asked: AgentRequest
    digests: Sequence[bytes | None]
    newest: Sequence[Message]
    stored: KnownPart | None
    keep_place: Callable[[KnownPart], None]

    def messages_from(self, number: int) -> Sequence[Message]:
        """The messages without the first `number`."""
        unread = len(self.digests) - len(self.newest)
        return self.newest[number - unread :] if number >= unread else self.asked.messages()[number:]


def read(beginnings: Beginnings, tenant: str, asked: AgentRequest, scope: str) -> Conversation:
    """The conversation of a tenant's request, in this scope of fingerprints.

    Raises:
        InvalidMessage: it cannot be read.
    """
    wire_format = FORMATS[asked.dialect.format]
    # Items are read together with those before them.
    keys = [*_keys(asked.wires, f"{tenant}\0{wire_format.name}\0{scope}")] if wire_format.has_turns else []
    known = beginnings.longest(keys)
    newest = asked.messages(known.wires)
    before = next((digest for digest in reversed(known.digests) if digest is not None), None)
    digests = [*known.digests, *fingerprints(newest, before or beginning(scope))]
    if len(keys) > known.wires:
        beginnings.keep(keys, known, digests)
    keep_place = partial(beginnings.keep_place, keys[-1] if keys else b"")
    return Conversation(asked, digests, newest, known.stored, keep_place)


def _keys(wires: Sequence[Wire], scope: str) -> Iterator[bytes]:
    """For each message, a hash of it and of all before it, as they were written."""
    # Processors compute this hash themselves: it takes half of the time of the one that fingerprints have.
    key = hashlib.sha256(scope.encode("utf-8", "surrogatepass")).digest()
    for wire in wires:
        key = hashlib.sha256(key + dumps(wire)).digest()
        yield key
