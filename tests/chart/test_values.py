from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator

from charts.helm import CHART, HERE, run_helm
from foldline.settings import Settings
from tests.chart.rendered import Json, NotRendered, render
from tools import chart_schema, values_page

# The words of JSON Schema that the schema is made of.
WORDS = {
    "$ref", "additionalProperties", "allOf", "anyOf", "description", "enum", "exclusiveMinimum", "items", "maxLength",
    "maximum", "minItems", "minLength", "minimum", "pattern", "properties", "required", "type", "uniqueItems",
}  # fmt: skip
KEDA: Json = {"enabled": True}
WORKER: Json = {"name": "one", "queues": ["summarize.interactive"]}
NONE: Json = {"existingSecret": ""}
LLM: Json = {"summarizer": "openai", "summarizer_base_url": "http://llm/v1"}

# Values over the least there can be, and what the refusal has to say.
REFUSED: dict[str, tuple[Json, str]] = {
    "a misspelt value": ({"aip": {}}, "aip"),
    "a misspelt value inside": ({"api": {"replica": 3}}, "api.*replica"),
    "a value of another kind": ({"api": {"replicas": "many"}}, "api.replicas"),
    "a value that is too low": ({"api": {"replicas": -1}}, "api.replicas"),
    "a value that is none of those there are": ({"image": {"pullPolicy": "Sometimes"}}, "image.pullPolicy"),
    "a setting that is none": ({"settings": {"lease_secnods": 5}}, "settings.*lease_secnods"),
    "a setting of another kind": ({"settings": {"lease_seconds": "long"}}, "settings.lease_seconds"),
    "a setting that is too low": ({"settings": {"lease_seconds": 0}}, "settings.lease_seconds"),
    "a setting that is none of those there are": ({"settings": {"log_level": "loud"}}, "settings.log_level"),
    "a setting taken away that the chart computes with": ({"settings": {"threads": None}}, "threads"),
    "a component's setting that is none": ({"api": {"settings": {"nonsense": 1}}}, "api.settings.*nonsense"),
    "a worker's setting that is none": (
        {"workers": [{**WORKER, "settings": {"nonsense": 1}}]},
        "workers.0.settings.*nonsense",
    ),
    "a worker without a name": ({"workers": [{"queues": ["summarize.interactive"]}]}, "workers.0.*name"),
    "a worker's name that is none": ({"workers": [{**WORKER, "name": "A_b"}]}, "workers.0.name"),
    "two workers of one name": ({"workers": [WORKER, WORKER]}, "workers: two are called one"),
    "a queue that is none": ({"workers": [{**WORKER, "queues": ["fast"]}]}, "workers.0.queues.0"),
    "a worker without queues": ({"workers": [{**WORKER, "queues": []}]}, "workers.0.queues"),
    "jobs where there are none": (
        {"workers": [{"name": "one", "queues": ["maintenance"], "autoscaling": KEDA}]},
        r"workers: one cannot be scaled by jobs \(autoscaling.enabled\)",
    ),
    "fewest workers above most": (
        {"workers": [{**WORKER, "autoscaling": {**KEDA, "minReplicas": 20}}]},
        "workers: autoscaling.minReplicas of one is above its maxReplicas",
    ),
    "fewest pods above most": (
        {"api": {"autoscaling": {"enabled": True, "minReplicas": 9}}},
        "api.autoscaling.minReplicas is above api.autoscaling.maxReplicas",
    ),
    "nobody who has to sweep": (
        {"workers": [{**WORKER, "queues": ["summarize.interactive", "maintenance"], "replicas": 0}]},
        "workers: maintenance is taken only by one, of which there may be none",
    ),
    "nobody who has to sweep while there are no jobs": (
        {"workerDefaults": {"autoscaling": {**KEDA, "minReplicas": 0}}},
        "workers: maintenance is taken only by interactive and background, of which there may be none",
    ),
    "a port that is there twice": ({"ports": {"metrics": 8080}}, "ports.http and ports.metrics are both 8080"),
    "an Ingress without hosts": ({"flower": {"ingress": {"enabled": True}}}, "flower.ingress.hosts"),
    "a summarizer without a model": ({"settings": LLM}, "settings.summarizer.*settings.summarizer_model"),
    "a component's summarizer without a model": (
        {"workerDefaults": {"settings": LLM}},
        r"settings.summarizer \(workers: (background|interactive)\): openai needs",
    ),
    "fewer connections than threads": ({"settings": {"threads": 30}}, "settings.database_connections"),
    "fewer connections than threads of a component": (
        {"api": {"settings": {"threads": 20}}},
        r"settings.database_connections \(api\)",
    ),
    "a missing database": ({"secrets": {"database": NONE}}, "secrets.database.existingSecret: .*FOLDLINE_DATABASE_URL"),
    "a missing broker": ({"secrets": {"broker": NONE}}, "secrets.broker.existingSecret: .*FOLDLINE_BROKER_URL"),
    "missing API keys": ({"secrets": {"apiKeys": NONE}}, "secrets.apiKeys.existingSecret: .*FOLDLINE_API_KEYS"),
    "a missing login": ({"secrets": {"flower": NONE}}, "secrets.flower.existingSecret: .*FOLDLINE_FLOWER_LOGIN"),
    "two databases": ({"postgresql": {"enabled": True}}, "postgresql.enabled: secrets.database.existingSecret"),
    "two brokers": ({"valkey": {"enabled": True}}, "valkey.enabled: secrets.broker.existingSecret"),
    "a setting among other variables": (
        {"pods": {"extraEnv": [{"name": "FOLDLINE_THREADS", "value": "4"}]}},
        r"extraEnv \(pods\): FOLDLINE_THREADS goes to settings.threads",
    ),
    "a secret among a worker's variables": (
        {"workers": [{**WORKER, "extraEnv": [{"name": "FOLDLINE_BROKER_URL", "value": "redis://"}]}]},
        r"extraEnv \(workers: one\): FOLDLINE_BROKER_URL goes to secrets.broker.existingSecret",
    ),
    "a port among a component's settings": (
        {"flower": {"settings": {"flower_port": 5000}}},
        r"settings.flower_port \(flower\): goes to ports.flower",
    ),
    "an alert that is none": (
        {"metrics": {"rules": {"without": ["FoldlineUp"]}}},
        "metrics.rules.without.0",
    ),
    "alerts without metrics": ({"metrics": {"rules": {"enabled": True}}}, "metrics.rules.enabled"),
    "a digest that is none": ({"image": {"digest": "latest"}}, "image.digest"),
}


