"""The Prometheus metrics of one process. Counters count events; some gauges are set when Prometheus scrapes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import singledispatchmethod
from threading import Lock
from typing import Any, Final

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from foldline.log.compaction.enqueue import BACKGROUND, INTERACTIVE
from foldline.log.events import (
    OTHER,
    BranchSummarized,
    CompactionMade,
    Event,
    GatewayCall,
    JobEnded,
    JobWaits,
    LeaseLapsed,
    OverflowReported,
    StageRan,
    SummaryPatched,
    SweepDone,
    TenantLimited,
    TriggerRan,
)
from foldline.log.job_state import JobState
from foldline.log.jobs.backlog import Backlog
from foldline.log.storage.store import Store
from foldline.settings import TENANT_LIMITS
from foldline.telemetry import metric_catalog
from foldline.telemetry.metric_catalog import METRICS, Metric, MetricKind, Source
from foldline.telemetry.tracing import Silent, Tracing

# Clients may send any method name; only those of the routes become labels.
METHODS: Final = frozenset({"DELETE", "GET", "PATCH", "POST"})
# Gauges that are set at each scrape, and left out where the value is not known.
ON_SCRAPE: Final = (metric_catalog.PART_UP, metric_catalog.QUEUE_JOBS, metric_catalog.QUEUE_AGE, metric_catalog.PENDING)
TOTAL: Final = "_total"
# Exported as 0 from the start, so that `increase()` sees the first event.
KNOWN: Final[tuple[tuple[Any, ...], ...]] = (
    (metric_catalog.LEASE_EXPIRIES, INTERACTIVE),
    (metric_catalog.LEASE_EXPIRIES, BACKGROUND),
    (metric_catalog.OVERFLOWS, OTHER),
    *((metric_catalog.TENANT_LIMITED, setting) for setting in TENANT_LIMITS),
)


class Metrics:
    """The metrics of the catalog that have one of these sources, and those of the process itself. One per process."""

    media_type: Final = CONTENT_TYPE_LATEST

    def __init__(self, sources: Collection[Source] = tuple(Source)) -> None:
        # The `_created` series would double the number of series.
        disable_created_metrics()
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        # Metrics of other sources can be counted, and are not exported.
        registries = {metric: self._registry if {*metric.sources} & {*sources} else None for metric in METRICS}
        self._by_name = {
            metric.name: _MAKERS[metric.kind](metric, registry)
            for metric, registry in registries.items()
            if metric not in ON_SCRAPE
        }
        for metric, *labels in KNOWN:
            self._of(metric, *labels)
        self._on_scrape = _OnScrape()
        self._registry.register(self._on_scrape)
        # The families are set and exported under one lock.
        self._lock = Lock()

    def text(self, answers_by_part: Mapping[str, bool], backlog: Backlog | None) -> bytes:
        """See `MetricsSource`."""
        with self._lock:
            self._on_scrape.families = on_scrape(answers_by_part, backlog)
            return generate_latest(self._registry)

    def families(self) -> list[Family]:
        """All metrics as values, for another process to export."""
        return list(self._registry.collect())

    def follow(self, store: Store) -> None:
        """Count the store's events from now on, and export its connections."""
        store.subscribe(self.count)
        self._of(metric_catalog.CONNECTIONS).set_function(lambda: store.connections_in_use)
        self._of(metric_catalog.CONNECTIONS_MAX).set_function(lambda: store.connections_max)

    def follow_threads(self, waiting: Callable[[], int]) -> None:
        """Export the number of requests that wait for a thread."""
        self._of(metric_catalog.REQUESTS_WAITING).set_function(waiting)

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        method = method if method in METHODS else "other"
        self._of(metric_catalog.REQUESTS, method, route, str(status)).inc()
        self._of(metric_catalog.REQUEST_DURATION, method, route).observe(seconds)

    def expect_summarizer(self, provider: str, model: str) -> None:
        """Export 0 failures of a summarizer, so that `increase()` sees the first one."""
        self._of(metric_catalog.SUMMARIZER_FAILURES, provider, model)

    def summarized(self, provider: str, model: str, seconds: float, usage: Mapping[str, int]) -> None:
        """Count a summary, its duration and the tokens it used."""
        self._of(metric_catalog.SUMMARIZER_DURATION, provider, model).observe(seconds)
        for direction in ("input", "output"):
            self._of(metric_catalog.SUMMARIZER_TOKENS, provider, model, direction).inc(usage.get(direction, 0))

    def not_summarized(self, provider: str, model: str) -> None:
        """Count a summary that the summarizer could not write."""
        self._of(metric_catalog.SUMMARIZER_FAILURES, provider, model).inc()

    def count(self, event: Event) -> None:
        """Count an event of the session log.

        Raises:
            TypeError: this class of event is not registered below.
        """
        self._count(event)

    @singledispatchmethod
    def _count(self, event: Event) -> None:
        raise TypeError(type(event).__name__)

    @_count.register
    def _(self, triggered: TriggerRan) -> None:
        self._of(metric_catalog.TRIGGERS, triggered.reason, triggered.preset).inc()

    @_count.register
    def _(self, compacted: CompactionMade) -> None:
        self._of(metric_catalog.COMPACTIONS, compacted.reason, compacted.preset).inc()

    @_count.register
    def _(self, ran: StageRan) -> None:
        if ran.seconds is not None:
            self._of(metric_catalog.STAGE_DURATION, ran.stage, ran.preset).observe(ran.seconds)
        self._of(metric_catalog.STAGE_SAVINGS, ran.stage, ran.preset).inc(ran.tokens_saved)

    @_count.register
    def _(self, ended: JobEnded) -> None:
        self._of(metric_catalog.JOBS_ENDED, ended.kind, ended.state).inc()

    @_count.register
    def _(self, lapsed: LeaseLapsed) -> None:
        self._of(metric_catalog.LEASE_EXPIRIES, lapsed.queue).inc()

    @_count.register
    def _(self, patched: SummaryPatched) -> None:
        self._of(metric_catalog.LINES_PATCHED).inc(patched.lines)

    @_count.register
    def _(self, _swept: SweepDone) -> None:
        self._of(metric_catalog.SWEEPS).inc()

    @_count.register
    def _(self, reported: OverflowReported) -> None:
        self._of(metric_catalog.OVERFLOWS, reported.provider).inc()

    @_count.register
    def _(self, call: GatewayCall) -> None:
        self._of(metric_catalog.GATEWAY_CALLS, call.outcome).inc()
        if call.tokens:
            self._of(metric_catalog.GATEWAY_TOKENS, "history").inc(call.tokens)
            self._of(metric_catalog.GATEWAY_TOKENS, "view").inc(call.view_tokens)

    @_count.register
    def _(self, limited: TenantLimited) -> None:
        self._of(metric_catalog.TENANT_LIMITED, limited.setting).inc()

    @_count.register(JobWaits)
    @_count.register(BranchSummarized)
    def _(self, _event: Event) -> None:
        """Not counted: the metrics of jobs show both."""

    def _of(self, metric: Metric, *labels: str) -> Any:
        made = self._by_name[metric.name]
        return made.labels(*labels) if labels else made


