"""What a worker counts in a process of its own arrives in its service, and what was said does not."""

from __future__ import annotations

from multiprocessing import Pipe

import pytest

from foldline.log.events import CompactionMade, JobEnded, SweepDone
from foldline.telemetry.metrics import Metrics
from foldline.telemetry.worker_metrics import RelayedMetrics, count_relayed

ENDED = JobEnded("summary", "succeeded", "s1", "j1")
SHOWN = [
    'foldline_jobs_ended_total{kind="summary",state="succeeded"} 1.0',
    'foldline_summarizer_failures_total{model="none",provider="extractive"} 1.0',
    'foldline_summarizer_tokens_total{direction="input",model="none",provider="extractive"} 7.0',
    'foldline_summarizer_seconds_count{model="none",provider="extractive"} 1.0',
    'foldline_summarizer_failures_total{model="m",provider="other"} 0.0',
]


def test_each_call_is_counted_at_the_other_end() -> None:
    reader, writer = Pipe(duplex=False)
    relayed, metrics = RelayedMetrics(writer), Metrics()
    relayed.expect_summarizer("other", "m")
    relayed.count(ENDED)
    relayed.count(SweepDone())
    relayed.summarized("extractive", "none", 0.5, {"input": 7})
    relayed.not_summarized("extractive", "none")
    relayed.heartbeat()
    writer.close()
    for _ in range(6):
        count_relayed(reader.recv(), metrics)
    with pytest.raises(EOFError):
        reader.recv()
    text = metrics.text({}, None).decode()
    assert [line for line in SHOWN if line not in text] == []


def test_what_was_said_is_not_sent() -> None:
    reader, writer = Pipe(duplex=False)
    RelayedMetrics(writer).count(CompactionMade("s1", "e1", "asked", "foldline", {"summary": "what was said"}))
    assert reader.recv() == ("count", (CompactionMade("s1", "e1", "asked", "foldline", {}),))


def test_a_reader_that_has_gone_is_no_error() -> None:
    reader, writer = Pipe(duplex=False)
    reader.close()
    RelayedMetrics(writer).count(ENDED)


def test_what_cannot_be_counted_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    count_relayed(("count", ("no event",)), Metrics())
    assert "not counted: TypeError" in caplog.text
