"""The results of a replay: one record for each session, and totals over all. No I/O."""

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
# The least share of the target that views may hold after a compaction, in the median.
LEAST_OF_TARGET: Final = 0.6
# The reason of a compaction that published a summary.
SUMMARY: Final = "summary"
TIMED: Final = ("append", "context", "compact")


@dataclass(slots=True)
class SessionRecord:
    """The results of one session.

    `tokens_with` and `tokens_without` are the input tokens of all model calls with and without Foldline.
    `largest_bytes` are the JSON of the largest view, `most_images` the most images in one. `fills` are used / limit of
    the first views after compactions. `items` are the numbers of items kept, recallable and replaced, by kind. `listed`
    are notes, `violations` broken promises. `out_of_view` are the messages out of view, added up over the
    `views_compared`, and `program_out_of_view` those that the preset's own program would have hidden;
    `views_beyond_program` are the views with more of the former, `views_beyond_by_budget` those of them that would not
    fit otherwise, and `views_too_deep`, violations, those that lack what the program would show now and would fit.
    """

    id: str
    session_id: str = ""
    turns: int = 0
    model_calls: int = 0
    waiting_points: int = 0
    messages: int = 0
    appended_tokens: int = 0
    tokens_with: int = 0
    tokens_without: int = 0
    largest_bytes: int = 0
    most_images: int = 0
    limit: int = 0
    pace: Pace | None = None
    prefix_changes: int = 0
    views_over_budget: int = 0
    views_compared: int = 0
    out_of_view: int = 0
    program_out_of_view: int = 0
    views_beyond_program: int = 0
    views_beyond_by_budget: int = 0
    views_too_deep: int = 0
    requested_compactions: int = 0
    usage_crossings: Counter[str] = field(default_factory=Counter)
    compactions: list[JsonDict] = field(default_factory=list)
    jobs: list[JsonDict] = field(default_factory=list)
    fills: list[float] = field(default_factory=list)
    items: dict[str, Counter[str]] = field(default_factory=dict)
    listed: list[str] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)

    def add_items(self, summaries: Iterable[JsonDict]) -> None:
        """Add the items of compactions with summaries, by kind.

        A summary has all that those under it could recall, and lacks what they replaced. So items kept and recallable
        count where the view shows the summary, and replaced ones in every summary.
        """
        for summary in summaries:
            for kind, counts in (summary["kinds"] or {}).items():
                counted = counts if summary["in_view"] else {"replaced": counts["replaced"]}
                if any(counted.values()):
                    self.items.setdefault(kind, Counter()).update(counted)

    def list_failures(self) -> None:
        """Add the errors of failed jobs to `listed`, each once with its number."""
        errors = Counter(str(job.get("error")) for job in self.jobs if job["state"] == JobState.FAILED)
        for error, count in errors.items():
            self.listed.append(f"{count} job{'' if count == 1 else 's'} failed: {error}")

    def list_views_over_budget(self) -> None:
        """Add the number of refused views to `listed`, if compaction was disabled and there are any."""
        if count := self.views_over_budget:
            self.listed.append(f"{count} view{'' if count == 1 else 's'} did not fit: compaction is disabled")

    def check_compactions(self) -> None:
        """Add a violation if there were more compactions than the appended tokens explain."""
        if self.pace is None:
            return
        allowed = (self.pace.rounds + self.requested_compactions) * self.pace.compactions
        if len(self.compactions) > allowed:
            self.violations.append(
                f"{len(self.compactions)} compactions for {self.appended_tokens} tokens; {allowed} are explained"
            )

    @property
    def fills_of_target(self) -> list[float]:
        """`fills` as shares of the target; empty if the policy's stages may go below the target."""
        pace = self.pace
        return [fill / pace.target for fill in self.fills] if pace is not None and pace.stops_at_target else []


