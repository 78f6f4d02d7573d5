"""Watches how much of its budget a session uses, and says when that passes a level. What to print where is not its."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any, Final

JsonDict = dict[str, Any]


@dataclass(frozen=True, slots=True)
class WatchLevel:
    """A share of the budget worth a note when it is passed; `style` is the note's on a terminal."""

    name: str
    share: float
    style: str
    tells_outcome: bool = False


NOTICE: Final = WatchLevel("notice", 0.60, "dim")
WARNING: Final = WatchLevel("warning", 0.80, "yellow", tells_outcome=True)


def levels_of(threshold: float | None = None) -> tuple[WatchLevel, ...]:
    """The levels, lowest first: the warning is at the threshold if there is one, and nothing lies above it."""
    warning = WARNING if threshold is None else replace(WARNING, share=threshold)
    return (NOTICE, warning) if NOTICE.share < warning.share else (warning,)


@dataclass(frozen=True, slots=True)
class Crossing:
    """The level that was passed, and the tokens that passed it; `outcome` is what compaction made of them."""

    level: WatchLevel
    used: int
    limit: int
    outcome: str

    def text(self, session: str) -> str:
        """The note for a reader, one line or two."""
        share = _percent(self.used, self.limit)
        first = f"{session}: {share} of the budget in use ({self.used:,} of {self.limit:,} tokens)"
        return f"{first}\n  {self.outcome}" if self.level.tells_outcome else first


@dataclass(slots=True)
class UsageWatch:
    """Counts how often each level was passed from below; `levels` are sorted by share.

    Where the policy `counts_otherwise`, it begins to compact by another count than the budget's, which may be more: a
    compaction that the session began by itself has passed all levels.
    """

    levels: tuple[WatchLevel, ...]
    counts_otherwise: bool = False
    crossings: Counter[str] = field(init=False)
    _reached: int = 0
    # The use at which a summary was asked for and nothing else was done.
    _waiting_at: int | None = None

    def __post_init__(self) -> None:
        """Levels that are never passed are counted too."""
        self.crossings = Counter({level.name: 0 for level in self.levels})

    def saw(self, budget: JsonDict, compaction: JsonDict | None = None) -> Crossing | None:
        """The highest level that this answer's budget passes, and that the one before did not.

        A compaction in the same answer has lowered the use already: what it was before is what counts as passing.
        """
        used, limit = budget["used"], budget["limit"]
        most = max(used, (compaction or {}).get("tokens_before", 0))
        is_begun = self.counts_otherwise and compaction is not None
        passed = self.levels[self._reached : len(self.levels) if is_begun else self._below(most, limit)]
        self._wait(used, compaction if is_begun else None)
        self._reached = self._below(used, limit) if self._waiting_at is None else len(self.levels)
        self.crossings.update(level.name for level in passed)
        return Crossing(passed[-1], most, limit, _outcome(used, limit, compaction or {})) if passed else None

    def _wait(self, used: int, compaction: JsonDict | None) -> None:
        """Note whether a summary is still to lower the use: until it does, that is one crossing."""
        if compaction is not None:
            self._waiting_at = None if compaction.get("id") else used
        elif self._waiting_at is not None and used < self._waiting_at:
            self._waiting_at = None

    def _below(self, used: int, limit: int) -> int:
        return sum(used > level.share * limit for level in self.levels)


def _outcome(used: int, limit: int, compaction: JsonDict) -> str:
    if compaction.get("id"):
        return f"Compacted at once, to {used:,} tokens ({_percent(used, limit)})."
    if compaction.get("job_id"):
        return "A summary is on its way."
    return "It will be compacted past the policy's trigger, once that saves enough."


def _percent(used: int, limit: int) -> str:
    # Rounded down: a level that is not reached shall not look as if it were.
    return f"{100 * used // limit}%"
