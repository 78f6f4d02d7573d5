"""All metrics as data. Tests compare the recorded metrics, dashboards, alerts and documentation with this table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Final


class MetricKind(Enum):
    """Prometheus's type of a metric."""

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
    """A metric, by its name in queries without the `_bucket`, `_sum` and `_count` of a histogram.

    `sources` are the processes that report it.
    """

    name: str
    kind: MetricKind
    sources: tuple[Source, ...]
    help: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()

    @property
    def sample_names(self) -> Iterator[str]:
        """The names of its samples in Prometheus."""
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
    "Requests answered. Status 499: the client closed the connection before the answer.",
    ("method", "route", "status"),
)
REQUEST_DURATION: Final = Metric(
    "foldline_request_seconds",
    MetricKind.HISTOGRAM,
    API,
    "Time until the last byte of the answer. Includes the waiting of `Prefer: wait` and of event streams.",
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
    "Plans made, by reason: the view was over its trigger (`threshold`), the caller requested it (`asked`), a provider "
    "refused the view (`overflow`), or hidden tokens needed a summary (`pending`).",
    ("reason", "preset"),
)
COMPACTIONS: Final = Metric(
    "foldline_compactions_total",
    MetricKind.COUNTER,
    BOTH,
    "Compactions made, by their `reason`.",
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
    "Tokens that a stage took out of views, counted when its edits are applied.",
    ("stage", "preset"),
)
QUEUE_JOBS: Final = Metric(
    "foldline_queue_jobs",
    MetricKind.GAUGE,
    API,
    "Jobs that are `queued` (including those postponed after a failure) or `running`. From the database: each process "
    "reports the same, so take the maximum.",
    ("queue", "state"),
)
QUEUE_AGE: Final = Metric(
    "foldline_queue_oldest_seconds",
    MetricKind.GAUGE,
    API,
    "Age of the job that has waited longest, without postponed jobs. From the database.",
    ("queue",),
)
PENDING: Final = Metric(
    "foldline_pending_tokens",
    MetricKind.GAUGE,
    API,
    "Tokens out of view that no summary covers yet, in all sessions. From the database.",
)
JOBS_ENDED: Final = Metric(
    "foldline_jobs_ended_total",
    MetricKind.COUNTER,
    BOTH,
    "Jobs that ended, by their final state.",
    ("kind", "state"),
)
LEASE_EXPIRIES: Final = Metric(
    "foldline_lease_expiries_total",
    MetricKind.COUNTER,
    WORKER,
    "Jobs taken back from workers whose lease expired.",
    ("queue",),
)
SWEEPS: Final = Metric(
    "foldline_sweeps_total",
    MetricKind.COUNTER,
    WORKER,
    "Sweeps done. A sweep finds expired leases and waiting jobs without a notification.",
)
SUMMARIZER_DURATION: Final = Metric(
    "foldline_summarizer_seconds",
    MetricKind.HISTOGRAM,
    WORKER,
    "Time to write a summary, with all calls and the pauses between them.",
    ("provider", "model"),
    SUMMARIZER_SECONDS,
)
SUMMARIZER_TOKENS: Final = Metric(
    "foldline_summarizer_tokens_total",
    MetricKind.COUNTER,
    WORKER,
    "Tokens that providers reported for summaries: `input` and `output`.",
    ("provider", "model", "direction"),
)
SUMMARIZER_FAILURES: Final = Metric(
    "foldline_summarizer_failures_total",
    MetricKind.COUNTER,
    WORKER,
    "Summaries that failed after all attempts.",
    ("provider", "model"),
)
LINES_PATCHED: Final = Metric(
    "foldline_summary_lines_patched_total",
    MetricKind.COUNTER,
    WORKER,
    "Lines of the ledger that were added to summaries which lacked them, as they were used while the summary was "
    "written.",
)
OVERFLOWS: Final = Metric(
    "foldline_overflow_reports_total",
    MetricKind.COUNTER,
    API,
    "Views that a provider refused as too long, as callers report. Providers with an unknown wording are `other`.",
    ("provider",),
)
GATEWAY_CALLS: Final = Metric(
    "foldline_gateway_calls_total",
    MetricKind.COUNTER,
    API,
    "Requests to the routes of providers' APIs, by what went on: `view`, `whole` (nothing was compacted), `shadow`, "
    "`sent_again` after a refusal for length, or as it came: `not_understood`, `no_view`, `failed`, `too_slow`, `off`, "
    "and `view_refused` after another refusal of the view.",
    ("outcome",),
)
GATEWAY_TOKENS: Final = Metric(
    "foldline_gateway_tokens_total",
    MetricKind.COUNTER,
    API,
    "Input tokens of conversations that came to these routes: `history` as they came, `view` as they went on, or would "
    "have gone on where the gateway is a shadow.",
    ("part",),
)
TENANT_LIMITED: Final = Metric(
    "foldline_tenant_limited_total",
    MetricKind.COUNTER,
    BOTH,
    "How often a limit of a tenant or key was met, by the setting: a request was refused, an automatic job not queued, "
    "or a summary written without a model.",
    ("limit",),
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
    "Maximum database connections of the process.",
)
PART_UP: Final = Metric(
    "foldline_part_up",
    MetricKind.GAUGE,
    EVERY,
    "1 if a part that the process depends on answers, else 0: `database`, `broker`, for a worker `queues`, which "
    "answer while the worker takes messages from them, and for `foldline api --processes N` `processes`, which answer "
    "while one of the N serves.",
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
    LINES_PATCHED,
    OVERFLOWS,
    GATEWAY_CALLS,
    GATEWAY_TOKENS,
    TENANT_LIMITED,
    CONNECTIONS,
    CONNECTIONS_MAX,
    PART_UP,
)
