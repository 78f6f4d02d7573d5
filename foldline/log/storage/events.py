"""What a transaction did, for subscribers: they hear of it after the commit, and notify workers, run hooks or count.

Only the `facts` of an event quote what anyone said, and they are for hooks alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

# A provider whose wording nobody knows.
OTHER: Final = "other"


@dataclass(frozen=True, slots=True)
class JobWaits:
    """A job waits in this queue, and a worker can claim it."""

    queue: str


@dataclass(frozen=True, slots=True)
class JobEnded:
    """A job ended in this state; `error` says why, where it did not succeed."""

    kind: str
    state: str
    session_id: str
    job_id: str
    error: str | None = None


@dataclass(frozen=True, slots=True)
class LeaseLapsed:
    """A job of this queue was taken back from a worker that kept silent."""

    queue: str


@dataclass(frozen=True, slots=True)
class TriggerRan:
    """A plan was made, or a summary requested for what is `pending`.

    `reason` is `threshold`, `asked` or `overflow` for a plan.
    """

    reason: str
    preset: str


@dataclass(frozen=True, slots=True)
class StageRan:
    """A stage looked at a view: for `seconds`, None for a summary that was published, whose stage ran before it.

    `tokens_saved` are those that its edits took out of the view, as counted for the session's model; none if it made no
    edits, or they were not applied.
    """

    stage: str
    preset: str
    seconds: float | None
    tokens_saved: int


@dataclass(frozen=True, slots=True)
class CompactionMade:
    """The compaction `entry_id` was made, inline or by a summary; `facts` are what is listed of it."""

    session_id: str
    entry_id: str
    reason: str
    preset: str
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class BranchSummarized:
    """The entry `entry_id` was added, which summarizes a branch that the head left; `facts` are its body."""

    session_id: str
    entry_id: str
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SweepDone:
    """A sweep was done."""


@dataclass(frozen=True, slots=True)
class OverflowReported:
    """A caller's provider refused a view as too long; the name is one whose wording is known, or `OTHER`."""

    provider: str


Event: TypeAlias = (
    JobWaits
    | JobEnded
    | LeaseLapsed
    | TriggerRan
    | StageRan
    | CompactionMade
    | BranchSummarized
    | SweepDone
    | OverflowReported
)
# Called after each commit, in the thread that committed: it must not block.
Subscriber: TypeAlias = Callable[[Event], None]


@dataclass(slots=True)
class StageWatch:
    """Times the stages of one plan, which calls it as each ends; `clock` gives seconds."""

    clock: Callable[[], float]
    _begun: float = field(init=False)
    _runs: list[tuple[str, float, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._begun = self.clock()

    def __call__(self, stage: str, tokens_saved: int) -> None:
        """Note that a stage has ended, and begin to time the next."""
        now = self.clock()
        self._runs.append((stage, now - self._begun, tokens_saved))
        self._begun = now

    def ran(self, preset: str, multiplier: int, *, is_applied: bool) -> Iterator[StageRan]:
        """What the stages did to a session with this multiplier, in thousandths."""
        for stage, seconds, saved in self._runs:
            # A later stage may find that an earlier one's edits are of no use any more.
            tokens_saved = max(0, saved) * multiplier // 1000 if is_applied else 0
            yield StageRan(stage, preset, seconds, tokens_saved)
