"""What came of compactions and jobs, for those who want to be told after it was committed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a compaction, or of the summary of a branch.

    `kind` is `compact` or `branch`. `state` is `succeeded` for a compaction that was made, inline or by a summary, or a
    branch's summary that was placed: `entry_id` is that entry, and `told` what is listed of it. Otherwise it is how the
    job `job_id` ended: `failed`, `cancelled` or `superseded`, with its `error`.
    """

    kind: str
    session_id: str
    state: str
    entry_id: str | None = None
    job_id: str | None = None
    error: str | None = None
    told: Mapping[str, Any] = field(default_factory=dict)
