"""Jobs as `foldline jobs list` shows them: a table for people, JSON for programs. Nothing of what was said is in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from foldline_api.serializers import timestamp
from rich.text import Text

from foldline.log.job_state import JobState
from foldline.log.jobs.admin import AdminJob
from foldline.terminal import answers, table_of

STATES: Final = tuple(JobState)
# An id that is cut cannot be copied: lines longer than a terminal are better.
LEAST_WIDTH: Final = 150
UNITS: Final = (("d", 86_400), ("h", 3_600), ("min", 60))
TIMES: Final = ("created_at", "ended_at", "lease_until", "not_before")
COLUMNS: Final = (
    ("job", False),
    ("tenant", False),
    ("session", False),
    ("state", False),
    ("queue", False),
    ("attempts", True),
    ("age", True),
    ("", False),
    ("error", False),
)


def print_table(jobs: Sequence[AdminJob], counts: Mapping[str, int], now: int) -> None:
    """Prints the jobs and a line with the counts; `now` is milliseconds since the epoch."""
    console = answers()
    console.width = max(console.width, LEAST_WIDTH)
    if jobs:
        table = table_of(COLUMNS, (_row(job, now) for job in jobs))
        table.columns[0].no_wrap = True
        for column in table.columns[:3]:
            column.overflow = "fold"
        console.print(table)
    found = [f"{counts[state]:,} {state}" for state in STATES if state in counts]
    console.print(", ".join(found) or "no jobs")


def as_json(job: AdminJob) -> dict[str, Any]:
    """A job with its times as RFC 3339, null where they say nothing."""
    return asdict(job) | {name: timestamp(time) if (time := getattr(job, name)) else None for name in TIMES}


def _row(job: AdminJob, now: int) -> tuple[str | Text, ...]:
    return (
        job.id,
        job.tenant,
        job.session_id,
        job.state,
        job.queue.rpartition(".")[2],
        str(job.attempts),
        _duration(now - job.created_at),
        _holding(job, now),
        Text(" ".join((job.error or "").split()), no_wrap=True, overflow="ellipsis"),
    )


def _holding(job: AdminJob, now: int) -> str:
    """What a job that has not ended is waiting for."""
    if job.state == JobState.RUNNING:
        left = job.lease_until - now
        return f"lease {_duration(left)}" if left > 0 else "lease lapsed"
    is_held_back = job.state == JobState.QUEUED and job.not_before > now
    return f"held back {_duration(job.not_before - now)}" if is_held_back else ""


def _duration(milliseconds: int) -> str:
    """A time in the largest unit that it fills."""
    seconds = max(milliseconds, 0) // 1000
    return next((f"{seconds // size} {unit}" for unit, size in UNITS if seconds >= size), f"{seconds} s")
