"""The metrics there are, as data: what is counted, dashboards, alerts and documentation are all held against this."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Final


class MetricKind(Enum):
    """What a metric is to Prometheus."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


class Source(Enum):
    """A kind of process. `foldline serve` is an API and a worker."""

    API = "API"
    WORKER = "worker"
    BEAT = "beat"


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric by the name that queries use, but for the `_bucket`, `_sum` and `_count` of a histogram.

    `sources` are the processes that tell it.
    """

    name: str
    kind: MetricKind
    sources: tuple[Source, ...]
    help: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()

    @property
    def sample_names(self) -> Iterator[str]:
        """The names under which Prometheus keeps it."""
        if self.kind is not MetricKind.HISTOGRAM:
            yield self.name
            return
        for suffix in ("bucket", "sum", "count"):
            yield f"{self.name}_{suffix}"


API: Final = (Source.API,)
WORKER: Final = (Source.WORKER,)
BOTH: Final = (Source.API, Source.WORKER)
EVERY: Final = tuple(Source)

REQUEST_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
STAGE_SECONDS: Final = (0.00001, 0.00003, 0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
SUMMARIZER_SECONDS: Final = (0.01, 0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0)

REQUESTS: Final = Metric(
    "foldline_requests_total",
    MetricKind.COUNTER,
    API,
    "Requests answered; 499 is one whose client went away before its answer.",
    ("method", "route", "status"),
)
REQUEST_DURATION: Final = Metric(
    "foldline_request_seconds",
    MetricKind.HISTOGRAM,
    API,
    "Time until the last byte of the answer, in which `Prefer: wait` and event streams wait for jobs.",
    ("method", "route"),
    REQUEST_SECONDS,
)
REQUESTS_WAITING: Final = Metric(
    "foldline_requests_waiting",
    MetricKind.GAUGE,
    API,
    "Requests that wait for one of the `FOLDLINE_THREADS` of the process.",
)
TRIGGERS: Final = Metric(
    "foldline_triggers_total",
    MetricKind.COUNTER,
    BOTH,
    "Plans made because a view was over its `threshold`, somebody `asked`, or a provider reported an `overflow`, and "
    "summaries asked for because something hidden was `pending` one.",
    ("reason", "preset"),
)
COMPACTIONS: Final = Metric(
    "foldline_compactions_total",
    MetricKind.COUNTER,
    BOTH,
    "Compactions made, by the reason they are listed with.",
    ("reason", "preset"),
)
STAGE_DURATION: Final = Metric(
    "foldline_stage_seconds",
    MetricKind.HISTOGRAM,
    BOTH,
    "Time that a stage took to plan.",
    ("stage", "preset"),
    STAGE_SECONDS,
)
STAGE_SAVINGS: Final = Metric(
    "foldline_stage_tokens_saved_total",
    MetricKind.COUNTER,
    BOTH,
    "Tokens that a stage took out of views, when its edits were applied.",
    ("stage", "preset"),
)
QUEUE_JOBS: Final = Metric(
    "foldline_queue_jobs",
    MetricKind.GAUGE,
    API,
    "Jobs that are `queued`, those held back after a failure included, or `running`. From the database: each process "
    "tells the same, so take the maximum.",
    ("queue", "state"),
)
QUEUE_AGE: Final = Metric(
    "foldline_queue_oldest_seconds",
    MetricKind.GAUGE,
    API,
    "How long the job has waited that has waited longest; those held back do not count. From the database.",
    ("queue",),
)
PENDING: Final = Metric(
    "foldline_pending_tokens",
    MetricKind.GAUGE,
    API,
    "Tokens out of view that no summary covers yet, over all sessions. From the database.",
)
JOBS_ENDED: Final = Metric(
    "foldline_jobs_ended_total",
    MetricKind.COUNTER,
    BOTH,
    "Jobs that ended, by the state they ended in.",
    ("kind", "state"),
)
LEASE_EXPIRIES: Final = Metric(
    "foldline_lease_expiries_total",
    MetricKind.COUNTER,
    WORKER,
    "Jobs taken back from workers that kept silent.",
    ("queue",),
)
SWEEPS: Final = Metric(
    "foldline_sweeps_total",
    MetricKind.COUNTER,
    WORKER,
    "Sweeps done: looks for lapsed leases and forgotten jobs.",
)
SUMMARIZER_DURATION: Final = Metric(
    "foldline_summarizer_seconds",
    MetricKind.HISTOGRAM,
    WORKER,
    "Time until a summary was written, with all calls and pauses between them.",
    ("provider", "model"),
    SUMMARIZER_SECONDS,
)
SUMMARIZER_TOKENS: Final = Metric(
    "foldline_summarizer_tokens_total",
    MetricKind.COUNTER,
    WORKER,
    "Tokens that providers reported for summaries, `input` and `output`.",
    ("provider", "model", "direction"),
)
SUMMARIZER_FAILURES: Final = Metric(
    "foldline_summarizer_failures_total",
    MetricKind.COUNTER,
    WORKER,
    "Summaries that could not be had, after all tries.",
    ("provider", "model"),
)
OVERFLOWS: Final = Metric(
    "foldline_overflow_reports_total",
    MetricKind.COUNTER,
    API,
    "Views that a provider refused as too long, as callers reported; providers whose wording is not known are `other`.",
    ("provider",),
)
CONNECTIONS: Final = Metric(
    "foldline_database_connections",
    MetricKind.GAUGE,
    BOTH,
    "Connections to the database that are in use in the process.",
)
CONNECTIONS_MAX: Final = Metric(
    "foldline_database_connections_max",
    MetricKind.GAUGE,
    BOTH,
    "Connections to the database that the process may use.",
)
PART_UP: Final = Metric(
    "foldline_part_up",
    MetricKind.GAUGE,
    EVERY,
    "Whether a part that the process stands on answers it, 1 or 0: `database`, `broker`, and of a worker the `queues`, "
    "which do while it takes messages from them.",
    ("part",),
)

METRICS: Final = (
    REQUESTS,
    REQUEST_DURATION,
    REQUESTS_WAITING,
    TRIGGERS,
    COMPACTIONS,
    STAGE_DURATION,
    STAGE_SAVINGS,
    QUEUE_JOBS,
    QUEUE_AGE,
    PENDING,
    JOBS_ENDED,
    LEASE_EXPIRIES,
    SWEEPS,
    SUMMARIZER_DURATION,
    SUMMARIZER_TOKENS,
    SUMMARIZER_FAILURES,
    OVERFLOWS,
    CONNECTIONS,
    CONNECTIONS_MAX,
    PART_UP,
)
