"""The argument of `after_compact` and `after_branch` hooks, made from the session log's events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from foldline.log.compaction.summary_request import HOOK_KINDS
from foldline.log.events import BranchSummarized, CompactionMade, Event, JobEnded
from foldline.log.job_state import JobState


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a compaction or of a branch summary.

    `kind` is `compact` or `branch`. `state` is `succeeded` for a new compaction, inline or by a summary, or a new
    branch summary. Then `entry_id` is the new entry, and `facts` are the fields that the API lists of it. Otherwise the
    job `job_id` ended as `failed`, `cancelled` or `superseded`, and `error` is the reason.
    """

    kind: str
    session_id: str
    state: str
    entry_id: str | None = None
    job_id: str | None = None
    error: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


def outcome_of(event: Event) -> Outcome | None:
    """The outcome that an event stands for; None for other events."""
    match event:
        # An import repeats compactions that were made elsewhere.
        case CompactionMade(reason="imported"):
            return None
        case CompactionMade():
            return Outcome("compact", event.session_id, JobState.SUCCEEDED, event.entry_id, facts=event.facts)
        case BranchSummarized():
            return Outcome("branch", event.session_id, JobState.SUCCEEDED, event.entry_id, facts=event.facts)
        # A job that succeeded is reported by the entry that it made.
        case JobEnded() if event.state != JobState.SUCCEEDED:
            # A newer version may have made a job of a kind that this one does not know.
            kind = HOOK_KINDS.get(event.kind, event.kind)
            return Outcome(kind, event.session_id, event.state, job_id=event.job_id, error=event.error)
    return None
