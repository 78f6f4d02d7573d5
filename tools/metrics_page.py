"""`python -m tools.metrics_page > docs/metrics.md`: the page on metrics, as it is committed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Final

from foldline.telemetry.metric_catalog import METRICS

INTRODUCTION: Final = """\
# Metrics

Every process says its figures in Prometheus's text format at `/metrics` of its operator's port, without a key: set
`FOLDLINE_METRICS_PORT`, and `FOLDLINE_METRICS_HOST` to an address that Prometheus reaches and others do not. The API
answers at `/metrics` of its own port too, to those who have a key. Each process counts for itself, from its start:
scrape all of them, and add up.

Names are as queries have them; a histogram's end in `_bucket`, `_sum` and `_count`. `queue` is `summarize.interactive`
(someone asked) or `summarize.background`; `preset` and `stage` are those of the policy; `provider` and `model` of a
summary are `FOLDLINE_SUMMARIZER` and `FOLDLINE_SUMMARIZER_MODEL`, or `none`. No label names a session or a tenant.

`/queues` of the API's operator's port has the jobs of each queue as JSON, and `/queues/NAME` those of one, for whatever
scales workers: `load` is the work there is for them now.

Beside these there are `process_…` of the Prometheus client (memory, processor time, open files), and at Flower's
operator's port what Flower says of workers and tasks, `flower_…`.

| name | kind | from | labels | meaning |
|---|---|---|---|---|
"""


def page() -> str:
    """The page: where metrics are, and a row for each."""
    return INTRODUCTION + "".join(_rows())


def _rows() -> Iterator[str]:
    for metric in METRICS:
        labels = ", ".join(f"`{label}`" for label in metric.labels)
        sources = ", ".join(source.value for source in metric.sources)
        yield f"| `{metric.name}` | {metric.kind.value} | {sources} | {labels} | {metric.help} |\n"


if __name__ == "__main__":
    sys.stdout.write(page())
