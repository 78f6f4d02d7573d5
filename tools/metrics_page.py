"""`python -m tools.metrics_page > docs/metrics.md`: the page on metrics."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Final

from foldline.telemetry.metric_catalog import METRICS

INTRODUCTION: Final = """\
# Metrics

Every process serves its metrics in Prometheus's text format at `/metrics` of its operator's port, without a key:

```console
$ FOLDLINE_METRICS_PORT=9090 foldline serve
$ curl localhost:9090/metrics
```

- Set `FOLDLINE_METRICS_HOST` to an address that Prometheus reaches and others do not. It is loopback by default.
- Metrics are of all tenants: they are on no other port than the operator's.
- Each process counts for itself from its start. Scrape all of them, and add the counts up.
- `foldline api --processes N` has the metrics of its N processes on one operator's port, with the label `process`.
  A process that does not answer within two seconds is left out of a page.
- `/queues` on the API's operator's port has the jobs of each queue as JSON, and `/queues/NAME` those of one queue. An
  autoscaler for workers can read it: `load` is the number of jobs that run or could run now.
- The Prometheus client adds `process_…` (memory, CPU time, open files). Flower's operator's port serves `flower_…` for
  workers and tasks.

## Labels

| label | values |
|---|---|
| `queue` | `summarize.interactive` for summaries that a caller requested, `summarize.background` for the others |
| `preset`, `stage` | those of the session's policy |
| `provider`, `model` | of a summary: `FOLDLINE_SUMMARIZER` and `FOLDLINE_SUMMARIZER_MODEL`, or `none` |

No label names a session or a tenant.

## Metrics by name

The samples of a histogram have its name with `_bucket`, `_sum` and `_count`.

| name | kind | from | labels | meaning |
|---|---|---|---|---|
"""


def page() -> str:
    """The page: how to read metrics, and a row for each."""
    return INTRODUCTION + "".join(_rows())


def _rows() -> Iterator[str]:
    for metric in METRICS:
        labels = ", ".join(f"`{label}`" for label in metric.labels)
        sources = ", ".join(source.value for source in metric.sources)
        yield f"| `{metric.name}` | {metric.kind.value} | {sources} | {labels} | {metric.help} |\n"


if __name__ == "__main__":
    sys.stdout.write(page())
