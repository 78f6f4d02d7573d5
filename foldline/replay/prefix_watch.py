"""Watches that between compactions a session's views only grow at their end, so that a provider's cache stays warm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

JsonDict = dict[str, Any]


@dataclass(slots=True)
class PrefixWatch:
    """Compares each view with the one before, and asks for new compactions only when something must have happened.

    `new_compactions` gives those not given before. One that is published between a view and the question for it is
    listed a view too early: it may explain the next change, but only if the version moved by more than our requests.
    """

    new_compactions: Callable[[], list[JsonDict]]
    changes: int = 0
    _messages: list[JsonDict] = field(default_factory=list)
    _version: int | None = None
    _moved: bool = False
    _early: bool = False

    def appended(self, version: int, *, compacted: bool) -> None:
        """An append of ours made this version."""
        self._moved |= compacted or (self._version is not None and version != self._version + 1)
        self._version = version

    def asked(self) -> None:
        """A compaction was asked for."""
        self._moved = True

    def saw(self, version: int, messages: list[JsonDict]) -> tuple[bool, str | None]:
        """Whether this is the first view after a compaction, and what is wrong with its prefix."""
        self._moved |= self._version is not None and version != self._version
        changed = messages[: len(self._messages)] != self._messages
        listed = self.new_compactions() if self._moved or changed else []
        explained = bool(listed) or (self._moved and self._early)
        wrong = None
        if changed:
            self.changes += 1
            wrong = None if explained else f"the prefix changed without a compaction, {self._place(messages)}"
        self._early = bool(listed)
        self._messages, self._version, self._moved = messages, version, False
        return explained and (changed or bool(listed)), wrong

    def _place(self, messages: list[JsonDict]) -> str:
        pairs = enumerate(zip(self._messages, messages, strict=False))
        at = next((index for index, (old, new) in pairs if old != new), min(len(messages), len(self._messages)))
        return f"from message {at} of {len(self._messages)} on"
