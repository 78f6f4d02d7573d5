import re
from typing import get_args

import pytest

from foldline.log.events import (
    BranchSummarized,
    CompactionMade,
    Event,
    GatewayCall,
    GatewayOutcome,
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
from foldline.log.jobs.backlog import Backlog, Queue
from foldline.telemetry.metric_catalog import METRICS, MetricKind, Source
from foldline.telemetry.metrics import Metrics

COUNTED = {
    'foldline_triggers_total{preset="pi",reason="pending"}': TriggerRan("pending", "pi"),
    'foldline_compactions_total{preset="pi",reason="asked"}': CompactionMade("s", "e0-1", "asked", "pi", {}),
    'foldline_stage_seconds_count{preset="pi",stage="prune"}': StageRan("prune", "pi", 0.001, 1),
    'foldline_stage_tokens_saved_total{preset="pi",stage="summarize"}': StageRan("summarize", "pi", None, 1),
    'foldline_jobs_ended_total{kind="summary",state="failed"}': JobEnded("summary", "failed", "s", "j"),
    'foldline_lease_expiries_total{queue="summarize.interactive"}': LeaseLapsed("summarize.interactive"),
    "foldline_summary_lines_patched_total": SummaryPatched(1),
    "foldline_sweeps_total": SweepDone(),
    'foldline_overflow_reports_total{provider="vllm"}': OverflowReported("vllm"),
    'foldline_gateway_calls_total{outcome="not_understood"}': GatewayCall(GatewayOutcome.NOT_UNDERSTOOD),
    'foldline_tenant_limited_total{limit="tenant_jobs"}': TenantLimited("tenant_jobs"),
}
# The metrics of jobs show both.
NOT_COUNTED = (JobWaits("summarize.background"), BranchSummarized("s", "e0-1", {}))


def samples(metrics: Metrics, backlog: Backlog | None = None, **answers_by_part: bool) -> dict[str, float]:
    lines = metrics.text(answers_by_part, backlog).decode().splitlines()
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if not line.startswith("#")}


@pytest.mark.parametrize(("name", "event"), COUNTED.items(), ids=lambda value: type(value).__name__)
def test_each_event_is_counted_once(name: str, event: Event) -> None:
    metrics = Metrics()
    metrics.count(event)
    metrics.count(event)
    assert samples(metrics)[name] == 2


def test_every_event_is_counted_or_known_not_to_be() -> None:
    assert {type(event) for event in (*COUNTED.values(), *NOT_COUNTED)} == set(get_args(Event))
    metrics = Metrics()
    before = samples(metrics)
    for event in NOT_COUNTED:
        metrics.count(event)
    # Those of the process itself change by themselves.
    assert {name for name, value in samples(metrics).items() if before[name] != value and "foldline" in name} == set()


def test_a_stage_that_was_not_run_now_has_no_duration() -> None:
    metrics = Metrics()
    metrics.count(StageRan("summarize", "pi", None, 7))
    assert not [name for name in samples(metrics) if name.startswith("foldline_stage_seconds")]


def test_what_a_summary_used_is_counted_by_direction() -> None:
    metrics = Metrics()
    metrics.summarized("openai", "small", 2.0, {"input": 900, "output": 40})
    metrics.not_summarized("openai", "small")
    exported = samples(metrics)
    assert exported['foldline_summarizer_tokens_total{direction="input",model="small",provider="openai"}'] == 900
    assert exported['foldline_summarizer_tokens_total{direction="output",model="small",provider="openai"}'] == 40
    assert exported['foldline_summarizer_seconds_sum{model="small",provider="openai"}'] == 2.0
    assert exported['foldline_summarizer_failures_total{model="small",provider="openai"}'] == 1


def test_the_backlog_is_exported_only_while_it_is_known() -> None:
    metrics = Metrics()
    backlog = Backlog({"q": Queue(queued=3, running=1, load=4, oldest_seconds=2.5)}, pending_tokens=70)
    known, unknown = samples(metrics, backlog), samples(metrics)
    assert known['foldline_queue_jobs{queue="q",state="queued"}'] == 3
    assert known['foldline_queue_jobs{queue="q",state="running"}'] == 1
    assert known['foldline_queue_oldest_seconds{queue="q"}'] == 2.5
    assert known["foldline_pending_tokens"] == 70
    assert not [name for name in unknown if re.match(r"foldline_(queue|pending)", name)]


def test_a_part_that_does_not_answer_is_down() -> None:
    exported = samples(Metrics(), database=True, broker=False)
    assert exported['foldline_part_up{part="database"}'] == 1
    assert exported['foldline_part_up{part="broker"}'] == 0


def test_every_metric_of_the_catalog_is_exported_with_its_name_and_kind() -> None:
    text = Metrics().text({}, Backlog({}, 0)).decode()
    kinds = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE))
    ours = {name: kind for name, kind in kinds.items() if name.startswith("foldline_")}
    assert ours == {metric.name: metric.kind.value for metric in METRICS}


def test_a_process_exports_only_the_metrics_of_its_kind() -> None:
    text = Metrics([Source.BEAT]).text({"broker": True}, None).decode()
    exported = set(re.findall(r"^(foldline_\w+)", text, re.MULTILINE))
    assert exported == {"foldline_part_up"}


def test_counters_are_named_as_prometheus_wants_them() -> None:
    assert {metric.kind is MetricKind.COUNTER for metric in METRICS if metric.name.endswith("_total")} == {True}
    assert {metric.name.endswith("_total") for metric in METRICS if metric.kind is MetricKind.COUNTER} == {True}
