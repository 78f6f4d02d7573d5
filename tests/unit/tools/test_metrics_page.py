from pathlib import Path

from foldline.telemetry.metric_catalog import METRICS
from tools.metrics_page import page


def test_the_committed_page_is_that_of_the_program() -> None:
    committed = Path(__file__).parents[3] / "docs" / "metrics.md"
    assert committed.read_text(encoding="utf-8") == page(), "run `make docs` and commit docs/metrics.md"


def test_every_metric_has_a_row_with_a_meaning() -> None:
    rows = [line for line in page().splitlines() if line.startswith("| `foldline_")]
    assert len(rows) == len(METRICS)
    assert not [row for row in rows if row.endswith("|  |")]
