"""The states of a job, as an enum."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class JobState(StrEnum):
    """`queued → running → succeeded | failed | superseded | cancelled`; an ended job stays in its state."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    SUPERSEDED = "superseded"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        """Whether the job has ended."""
        return self not in ACTIVE


ACTIVE: Final = (JobState.QUEUED, JobState.RUNNING)
