from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
import yaml
from promql_parser import AggregateExpr, Expr, MatrixSelector, VectorSelector, parse, walk

from charts.helm import CHART
from foldline.cli.commands.processes.api import PROCESSES
from foldline.telemetry import metric_catalog
from tests.chart.rendered import NAMESPACE, RELEASE, Json, render, rendered

METRICS = {metric.name: set(metric.labels) for metric in metric_catalog.METRICS}
# What Prometheus adds to everything that it scrapes here.
ADDED = {"job", "component", "instance"}
JOB = f"{NAMESPACE}/{RELEASE}-foldline"
RULES: Json = yaml.safe_load((CHART / "rules" / "alerts.yaml").read_text(encoding="utf-8"))
ALERTS: list[Json] = [rule for group in RULES["groups"] for rule in group["rules"]]
DASHBOARD: Json = json.loads((CHART / "dashboards" / "foldline.json").read_text(encoding="utf-8"))
PANELS: list[Json] = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
SAMPLE = re.compile("_(bucket|sum|count)$")


@dataclass
class Query:
    """What a query in PromQL looks at."""

    text: str
    selectors: list[VectorSelector] = field(default_factory=list)
    over_time: set[str] = field(default_factory=set)
    grouped: list[list[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        walk(parse(self.text.replace("$__rate_interval", "5m")), self._look)

    def _look(self, part: Expr) -> None:
        if isinstance(part, MatrixSelector):
            self.over_time.add(str(part.vector_selector.name))
        elif isinstance(part, VectorSelector):
            self.selectors.append(part)
        elif isinstance(part, AggregateExpr):
            self.grouped.append(part.modifier.labels if part.modifier else [])

    @property
    def metrics(self) -> set[str]:
        """The metrics, by the names in the table."""
        return {SAMPLE.sub("", str(selector.name)) for selector in self.selectors}

    @property
    def known(self) -> set[str]:
        """The labels there are."""
        is_histogram = any(str(selector.name).endswith("_bucket") for selector in self.selectors)
        return ADDED.union(*(METRICS.get(name, set()) for name in self.metrics), {"le"} if is_histogram else set())

    @property
    def used(self) -> set[str]:
        """The labels that are selected or grouped by."""
        matched = {found.name for selector in self.selectors for found in selector.matchers.matchers}
        return matched.union(*self.grouped)

    @property
    def left(self) -> set[str]:
        """The labels that the result has."""
        return set().union(*self.grouped) if self.grouped else self.known


def panel_queries() -> Iterator[tuple[str, Query]]:
    for panel in PANELS:
        for target in panel["targets"]:
            yield target["legendFormat"], Query(target["expr"])


def alert_queries() -> Iterator[tuple[str, Query]]:
    for alert in ALERTS:
        yield json.dumps(alert["annotations"]), Query(alert["expr"])


EXPRESSIONS = {alert["expr"] for alert in ALERTS}
QUERIES = [*panel_queries(), *alert_queries()]
TEXTS = [query.text for _, query in QUERIES]


def test_queries_use_metrics_of_the_program_and_whether_it_is_up() -> None:
    used = set().union(*(query.metrics for _, query in QUERIES))
    assert used == METRICS.keys() | {"up"}


@pytest.mark.parametrize(("shown", "query"), QUERIES, ids=TEXTS)
def test_a_query_selects_groups_and_shows_by_labels_that_there_are(shown: str, query: Query) -> None:
    assert query.used <= query.known
    assert set(re.findall(r"\{\{ ?(?:\$labels\.)?([a-z]+) ?\}\}", shown)) <= query.left


@pytest.mark.parametrize("query", [query for _, query in QUERIES], ids=TEXTS)
def test_a_query_looks_at_one_installation(query: Query) -> None:
    for selector in query.selectors:
        jobs = [found.value for found in selector.matchers.matchers if found.name == "job"]
        assert jobs == ["foldline" if query.text in EXPRESSIONS else "$job"]


@pytest.mark.parametrize("query", [query for _, query in QUERIES], ids=TEXTS)
def test_what_only_grows_is_looked_at_over_time_and_nothing_else_is(query: Query) -> None:
    names = {str(selector.name) for selector in query.selectors}
    # Whether a process answered is the one gauge whose past says more than its present.
    assert {name for name in names if name.endswith(("_total", "_bucket"))} == query.over_time - {"up"}


@pytest.mark.parametrize("query", [query for _, query in QUERIES], ids=TEXTS)
def test_what_each_api_process_reads_from_the_database_is_not_added_up(query: Query) -> None:
    if query.metrics & {"foldline_queue_jobs", "foldline_queue_oldest_seconds", "foldline_pending_tokens"}:
        assert "max" in query.text
        assert "sum" not in query.text


@pytest.mark.parametrize("alert", ALERTS, ids=[alert["alert"] for alert in ALERTS])
def test_an_alert_says_how_bad_it_is_and_where_to_read_on(alert: Json) -> None:
    assert alert["labels"]["severity"] in {"critical", "warning"}
    assert alert["annotations"].keys() == {"summary", "description", "runbook"}
    assert alert["annotations"]["runbook"] == f"docs/operate.md#{alert['alert'].lower()}"


def test_no_two_alerts_are_called_the_same() -> None:
    assert len({alert["alert"] for alert in ALERTS}) == len(ALERTS)


def test_the_charts_alerts_are_those_of_the_file_but_for_what_is_left_out() -> None:
    (group,) = rendered("production").one("PrometheusRule")["spec"]["groups"]
    expected = [alert for alert in ALERTS if alert["alert"] != "FoldlineOverflows"]
    jobs = [rule["expr"].count(f'job="{JOB}"') for rule in group["rules"]]
    assert group["rules"] == [
        {**alert, "expr": alert["expr"].replace('job="foldline"', f'job="{JOB}"')} for alert in expected
    ]
    assert min(jobs) > 0


def test_an_alert_has_the_address_of_its_section_where_the_page_is_published() -> None:
    base = "https://docs.example.com/operate"
    (group,) = render({"metrics": {"rules": {"runbookBase": base}}}, on="production").one("PrometheusRule")["spec"][
        "groups"
    ]
    addresses = {rule["alert"]: rule["annotations"]["runbook_url"] for rule in group["rules"]}
    assert addresses == {alert: f"{base}#{alert.lower()}" for alert in addresses}
    assert len(addresses) > 10


def test_metrics_carry_the_labels_that_queries_look_for() -> None:
    (endpoint,) = rendered("production").one("ServiceMonitor")["spec"]["endpoints"]
    assert endpoint["relabelings"] == [
        {"targetLabel": "job", "replacement": JOB},
        {"targetLabel": "component", "sourceLabels": ["__meta_kubernetes_pod_label_app_kubernetes_io_component"]},
        {"targetLabel": "instance", "sourceLabels": ["__meta_kubernetes_pod_name"]},
    ]


def test_components_that_alerts_name_are_there() -> None:
    named = {value for text in TEXTS for value in re.findall(r'component=~?"([^"]+)"', text)}
    assert named == {"api", "beat", "worker.*"}
    there = [pod.component for pod in rendered("minimal").pods]
    assert [name for name in named if not any(re.fullmatch(name, component) for component in there)] == []


def test_an_alert_looks_at_the_processes_that_one_process_starts() -> None:
    (alert,) = (alert for alert in ALERTS if alert["alert"] == "FoldlineApiProcessesDown")
    (selector,) = Query(alert["expr"]).selectors
    assert {found.name: found.value for found in selector.matchers.matchers}["part"] == PROCESSES
    assert f"`{PROCESSES}`" in metric_catalog.PART_UP.help


def test_the_share_of_errors_is_one_of_what_callers_ask() -> None:
    (alert,) = (alert for alert in ALERTS if alert["alert"] == "FoldlineServerErrors")
    matchers = [
        {(found.name, found.value) for found in selector.matchers.matchers if found.name == "route"}
        for selector in Query(alert["expr"]).selectors
    ]
    assert matchers == [{("route", "/healthz|/readyz|/metrics")}] * 2


def test_the_charts_dashboard_is_that_of_the_file() -> None:
    found = rendered("production").one("ConfigMap", "-dashboard")
    assert json.loads(found["data"]["foldline.json"]) == DASHBOARD
    assert found["metadata"]["labels"]["grafana_dashboard"] == "1"


def test_labels_and_folder_of_the_dashboard_are_values() -> None:
    metadata = rendered("extras").one("ConfigMap", "-dashboard")["metadata"]
    assert metadata["labels"]["grafana_dashboard"] == "yes"
    assert metadata["annotations"] == {"grafana_folder": "Agents"}


def test_panels_have_titles_and_numbers_of_their_own_and_do_not_overlap() -> None:
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
    assert len({panel["title"] for panel in PANELS}) == len(PANELS)
    places = [place for panel in DASHBOARD["panels"] for place in _cells(panel["gridPos"])]
    assert len(places) == len(set(places))
    assert max(x for x, _ in places) < 24


def test_every_variable_of_the_dashboard_is_defined() -> None:
    defined = {variable["name"] for variable in DASHBOARD["templating"]["list"]}
    used = set(re.findall(r"\$\{?([a-z]+)", json.dumps(DASHBOARD["panels"])))
    assert used == defined


def test_the_dashboard_shows_one_installation_at_a_time() -> None:
    (variable,) = (found for found in DASHBOARD["templating"]["list"] if found["name"] == "job")
    assert (variable["multi"], variable["includeAll"]) == (False, False)


def _cells(at: dict[str, int]) -> set[tuple[int, int]]:
    return {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
