"""The dashboard's queries in a real Prometheus over replays through a running stack, looked at in Chromium."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import time
from typing import Any, Final
from urllib.parse import urlencode

import httpx
import pytest
import yaml

from stack.services.ports import HOST, free_port
from stack.stack import Stack
from tests.browser.looking import busy_stack, keep, page, replay
from tests.support.eventually import eventually
from tests.support.processes.http import client
from tests.support.processes.program import REPOSITORY

pytestmark = pytest.mark.timeout(600)

CHART: Final = REPOSITORY / "charts" / "foldline"
RULES: Final = CHART / "rules" / "alerts.yaml"
JOB: Final = "foldline"
SCRAPE_SECONDS: Final = 1
# What Grafana fills in.
VARIABLES: Final = {"$job": JOB, "$__rate_interval": "15s"}
PICTURES: Final = {
    "dashboard-requests": ("Requests", "Time of a request, median"),
    "dashboard-compaction": ("Tokens saved", "Pending tokens"),
    "dashboard-queues": ("Jobs", "Time of a summary"),
}
REPLAYS: Final = 3


@pytest.fixture(scope="module")
def queries() -> dict[str, list[str]]:
    """The queries of each panel of the dashboard."""
    dashboard = json.loads((CHART / "dashboards" / "foldline.json").read_bytes())
    panels = [panel for panel in dashboard["panels"] if panel.get("targets")]
    return {panel["title"]: [_filled(target["expr"]) for target in panel["targets"]] for panel in panels}


def _filled(query: str) -> str:
    for name, value in VARIABLES.items():
        query = query.replace(name, value)
    return query


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A Prometheus that has watched a stack through some replays, a missing session and an overflow."""
    if shutil.which("prometheus") is None:
        pytest.skip("there is no Prometheus here: the dashboard's queries were not tried")
    folder = tmp_path_factory.mktemp("prometheus")
    with busy_stack() as (stack, _), watching(stack, folder) as connected:
        for number in range(REPLAYS):
            replay(stack, folder, seed=10 * number + 1)
        _overflow(stack)
        eventually(lambda: _series(connected, f'foldline_overflow_reports_total{{job="{JOB}",provider="anthropic"}}'))
        # A rate needs two samples of what changed.
        _overflow(stack)
        eventually(lambda: _series(connected, "sum(rate(foldline_overflow_reports_total[15s])) > 0"), 30)
        yield connected


def _overflow(stack: Stack) -> None:
    with client(stack.api_url) as api:
        assert api.get("/sessions/nobody").status_code == 404
        session = f"/sessions/{api.post('/sessions', json={'model': 'openai/gpt-4o'}).json()['id']}"
        api.post(f"{session}/overflow", json={"error": "prompt is too long", "version": 1})


@contextmanager
def watching(stack: Stack, folder: Path) -> Iterator[httpx.Client]:
    """A client of a Prometheus that scrapes every process of the stack."""
    watched = [member for member in stack.members if member.metrics_url]
    targets = [
        {
            "targets": [member.metrics_url.removeprefix("http://")],
            "labels": {"component": member.name.removesuffix("-1"), "instance": member.name},
        }
        for member in watched
    ]
    scraping = {"job_name": JOB, "scrape_interval": f"{SCRAPE_SECONDS}s", "static_configs": targets}
    configuration = {"scrape_configs": [scraping], "rule_files": [str(RULES)]}
    (folder / "prometheus.yaml").write_text(yaml.safe_dump(configuration))
    address = f"{HOST}:{free_port()}"
    command = [
        "prometheus", f"--config.file={folder / 'prometheus.yaml'}", f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address={address}",
    ]  # fmt: skip
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process, client(f"http://{address}") as connected:
        try:
            eventually(lambda: _is_scraping(connected, len(watched)), 60)
            yield connected
        finally:
            process.terminate()


def _is_scraping(connected: httpx.Client, processes: int) -> bool:
    try:
        return connected.get("/-/ready").is_success and len(_series(connected, "up == 1")) == processes
    except httpx.TransportError:
        return False


def _series(connected: httpx.Client, query: str) -> list[Any]:
    """What a query answers now."""
    answer = connected.get("/api/v1/query", params={"query": query}).json()
    series: list[Any] = answer.get("data", {}).get("result", [])
    return series


def _over_time(connected: httpx.Client, query: str) -> list[Any]:
    """The series of a query over the last minutes, which Prometheus must understand."""
    now = time()
    answer = connected.get("/api/v1/query_range", params={"query": query, "start": now - 300, "end": now, "step": 2})
    assert answer.json()["status"] == "success", (query, answer.text)
    series: list[Any] = answer.json()["data"]["result"]
    return series


def test_every_panel_of_the_dashboard_shows_something_after_replays(
    prometheus: httpx.Client, queries: dict[str, list[str]]
) -> None:
    empty = {title: query for title, own in queries.items() for query in own if not _over_time(prometheus, query)}
    assert not empty


def test_the_alerts_are_rules_that_prometheus_takes_and_none_fires_where_all_is_well(prometheus: httpx.Client) -> None:
    (group,) = yaml.safe_load(RULES.read_text("utf-8"))["groups"]
    eventually(lambda: all(rule["health"] != "unknown" for rule in _rules(prometheus)), 90)
    # Views were refused on purpose, if not often enough for an alert.
    assert {rule["name"]: (rule["health"], rule["state"]) for rule in _rules(prometheus)} == {
        rule["alert"]: ("ok", "inactive") for rule in group["rules"]
    }


def _rules(connected: httpx.Client) -> list[Any]:
    """The rules as Prometheus has them, with their states."""
    (group,) = connected.get("/api/v1/rules").json()["data"]["groups"]
    rules: list[Any] = group["rules"]
    return rules


@pytest.mark.parametrize("name", PICTURES)
def test_the_queries_can_be_looked_at(prometheus: httpx.Client, queries: dict[str, list[str]], name: str) -> None:
    shown = {
        f"g{number}.{key}": value
        for number, title in enumerate(PICTURES[name])
        for key, value in {"expr": queries[title][0], "tab": "0", "range_input": "1m"}.items()
    }
    with page() as graphs:
        graphs.goto(f"{prometheus.base_url}/graph?{urlencode(shown)}")
        eventually(lambda: graphs.locator("svg").count() >= len(PICTURES[name]), 30)
        keep(graphs, name)
