"""Events of a transaction. Subscribers of the store get them after the commit: the notifier, hooks and metrics.

Only the `facts` of an event may quote a conversation. They are for hooks; nothing else may log or send them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, TypeAlias

# The provider of an overflow whose wording is not known.
OTHER: Final = "other"


@dataclass(frozen=True, slots=True)
class JobWaits:
    """A job in this queue can be claimed."""

    queue: str


@dataclass(frozen=True, slots=True)
class JobEnded:
    """A job ended in this state; `error` is the reason if it did not succeed."""

    kind: str
    state: str
    session_id: str
    job_id: str
    error: str | None = None


@dataclass(frozen=True, slots=True)
class LeaseLapsed:
    """A job of this queue was taken back from a worker that did not extend its lease."""

    queue: str


@dataclass(frozen=True, slots=True)
class TriggerRan:
    """The trigger made a plan, or requested a summary of pending entries.

    `reason` is `threshold`, `asked` or `overflow` for a plan, and `pending` for a summary alone.
    """

    reason: str
    preset: str


@dataclass(frozen=True, slots=True)
class StageRan:
    """A stage ran for `seconds`; None for the savings of a published summary, whose stage ran before.

    `tokens_saved` are those that its edits took out of the view, scaled for the session's model; 0 if it made no edits
    or they were not applied.
    """

    stage: str
    preset: str
    seconds: float | None
    tokens_saved: int


@dataclass(frozen=True, slots=True)
class CompactionMade:
    """The compaction `entry_id` was made, inline or by a summary; `facts` are the fields that the API lists."""

    session_id: str
    entry_id: str
    reason: str
    preset: str
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class BranchSummarized:
    """The branch summary `entry_id` was added; `facts` are the entry's body."""

    session_id: str
    entry_id: str
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SummaryPatched:
    """So many `lines` of the ledger were added to a summary, as they were used while it was written."""

    lines: int


@dataclass(frozen=True, slots=True)
class SweepDone:
    """The sweeper finished a sweep."""


@dataclass(frozen=True, slots=True)
class OverflowReported:
    """A caller reported an overflow; `provider` is the name of one whose wording is known, or `OTHER`."""

    provider: str


class GatewayOutcome(StrEnum):
    """What became of a request to a provider's API.

    Its conversation was sent as a view, or whole, as it is; `SHADOW` would have sent a view. `SENT_AGAIN` after the
    provider had refused it as too long. In the other cases it went on as it came, because it was not understood, there
    was no view that fits, something failed, took too long, or the gateway was off; with `VIEW_REFUSED` after the
    provider had refused the view for something else than its length.
    """

    VIEW = "view"
    WHOLE = "whole"
    SHADOW = "shadow"
    SENT_AGAIN = "sent_again"
    VIEW_REFUSED = "view_refused"
    NOT_UNDERSTOOD = "not_understood"
    NO_VIEW = "no_view"
    FAILED = "failed"
    TOO_SLOW = "too_slow"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class GatewayCall:
    """A request to a provider's API went on; `tokens` are those of its conversation, and of the view, if it has one."""

    outcome: GatewayOutcome
    tokens: int = 0
    view_tokens: int = 0


@dataclass(frozen=True, slots=True)
class TenantLimited:
    """A limit of a tenant or key was met: something was refused, or not done; `setting` names the limit."""

    setting: str


Event: TypeAlias = (
    JobWaits
    | JobEnded
    | LeaseLapsed
    | TriggerRan
    | StageRan
    | CompactionMade
    | BranchSummarized
    | SummaryPatched
    | SweepDone
    | OverflowReported
    | GatewayCall
    | TenantLimited
)
# Called with each event after the commit, in the thread that committed: it must not block.
Subscriber: TypeAlias = Callable[[Event], None]


@dataclass(slots=True)
class StageWatch:
    """Measures how long each stage of one plan runs; the pipeline calls it when a stage ends. `clock` gives seconds."""

    clock: Callable[[], float]
    _begun: float = field(init=False)
    _runs: list[tuple[str, float, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._begun = self.clock()

    def __call__(self, stage: str, tokens_saved: int) -> None:
        """Record a stage that has just ended, with the unscaled tokens it saved."""
        now = self.clock()
        self._runs.append((stage, now - self._begun, tokens_saved))
        self._begun = now

    def ran(self, preset: str, multiplier: int, *, is_applied: bool) -> Iterator[StageRan]:
        """The stages' events, with tokens scaled by `multiplier` (thousandths), 0 unless the plan `is_applied`."""
        for stage, seconds, saved in self._runs:
            # A later stage may drop an earlier one's edits.
            tokens_saved = max(0, saved) * multiplier // 1000 if is_applied else 0
            yield StageRan(stage, preset, seconds, tokens_saved)
