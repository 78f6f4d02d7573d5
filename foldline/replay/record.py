"""What a replay measured: one record a session, and the figures of all of them together. Pure arithmetic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import ceil
from statistics import median
from typing import Any, Final

from foldline.log.job_state import JobState
from foldline.replay.pace import Pace

JsonDict = dict[str, Any]
# Of what a compaction is to come down to.
LEAST_OF_TARGET: Final = 0.6
TIMED: Final = ("append", "context", "compact")


@dataclass(slots=True)
class SessionRecord:
    """What was seen in one session."""

    id: str
    session_id: str = ""
    turns: int = 0
    model_calls: int = 0
    waiting_points: int = 0
    messages: int = 0
    appended_tokens: int = 0
    tokens_with: int = 0
    tokens_without: int = 0
    limit: int = 0
    pace: Pace | None = None
    prefix_changes: int = 0
    views_over_budget: int = 0
    asked_compactions: int = 0
    usage_crossings: Counter[str] = field(default_factory=Counter)
    compactions: list[JsonDict] = field(default_factory=list)
    jobs: list[JsonDict] = field(default_factory=list)
    fills: list[float] = field(default_factory=list)
    listed: list[str] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)

    def list_failures(self) -> None:
        """Add what jobs failed with to what is listed, each error once."""
        errors = Counter(str(job.get("error")) for job in self.jobs if job["state"] == JobState.FAILED)
        for error, count in errors.items():
            self.listed.append(f"{count} job{'' if count == 1 else 's'} failed: {error}")

    def list_views_over_budget(self) -> None:
        """Add how many views were refused because nothing was compacted, if any, to what is listed."""
        if count := self.views_over_budget:
            self.listed.append(f"{count} view{'' if count == 1 else 's'} did not fit: compaction is disabled")

    def check_compactions(self) -> None:
        """Add a violation if there were more compactions than the text that came in can explain."""
        if self.pace is None:
            return
        allowed = (self.pace.rounds + self.asked_compactions) * self.pace.compactions
        if len(self.compactions) > allowed:
            self.violations.append(
                f"{len(self.compactions)} compactions for {self.appended_tokens} tokens; {allowed} are explained"
            )

    @property
    def fills_of_target(self) -> list[float]:
        """How full the first views after compactions were, of what those were to come down to and stop at."""
        pace = self.pace
        return [fill / pace.target for fill in self.fills] if pace is not None and pace.stops_at_target else []


@dataclass(slots=True)
class ReplayFigures:
    """The whole replay: its sessions, and the seconds of each kind of request."""

    sessions: list[SessionRecord]
    seconds: dict[str, list[float]]

    @property
    def violations(self) -> list[str]:
        """All of them, each with the session it happened in."""
        own = [f"{record.id}: {text}" for record in self.sessions for text in record.violations]
        fills = [fill for record in self.sessions for fill in record.fills_of_target]
        # A compaction that was asked for may well empty a view that was small already.
        middle = median(fills) if fills and not self.total("asked_compactions") else 1.0
        if middle < LEAST_OF_TARGET:
            own.append(
                f"views after a compaction hold {middle:.2f} of their target in the median, not {LEAST_OF_TARGET}"
            )
        return own

    @property
    def was_driven(self) -> bool:
        """Whether there was a session to drive at all."""
        return any(record.session_id for record in self.sessions)

    @property
    def listed(self) -> list[str]:
        """What is no violation but should be known."""
        return [f"{record.id}: {text}" for record in self.sessions for text in record.listed]

    @property
    def fill(self) -> float | None:
        """The median of used / limit in the first views after compactions; none if there were no compactions."""
        fills = [fill for record in self.sessions for fill in record.fills]
        return median(fills) if fills else None

    @property
    def slowest(self) -> float:
        """Seconds of the slowest append, context or compact request."""
        return max((max(self.seconds[kind]) for kind in TIMED if self.seconds.get(kind)), default=0.0)

    def total(self, name: str) -> int:
        """The sum of one figure over all sessions."""
        return sum(getattr(record, name) for record in self.sessions)

    def stages(self) -> Counter[str]:
        """How many compactions used each stage."""
        return Counter(stage for compaction in self._compactions() for stage in compaction.get("stages_used") or ())

    def reasons(self) -> Counter[str]:
        """How many compactions each reason had."""
        return Counter(str(compaction.get("reason")) for compaction in self._compactions())

    def job_states(self) -> Counter[str]:
        """How many jobs ended in each state."""
        return Counter(str(job["state"]) for record in self.sessions for job in record.jobs)

    def usage_crossings(self) -> Counter[str]:
        """How often each level of use was passed."""
        crossings: Counter[str] = Counter()
        for record in self.sessions:
            crossings.update(record.usage_crossings)
        return crossings

    def _compactions(self) -> Iterable[JsonDict]:
        return (compaction for record in self.sessions for compaction in record.compactions)

    def as_json(self) -> JsonDict:
        """Everything the report shows, and each session's record."""
        return {
            "sessions": len(self.sessions),
            **{name: self.total(name) for name in SUMMED},
            "compactions": sum(len(record.compactions) for record in self.sessions),
            "compactions_by_stage": dict(self.stages()),
            "compactions_by_reason": dict(self.reasons()),
            "jobs_by_state": dict(self.job_states()),
            "usage_crossings": dict(self.usage_crossings()),
            "fill_after_compaction": self.fill,
            "latency_seconds": {kind: latency(self.seconds[kind]) for kind in TIMED if self.seconds.get(kind)},
            "slowest_seconds": self.slowest,
            "listed": self.listed,
            "violations": self.violations,
            "per_session": [_session_json(record) for record in self.sessions],
        }


SUMMED: Final = (
    "turns",
    "model_calls",
    "waiting_points",
    "messages",
    "appended_tokens",
    "tokens_with",
    "tokens_without",
    "prefix_changes",
    "views_over_budget",
)


def _session_json(record: SessionRecord) -> JsonDict:
    return {
        "id": record.id,
        "session_id": record.session_id,
        **{name: getattr(record, name) for name in SUMMED},
        "limit": record.limit,
        "compactions": len(record.compactions),
        "jobs": len(record.jobs),
        "usage_crossings": dict(record.usage_crossings),
        "fill_after_compaction": median(record.fills) if record.fills else None,
        "listed": record.listed,
        "violations": record.violations,
    }


def latency(seconds: Sequence[float]) -> dict[str, float]:
    """Requests, median, 99th percentile and maximum of a non-empty list of durations."""
    return {
        "requests": len(seconds),
        "p50": percentile(seconds, 50),
        "p99": percentile(seconds, 99),
        "max": max(seconds),
    }


def percentile(values: Sequence[float], percent: int) -> float:
    """The smallest value that at least `percent` % of a non-empty list do not exceed."""
    return sorted(values)[max(0, ceil(len(values) * percent / 100) - 1)]
