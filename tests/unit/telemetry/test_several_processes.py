"""The metrics of several processes on one page."""

from __future__ import annotations

from foldline.telemetry.metric_catalog import Source
from foldline.telemetry.metrics import Metrics
from foldline.telemetry.several_processes import MetricsOfProcesses


def page_of(*requests: int) -> list[str]:
    """The lines of the page when each process has answered so many requests."""
    processes = {number: Metrics([Source.API]) for number in range(1, len(requests) + 1)}
    for metrics, count in zip(processes.values(), requests, strict=True):
        for _ in range(count):
            metrics.answered("GET", "/sessions", 200, 0.02)
    read = {number: metrics.families() for number, metrics in processes.items()}
    return MetricsOfProcesses(lambda: read).text({"database": True}, None).decode().splitlines()


def test_each_series_has_the_number_of_its_process() -> None:
    lines = page_of(2, 5)
    labels = 'method="GET",process="%s",route="/sessions",status="200"'
    for number, count in (("1", 2), ("2", 5)):
        assert f"foldline_requests_total{{{labels % number}}} {count}.0" in lines


def test_a_metric_is_described_once() -> None:
    described = [line.split()[2] for line in page_of(1, 1, 1) if line.startswith("# TYPE")]
    assert sorted(set(described)) == sorted(described)
    assert "foldline_request_seconds" in described


def test_what_all_share_has_no_process() -> None:
    assert 'foldline_part_up{part="database"} 1.0' in page_of(0, 0)
