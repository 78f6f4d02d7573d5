"""What `after_compact` and `after_branch` of a hook are called with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from foldline.log.compaction.summary_request import HOOK_KINDS
from foldline.log.job_state import JobState
from foldline.log.storage.events import BranchSummarized, CompactionMade, Event, JobEnded


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a compaction, or of the summary of a branch.

    `kind` is `compact` or `branch`. `state` is `succeeded` for a compaction that was made, inline or by a summary, or
    for the summary of a branch that was added: `entry_id` is that entry, and `facts` are what the API lists of it.
    Otherwise the job `job_id` ended as `failed`, `cancelled` or `superseded`, with its `error`.
    """

    kind: str
    session_id: str
    state: str
    entry_id: str | None = None
    job_id: str | None = None
    error: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


def outcome_of(event: Event) -> Outcome | None:
    """The outcome that an event is, if it is one."""
    match event:
        # An import repeats compactions that were made elsewhere and long ago.
        case CompactionMade(reason="imported"):
            return None
        case CompactionMade():
            return Outcome("compact", event.session_id, JobState.SUCCEEDED, event.entry_id, facts=event.facts)
        case BranchSummarized():
            return Outcome("branch", event.session_id, JobState.SUCCEEDED, event.entry_id, facts=event.facts)
        # A job that succeeded is reported by the entry that it made.
        case JobEnded() if event.state != JobState.SUCCEEDED:
            # A newer version may have made the job, of a kind that this one does not know.
            kind = HOOK_KINDS.get(event.kind, event.kind)
            return Outcome(kind, event.session_id, event.state, job_id=event.job_id, error=event.error)
    return None