class _OnScrape(Collector):
    """Exports the values set for this scrape; an unknown value is left out, so that no old one passes for it."""

    families: Sequence[GaugeMetricFamily] = ()

    def collect(self) -> Sequence[GaugeMetricFamily]:
        return self.families


def on_scrape(answers_by_part: Mapping[str, bool], backlog: Backlog | None) -> list[GaugeMetricFamily]:
    """The metrics of this state of the parts, and of the backlog if it is known."""
    return [_parts(answers_by_part), *(_waiting(backlog) if backlog else ())]


def _parts(answers_by_part: Mapping[str, bool]) -> GaugeMetricFamily:
    parts = _family(metric_catalog.PART_UP)
    for part, answers in answers_by_part.items():
        parts.add_metric([part], answers)
    return parts


def _waiting(backlog: Backlog) -> list[GaugeMetricFamily]:
    jobs, age, pending = (
        _family(metric) for metric in (metric_catalog.QUEUE_JOBS, metric_catalog.QUEUE_AGE, metric_catalog.PENDING)
    )
    pending.add_metric([], backlog.pending_tokens)
    for name, queue in backlog.queues.items():
        jobs.add_metric([name, JobState.QUEUED], queue.queued)
        jobs.add_metric([name, JobState.RUNNING], queue.running)
        age.add_metric([name], queue.oldest_seconds)
    return [jobs, age, pending]


def _family(metric: Metric) -> GaugeMetricFamily:
    return GaugeMetricFamily(metric.name, metric.help, labels=metric.labels)


# The client adds the counter's suffix by itself.
_MAKERS: Final[Mapping[MetricKind, Callable[[Metric, CollectorRegistry | None], Any]]] = {
    MetricKind.COUNTER: lambda metric, registry: Counter(
        metric.name.removesuffix(TOTAL), metric.help, metric.labels, registry=registry
    ),
    MetricKind.GAUGE: lambda metric, registry: Gauge(metric.name, metric.help, metric.labels, registry=registry),
    MetricKind.HISTOGRAM: lambda metric, registry: Histogram(
        metric.name, metric.help, metric.labels, buckets=metric.buckets, registry=registry
    ),
}


@dataclass(frozen=True, slots=True)
class Signals:
    """The metrics and the tracing of one process; by default no traces are sent."""

    metrics: Metrics = field(default_factory=Metrics)
    tracing: Tracing = field(default_factory=Silent)