def words(part: Any) -> set[str]:
    """The words of JSON Schema that a schema is made of, its own parts' among them."""
    if isinstance(part, list):
        return {word for item in part for word in words(item)}
    if not isinstance(part, dict):
        return set()
    named = part.get("properties", {})
    parts = [*named.values(), *(value for key, value in part.items() if key not in {"properties", "enum", "required"})]
    return set(part) | {word for item in parts for word in words(item)}


def test_the_committed_schema_is_made_of_the_programs_settings() -> None:
    committed = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
    assert committed == chart_schema.schema(), "run `make docs` and commit charts/foldline/values.schema.json"


def test_the_committed_page_is_made_of_the_values() -> None:
    committed = (HERE.parent / "docs" / "values.md").read_text(encoding="utf-8")
    assert committed == values_page.page(), "run `make docs` and commit docs/values.md"


def test_the_schema_is_one_and_has_no_words_of_its_own() -> None:
    described = chart_schema.schema()
    Draft7Validator.check_schema(described)
    assert (
        words({key: value for key, value in described.items() if key not in {"$schema", "title", "definitions"}})
        <= WORDS
    )
    assert words(list(described["definitions"].values())) <= WORDS


def test_every_value_has_a_row_with_a_meaning() -> None:
    rows = [line for line in values_page.page().splitlines() if line.startswith("| `")]
    assert len(rows) > 100
    assert [row for row in rows if row.endswith("|  |")] == []
    assert "| `api.replicas` | `2` | Number of pods unless autoscaling is enabled. |" in rows
    assert "| `workers[].name` |  | Name of the worker. |" in rows


def test_no_setting_that_is_a_secret_can_be_a_value() -> None:
    secret = {name for name, found in Settings.model_fields.items() if "SecretStr" in str(found.annotation)}
    assert secret | {"database_url", "broker_url"} == chart_schema.SECRETS.keys()


@pytest.mark.parametrize(
    ("name", "place"),
    [
        *chart_schema.DECIDED.items(),
        *((name, f"secrets.{value}.existingSecret") for name, value in chart_schema.SECRETS.items()),
    ],
)
def test_a_setting_that_has_its_own_place_is_refused_among_settings_with_that_place(name: str, place: str) -> None:
    with pytest.raises(NotRendered, match=re.escape(f"settings.{name} (all): goes to {place}\n")):
        render({"settings": {name: "1"}})


def test_what_is_missing_is_named_at_once_with_both_ways_to_have_it() -> None:
    done = run_helm("template", "any", CHART)
    assert [line for line in done.stderr.splitlines() if line.startswith("  secrets.")] == [
        "  secrets.apiKeys.existingSecret: the Secret that has FOLDLINE_API_KEYS",
        "  secrets.broker.existingSecret: the Secret that has FOLDLINE_BROKER_URL",
        "  secrets.database.existingSecret: the Secret that has FOLDLINE_DATABASE_URL",
        "  secrets.flower.existingSecret: the Secret that has FOLDLINE_FLOWER_LOGIN",
    ]
    assert "For a trial, which makes up what it needs, set postgresql.enabled and valkey.enabled instead" in done.stderr


@pytest.mark.parametrize(
    "values",
    [
        {"workers": [{**WORKER, "autoscaling": {**KEDA, "minReplicas": 0}}]},
        {"workerDefaults": {"replicas": 0}, "beat": {"enabled": False}},
    ],
    ids=["no worker of the release sweeps", "beat is elsewhere"],
)
def test_workers_may_go_where_they_need_not_sweep(values: Json) -> None:
    assert render(values).of("Deployment", "-worker-one" if "workers" in values else "-worker-background")


def test_the_pages_example_renders() -> None:
    (example,) = re.findall(r"^```yaml\n(.*?)^```$", values_page.page(), re.DOTALL | re.MULTILINE)
    (scaled,) = render(yaml.safe_load(example)).of("ScaledObject")
    assert (scaled["metadata"]["name"], scaled["spec"]["minReplicaCount"]) == ("prod-foldline-worker-background", 0)


@pytest.mark.parametrize(("values", "said"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_is_refused_by_its_name(values: Json, said: str) -> None:
    with pytest.raises(NotRendered) as refused:
        render(values)
    # Helm 4 writes /api/replicas where Helm 3 writes api.replicas.
    assert re.search(said, str(refused.value).replace("/", "."), re.DOTALL), str(refused.value)
