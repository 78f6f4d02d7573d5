"""Call ids and tool names on the wire: what each becomes in a format that restricts them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from hashlib import sha256
from typing import Final

MAX_CHARS: Final = 64
DIGEST_CHARS: Final = 12

_UNSAFE = re.compile(r"[^a-zA-Z0-9_-]")


class WireIds:
    """Hands out wire ids for one rendered list, front to back.

    An id that fits the pattern and is free stays as it is; any other is rewritten from its own characters and digest,
    so what an id becomes depends only on itself and the messages before it. Ids that differ stay different. With
    `unique`, an id used again by a later batch gets a suffix; without, only a repetition inside one batch does.
    """

    def __init__(self, pattern: re.Pattern[str], *, unique: bool) -> None:
        self._pattern = pattern
        self._unique = unique
        self._owners: dict[str, str] = {}
        self._suffixes: defaultdict[str, int] = defaultdict(lambda: 1)
        self._waiting: defaultdict[str, list[str]] = defaultdict(list)
        self._batch: set[str] = set()

    def __copy__(self) -> WireIds:
        other = WireIds(self._pattern, unique=self._unique)
        other._owners = {**self._owners}
        other._suffixes.update(self._suffixes)
        other._waiting.update({call_id: [*waiting] for call_id, waiting in self._waiting.items()})
        other._batch = {*self._batch}
        return other

    def calls(self, call_ids: Sequence[str]) -> list[str]:
        """The wire ids of a new batch's calls, in order; no calls are no batch, and the last one stays."""
        if call_ids:
            self._waiting.clear()
            self._batch.clear()
        return [self._call(call_id) for call_id in call_ids]

    def result(self, call_id: str | None) -> str:
        """The wire id of the call in the current batch that this result answers; a new one if it answers none."""
        waiting = self._waiting.get(call_id or "")
        return waiting.pop(0) if waiting else self._allot(call_id or "")

    def _call(self, call_id: str) -> str:
        wire_id = self._allot(call_id)
        self._waiting[call_id].append(wire_id)
        return wire_id

    def _allot(self, call_id: str) -> str:
        wanted = fitting(call_id, self._pattern)
        wire_id = wanted
        while not self._is_free(wire_id, call_id):
            self._suffixes[wanted] += 1
            suffix = f"_{self._suffixes[wanted]}"
            wire_id = wanted[: MAX_CHARS - len(suffix)] + suffix
        self._owners[wire_id] = call_id
        self._batch.add(wire_id)
        return wire_id

    def _is_free(self, wire_id: str, call_id: str) -> bool:
        if self._unique:
            return wire_id not in self._owners
        return wire_id not in self._batch and self._owners.get(wire_id, call_id) == call_id


def fitting(text: str, pattern: re.Pattern[str]) -> str:
    """An id or name as it is if it fits the pattern, else rewritten; texts that differ stay different."""
    return text if pattern.fullmatch(text) else rewritten(text)


def rewritten(text: str) -> str:
    """An id or name of at most 64 letters, digits, "_" and "-", from the characters of another and its digest."""
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST_CHARS]
    readable = _UNSAFE.sub("_", text[: MAX_CHARS - DIGEST_CHARS - 1]) or "call"
    return f"{readable}_{digest}"
