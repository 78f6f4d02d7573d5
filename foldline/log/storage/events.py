"""What happens in the log that operators count. Nothing here is about one session, and nothing quotes one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

# A provider whose wording nobody knows.
OTHER: Final = "other"


@dataclass(frozen=True, slots=True)
class Triggered:
    """A plan was made, or a summary asked for what is `pending`.

    `reason` is `threshold`, `asked` or `overflow` for a plan.
    """

    reason: str
    preset: str


@dataclass(frozen=True, slots=True)
class Compacted:
    """A compaction was made, for the reason that it is listed with."""

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
class JobEnded:
    """A job ended in this state."""

    kind: str
    state: str


@dataclass(frozen=True, slots=True)
class LeaseLapsed:
    """A job of this queue was taken back from a worker that kept silent."""

    queue: str


@dataclass(frozen=True, slots=True)
class Swept:
    """A sweep was done."""


@dataclass(frozen=True, slots=True)
class OverflowReported:
    """A caller's provider refused a view as too long; the name is one whose wording is known, or `OTHER`."""

    provider: str


Observation: TypeAlias = Triggered | Compacted | StageRan | JobEnded | LeaseLapsed | Swept | OverflowReported


@dataclass(slots=True)
class StageWatch:
    """Times the stages of one plan, which tells it of each as it ends; `clock` gives seconds."""

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
