"""The Prometheus metrics of several processes as one page: each series has the number of its process as a label."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.registry import Collector

from foldline.log.jobs.backlog import Backlog
from foldline.telemetry.metrics import on_scrape

# Sums over processes would fall when one is replaced, and `rate()` would take that for a restart of all.
LABEL: Final = "process"

FamiliesByProcess = Mapping[int, Iterable[Family]]


class MetricsOfProcesses:
    """A `MetricsSource` of processes by number; `read` asks them, and leaves out those that do not answer."""

    def __init__(self, read: Callable[[], FamiliesByProcess]) -> None:
        self._read = read

    def text(self, answers_by_part: Mapping[str, bool], backlog: Backlog | None) -> bytes:
        """See `MetricsSource`."""
        registry = CollectorRegistry()
        registry.register(_Given([*on_scrape(answers_by_part, backlog), *labelled(self._read())]))
        return generate_latest(registry)


def labelled(by_process: FamiliesByProcess) -> list[Family]:
    """One family of each name, with the samples of all processes."""
    merged: dict[str, Family] = {}
    for number, families in by_process.items():
        for family in families:
            into = merged.setdefault(family.name, Family(family.name, family.documentation, family.type))
            into.samples += [sample._replace(labels={**sample.labels, LABEL: str(number)}) for sample in family.samples]
    return [*merged.values()]


class _Given(Collector):
    def __init__(self, families: Iterable[Family]) -> None:
        self._families = families

    def collect(self) -> Iterable[Family]:
        return self._families
