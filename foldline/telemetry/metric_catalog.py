"""The catalog of metrics, as data. Tests check the code, dashboards, alerts and documentation against it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Final


class MetricKind(Enum):
    """The Prometheus type of a metric."""

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
    """A metric. Its `name` is the one in queries, without the `_bucket`, `_sum` and `_count` of a histogram.

    `sources` are the kinds of processes that export it. `buckets` are a histogram's upper bounds.
    """

    name: str
    kind: MetricKind
    sources: tuple[Source, ...]
    help: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()

    @property
    def sample_names(self) -> Iterator[str]:
        """The names of its series in Prometheus."""
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
    "Responses sent; status 499 means that the client closed the connection first.",
    ("method", "route", "status"),
)
REQUEST_DURATION: Final = Metric(
    "foldline_request_seconds",
    MetricKind.HISTOGRAM,
    API,
    "Time until the last byte of the response, with the time that `Prefer: wait` and event streams wait for jobs.",
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
    "Plans made because a view was over its `threshold`, a caller `asked`, or a provider reported an `overflow`, and "
    "summaries requested because entries were `pending`.",
    ("reason", "preset"),
)
COMPACTIONS: Final = Metric(
    "foldline_compactions_total",
    MetricKind.COUNTER,
    BOTH,
    "Compactions made, by the `reason` that the API lists.",
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
    "Tokens that a stage's applied edits took out of views.",
    ("stage", "preset"),
)
QUEUE_JOBS: Final = Metric(
    "foldline_queue_jobs",
    MetricKind.GAUGE,
    API,
    "Jobs that are `queued`, also those held back after a failure, or `running`. From the database: each process "
    "exports the same value, so take the maximum.",
    ("queue", "state"),
)
QUEUE_AGE: Final = Metric(
    "foldline_queue_oldest_seconds",
    MetricKind.GAUGE,
    API,
    "How long the oldest waiting job has waited; jobs that are held back do not count. From the database.",
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
    "Jobs taken back from workers that did not extend their lease.",
    ("queue",),
)
SWEEPS: Final = Metric(
    "foldline_sweeps_total",
    MetricKind.COUNTER,
    WORKER,
    "Finished sweeps for lapsed leases and forgotten jobs.",
)
SUMMARIZER_DURATION: Final = Metric(
    "foldline_summarizer_seconds",
    MetricKind.HISTOGRAM,
    WORKER,
    "Time until a summary was written, with all calls and the pauses between them.",
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
    "Summaries that could not be written, after all attempts.",
    ("provider", "model"),
)
OVERFLOWS: Final = Metric(
    "foldline_overflow_reports_total",
    MetricKind.COUNTER,
    API,
    "Overflows that callers reported; providers whose wording is not known are `other`.",
    ("provider",),
)
CONNECTIONS: Final = Metric(
    "foldline_database_connections",
    MetricKind.GAUGE,
    BOTH,
    "Database connections that the process uses now.",
)
CONNECTIONS_MAX: Final = Metric(
    "foldline_database_connections_max",
    MetricKind.GAUGE,
    BOTH,
    "Database connections that the process may use.",
)
PART_UP: Final = Metric(
    "foldline_part_up",
    MetricKind.GAUGE,
    EVERY,
    "Whether a dependency of the process answers, 1 or 0: `database`, `broker`, and in a worker `queues`, which is 1 "
    "while it takes messages.",
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