@dataclass(slots=True)
class ReplayFigures:
    """The results of the whole replay; `seconds` has the durations of each kind of request."""

    sessions: list[SessionRecord]
    seconds: dict[str, list[float]]

    @property
    def violations(self) -> list[str]:
        """The violations of all sessions, each with its session's id."""
        own = [f"{record.id}: {text}" for record in self.sessions for text in record.violations]
        fills = [fill for record in self.sessions for fill in record.fills_of_target]
        # A requested compaction may shrink a view that was small already.
        middle = median(fills) if fills and not self.total("requested_compactions") else 1.0
        if middle < LEAST_OF_TARGET:
            own.append(
                f"views after a compaction hold {middle:.2f} of their target in the median, not {LEAST_OF_TARGET}"
            )
        return own

    @property
    def was_driven(self) -> bool:
        """Whether any session was created."""
        return any(record.session_id for record in self.sessions)

    @property
    def listed(self) -> list[str]:
        """The notes of all sessions that are not violations, each with its session's id."""
        return [f"{record.id}: {text}" for record in self.sessions for text in record.listed]

    @property
    def fill(self) -> float | None:
        """The median of used / limit in the first views after compactions; None without compactions."""
        fills = [fill for record in self.sessions for fill in record.fills]
        return median(fills) if fills else None

    @property
    def slowest(self) -> float:
        """The duration of the slowest append, context or compact request, in seconds."""
        return max((max(self.seconds[kind]) for kind in TIMED if self.seconds.get(kind)), default=0.0)

    def total(self, name: str) -> int:
        """The sum of one figure over all sessions."""
        return sum(getattr(record, name) for record in self.sessions)

    def most(self, name: str) -> int:
        """The largest value of one figure in any session."""
        return max((getattr(record, name) for record in self.sessions), default=0)

    def stages(self) -> Counter[str]:
        """The number of compactions that used each stage."""
        return Counter(stage for compaction in self._compactions() for stage in compaction.get("stages_used") or ())

    def reasons(self) -> Counter[str]:
        """The number of compactions by reason."""
        return Counter(str(compaction.get("reason")) for compaction in self._compactions())

    def job_states(self) -> Counter[str]:
        """The number of jobs by state."""
        return Counter(str(job["state"]) for record in self.sessions for job in record.jobs)

    def usage_crossings(self) -> Counter[str]:
        """The number of times that each level of use was passed."""
        crossings: Counter[str] = Counter()
        for record in self.sessions:
            crossings.update(record.usage_crossings)
        return crossings

    def items(self) -> dict[str, Counter[str]]:
        """The numbers of items kept, recallable and replaced in summaries, by kind."""
        items: dict[str, Counter[str]] = {}
        for record in self.sessions:
            for kind, counts in record.items.items():
                items.setdefault(kind, Counter()).update(counts)
        return items

    def _compactions(self) -> Iterable[JsonDict]:
        return (compaction for record in self.sessions for compaction in record.compactions)

    def as_json(self) -> JsonDict:
        """The report as JSON, with each session's record."""
        return {
            "sessions": len(self.sessions),
            **{name: self.total(name) for name in SUMMED},
            **{name: self.most(name) for name in LARGEST},
            "compactions": sum(len(record.compactions) for record in self.sessions),
            "compactions_by_stage": dict(self.stages()),
            "compactions_by_reason": dict(self.reasons()),
            "jobs_by_state": dict(self.job_states()),
            "usage_crossings": dict(self.usage_crossings()),
            "items_by_kind": self.items(),
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
    "views_compared",
    "out_of_view",
    "program_out_of_view",
    "views_beyond_program",
    "views_beyond_by_budget",
    "views_too_deep",
)


LARGEST: Final = ("largest_bytes", "most_images")


def _session_json(record: SessionRecord) -> JsonDict:
    return {
        "id": record.id,
        "session_id": record.session_id,
        **{name: getattr(record, name) for name in (*SUMMED, *LARGEST)},
        "limit": record.limit,
        "compactions": len(record.compactions),
        "jobs": len(record.jobs),
        "usage_crossings": dict(record.usage_crossings),
        "items_by_kind": record.items,
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
