"""Checks that between compactions a session's views only grow at the end, which keeps a provider's cache valid."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

JsonDict = dict[str, Any]


@dataclass(slots=True)
class PrefixWatch:
    """Compares each view with the one before, and lists new compactions only if the version or the prefix changed.

    `new_compactions` returns the compactions not returned before. A compaction may be published after a view and before
    the list, so it may explain the next view's change; but only if the version moved by more than our own requests.
    """

    new_compactions: Callable[[], list[JsonDict]]
    changes: int = 0
    _messages: list[JsonDict] = field(default_factory=list)
    _version: int | None = None
    _moved: bool = False
    _early: bool = False

    def appended(self, version: int, *, compacted: bool) -> None:
        """Record the version after an append, and whether the append compacted."""
        self._moved |= compacted or (self._version is not None and version != self._version + 1)
        self._version = version

    def compaction_requested(self) -> None:
        """Record that a compaction was requested."""
        self._moved = True

    def saw(self, version: int, messages: list[JsonDict]) -> tuple[bool, str | None]:
        """Record a view: whether it is the first after a compaction, and what is wrong with its prefix, if anything."""
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
