from __future__ import annotations

from functools import cache
from ipaddress import ip_address
from typing import Any

import pytest
import yaml

from charts.helm import CHART
from foldline.settings import PREFIX, Settings
from tests.chart.environments import environment, parsed
from tests.chart.rendered import Json, Pod, Rendered, render, rendered
from tools.chart_schema import COMPUTED, DECIDED, SECRETS, given_settings

# A setting that only goes with others.
SAMPLES: Json = {
    "policy": "neurolink",
    "summarizer": "openai,extractive",
    "summarizers": '{"fast": {"model": "m"}}',
    "summarizer_window": 32_000,
    "summarizer_concurrency": 8,
    "summarizer_output_tokens": 4_000,
    "gateway_context_window": 32_000,
    "database_connections": 99,
    "summarizer_base_url": "http://llm/v1",
    "anthropic_base_url": "http://proxy/anthropic",
    "openai_base_url": "http://proxy/v1",
    "retention_days": 30,
    "retention_days_by_tenant": "acme:7",
    "traces_url": "http://collector/v1/traces",
}


def sample(name: str, described: Json) -> Any:
    """A value of a setting that is not its default."""
    if name in SAMPLES:
        return SAMPLES[name]
    if "enum" in described:
        return described["enum"][-1]
    default = Settings.model_fields[name].default
    if isinstance(default, bool):
        return not default
    return default + 1 if isinstance(default, (int, float)) else "words, and: more"


@cache
def with_every_setting() -> tuple[Json, Rendered]:
    """Every setting that can be given, and the chart with them."""
    settings = {name: sample(name, described) for name, described in given_settings().items()}
    return settings, render({"settings": settings})


def programs(chart: Rendered) -> list[Pod]:
    return [pod for pod in chart.pods if pod.is_foldline]


def test_every_variable_of_the_program_is_a_setting(chart: Rendered) -> None:
    known = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields}
    for pod in programs(chart):
        assert environment(pod).keys() <= known


def test_every_environment_is_one_that_the_program_takes(chart: Rendered) -> None:
    for pod in programs(chart):
        assert parsed(pod).stop_seconds > 0


def test_a_process_listens_where_its_ports_are(chart: Rendered) -> None:
    for pod in programs(chart):
        settings = parsed(pod)
        listening = {"http": settings.port, "metrics": settings.metrics_port, "flower": settings.flower_port}
        assert all(port["containerPort"] == listening[port["name"]] for port in pod.container.get("ports", []))
        hosts = (settings.host, settings.metrics_host, settings.flower_host)
        assert all(ip_address(host).is_unspecified for host in hosts)


def test_a_setting_is_given_by_one_value() -> None:
    assert sorted([*given_settings(), *SECRETS, *DECIDED]) == sorted(Settings.model_fields)


@pytest.mark.parametrize("name", given_settings())
def test_a_setting_that_is_given_arrives_at_every_process(name: str) -> None:
    settings, chart = with_every_setting()
    for pod in programs(chart):
        assert getattr(parsed(pod), name) == settings[name]


@pytest.mark.parametrize("has_flower", [True, False])
@pytest.mark.parametrize(("name", "path"), DECIDED.items())
def test_a_setting_that_the_chart_decides_is_given_by_its_value(name: str, path: str, *, has_flower: bool) -> None:
    ports = {"http": 8123, "metrics": 9123, "flower": 5123}
    values: Json = {"listen": "::", "ports": ports, "flower": {"enabled": has_flower}}
    given: Any = values
    for key in path.split("."):
        given = given[key]
    assert {getattr(parsed(pod), name) for pod in programs(render(values))} == {given}


def test_what_the_chart_computes_with_has_the_programs_defaults() -> None:
    defaults = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))["settings"]
    assert defaults == {name: Settings.model_fields[name].default for name in COMPUTED}


def test_a_component_may_have_settings_of_its_own() -> None:
    chart = rendered("production")
    assert [parsed(chart.pod(f"worker-{name}")).worker_concurrency for name in ("interactive", "background")] == [4, 16]
    extras = rendered("extras")
    assert [parsed(extras.pod(name)).threads for name in ("api", "beat")] == [40, 16]


def test_a_setting_of_zero_goes_over_another() -> None:
    chart = render({"settings": {"retry_seconds": 7}}, on="extras")
    assert [parsed(chart.pod(name)).retry_seconds for name in ("worker-all", "api")] == [0, 7]


def test_a_setting_of_nothing_is_as_good_as_not_given() -> None:
    pods = render({"settings": {"summarizer_model": None}, "api": {"settings": {"traces_url": None}}}).pods
    assert not {"FOLDLINE_SUMMARIZER_MODEL", "FOLDLINE_TRACES_URL"} & {
        name for pod in pods for name in environment(pod)
    }


def test_a_large_number_stays_a_number() -> None:
    assert environment(rendered("production").pod("api"))["FOLDLINE_MAX_BODY_BYTES"] == "67108864"


def test_variables_that_an_operator_adds_are_beside_the_settings() -> None:
    variables = {found["name"] for found in rendered("extras").pod("worker-all").container["env"]}
    assert variables >= {"HTTPS_PROXY", "NO_PROXY", "FOLDLINE_THREADS"}
