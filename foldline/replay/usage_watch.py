"""Detects when a session's use of its budget passes a level. Printing is the caller's."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any, Final

JsonDict = dict[str, Any]


@dataclass(frozen=True, slots=True)
class WatchLevel:
    """A share of the budget with a note when it is passed; `style` is the note's terminal style."""

    name: str
    share: float
    style: str
    shows_outcome: bool = False


NOTICE: Final = WatchLevel("notice", 0.60, "dim")
WARNING: Final = WatchLevel("warning", 0.80, "yellow", shows_outcome=True)


def levels_of(threshold: float | None = None) -> tuple[WatchLevel, ...]:
    """The levels, lowest first; the warning is at `threshold` if given, and no level is above it."""
    warning = WARNING if threshold is None else replace(WARNING, share=threshold)
    return (NOTICE, warning) if NOTICE.share < warning.share else (warning,)


@dataclass(frozen=True, slots=True)
class Crossing:
    """A level that was passed, and the tokens in use then; `outcome` is a sentence on the compaction that followed."""

    level: WatchLevel
    used: int
    limit: int
    outcome: str

    def text(self, session: str) -> str:
        """The note for the user, one or two lines."""
        share = _percent(self.used, self.limit)
        first = f"{session}: {share} of the budget in use ({self.used:,} of {self.limit:,} tokens)"
        return f"{first}\n  {self.outcome}" if self.level.shows_outcome else first


@dataclass(slots=True)
class UsageWatch:
    """Counts how often each level was passed upwards; `levels` are sorted by share.

    `counts_otherwise`: the policy's trigger uses another count than the budget, which may be larger. Then an automatic
    compaction counts as passing all levels.
    """

    levels: tuple[WatchLevel, ...]
    counts_otherwise: bool = False
    crossings: Counter[str] = field(init=False)
    _reached: int = 0
    # The tokens in use when a summary was requested without an inline compaction.
    _waiting_at: int | None = None

    def __post_init__(self) -> None:
        """Start each level's count at 0, so that all levels are reported."""
        self.crossings = Counter({level.name: 0 for level in self.levels})

    def saw(self, budget: JsonDict, compaction: JsonDict | None = None) -> Crossing | None:
        """The highest level that this response's budget passes newly; None if it passes none.

        If the response has a compaction, the use before the compaction counts.
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
        """Record whether a summary is still to lower the use; until then the levels stay passed."""
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
    # Rounded down, so that a level that is not reached does not look reached.
    return f"{100 * used // limit}%"
