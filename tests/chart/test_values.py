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

# The keywords of JSON Schema that the schema uses.
WORDS = {
    "$ref", "additionalProperties", "allOf", "anyOf", "description", "enum", "exclusiveMinimum", "items", "maxLength",
    "maximum", "minItems", "minLength", "minimum", "pattern", "properties", "required", "type", "uniqueItems",
}  # fmt: skip
KEDA: Json = {"enabled": True}
WORKER: Json = {"name": "one", "queues": ["summarize.interactive"]}
NONE: Json = {"existingSecret": ""}
LLM: Json = {"summarizer": "openai", "summarizer_base_url": "http://llm/v1"}

# Values beside the minimal ones, and a part of the message that refuses them.
REFUSED: dict[str, tuple[Json, str]] = {
    "a misspelt value": ({"aip": {}}, "aip"),
    "a misspelt value inside": ({"api": {"replica": 3}}, "api.*replica"),
    "a value of another kind": ({"api": {"replicas": "many"}}, "api.replicas"),
    "a value that is too low": ({"api": {"replicas": -1}}, "api.replicas"),
    "a value that is not in the list": ({"image": {"pullPolicy": "Sometimes"}}, "image.pullPolicy"),
    "an unknown setting": ({"settings": {"lease_secnods": 5}}, "settings.*lease_secnods"),
    "a setting of another kind": ({"settings": {"lease_seconds": "long"}}, "settings.lease_seconds"),
    "a setting that is too low": ({"settings": {"lease_seconds": 0}}, "settings.lease_seconds"),
    "a setting whose value is not in the list": ({"settings": {"log_level": "loud"}}, "settings.log_level"),
    "null for a setting that the chart calculates with": ({"settings": {"threads": None}}, "threads"),
    "an unknown setting of a component": ({"api": {"settings": {"nonsense": 1}}}, "api.settings.*nonsense"),
    "an unknown setting of a worker": (
        {"workers": [{**WORKER, "settings": {"nonsense": 1}}]},
        "workers.0.settings.*nonsense",
    ),
    "a worker without a name": ({"workers": [{"queues": ["summarize.interactive"]}]}, "workers.0.*name"),
    "an invalid name of a worker": ({"workers": [{**WORKER, "name": "A_b"}]}, "workers.0.name"),
    "two workers of one name": ({"workers": [WORKER, WORKER]}, "workers: two are called one"),
    "an unknown queue": ({"workers": [{**WORKER, "queues": ["fast"]}]}, "workers.0.queues.0"),
    "a worker without queues": ({"workers": [{**WORKER, "queues": []}]}, "workers.0.queues"),
    "scaling by jobs without a queue of jobs": (
        {"workers": [{"name": "one", "queues": ["maintenance"], "autoscaling": KEDA}]},
        r"workers: one takes only maintenance, so that it cannot be scaled by jobs \(autoscaling.enabled\)",
    ),
    "minReplicas of a worker above maxReplicas": (
        {"workers": [{**WORKER, "autoscaling": {**KEDA, "minReplicas": 20}}]},
        "workers: autoscaling.minReplicas of one is above its maxReplicas",
    ),
    "minReplicas of the API above maxReplicas": (
        {"api": {"autoscaling": {"enabled": True, "minReplicas": 9}}},
        "api.autoscaling.minReplicas is above api.autoscaling.maxReplicas",
    ),
    "no worker that sweeps": (
        {"workers": [{**WORKER, "queues": ["summarize.interactive", "maintenance"], "replicas": 0}]},
        r"workers: no worker that takes maintenance \(one\) is sure to have a pod",
    ),
    "no worker that sweeps while there are no jobs": (
        {"workerDefaults": {"autoscaling": {**KEDA, "minReplicas": 0}}},
        r"workers: no worker that takes maintenance \(interactive and background\) is sure to have a pod",
    ),
    "one port for two": ({"ports": {"metrics": 8080}}, "ports.http and ports.metrics are both 8080"),
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
    "an unknown alert": (
        {"metrics": {"rules": {"without": ["FoldlineUp"]}}},
        "metrics.rules.without.0",
    ),
    "alerts without metrics": ({"metrics": {"rules": {"enabled": True}}}, "metrics.rules.enabled"),
    "an invalid digest": ({"image": {"digest": "latest"}}, "image.digest"),
}


def words(part: Any) -> set[str]:
    """The keywords of JSON Schema that a schema and its parts use."""
    if isinstance(part, list):
        return {word for item in part for word in words(item)}
    if not isinstance(part, dict):
        return set()
    named = part.get("properties", {})
    parts = [*named.values(), *(value for key, value in part.items() if key not in {"properties", "enum", "required"})]
    return set(part) | {word for item in parts for word in words(item)}


def test_the_committed_schema_is_up_to_date() -> None:
    committed = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
    assert committed == chart_schema.schema(), "run `make docs` and commit charts/foldline/values.schema.json"


def test_the_committed_page_is_up_to_date() -> None:
    committed = (HERE.parent / "docs" / "values.md").read_text(encoding="utf-8")
    assert committed == values_page.page(), "run `make docs` and commit docs/values.md"


def test_the_schema_is_valid_and_uses_only_known_keywords() -> None:
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


def test_a_secret_setting_can_not_be_a_value() -> None:
    secret = {name for name, found in Settings.model_fields.items() if "SecretStr" in str(found.annotation)}
    assert secret | {"database_url", "broker_url"} == chart_schema.SECRETS.keys()


@pytest.mark.parametrize(
    ("name", "place"),
    [
        *chart_schema.DECIDED.items(),
        *((name, f"secrets.{value}.existingSecret") for name, value in chart_schema.SECRETS.items()),
    ],
)
def test_a_setting_with_its_own_value_is_refused_below_settings_with_the_name_of_that_value(
    name: str, place: str
) -> None:
    with pytest.raises(NotRendered, match=re.escape(f"settings.{name} (all): goes to {place}\n")):
        render({"settings": {name: "1"}})


def test_all_missing_secrets_are_named_at_once_with_the_alternative_for_a_trial() -> None:
    done = run_helm("template", "any", CHART)
    assert [line for line in done.stderr.splitlines() if line.startswith("  secrets.")] == [
        "  secrets.apiKeys.existingSecret: the Secret that has FOLDLINE_API_KEYS",
        "  secrets.broker.existingSecret: the Secret that has FOLDLINE_BROKER_URL",
        "  secrets.database.existingSecret: the Secret that has FOLDLINE_DATABASE_URL",
        "  secrets.flower.existingSecret: the Secret that has FOLDLINE_FLOWER_LOGIN",
    ]
    assert (
        "For a trial, set postgresql.enabled and valkey.enabled instead: the chart then generates what it needs"
        in done.stderr
    )


@pytest.mark.parametrize(
    "values",
    [
        {"workers": [{**WORKER, "autoscaling": {**KEDA, "minReplicas": 0}}]},
        {"workerDefaults": {"replicas": 0}, "beat": {"enabled": False}},
    ],
    ids=["no worker of the release sweeps", "beat is elsewhere"],
)
def test_workers_may_scale_to_zero_if_another_one_sweeps(values: Json) -> None:
    assert render(values).of("Deployment", "-worker-one" if "workers" in values else "-worker-background")


def test_the_pages_example_renders() -> None:
    (example,) = re.findall(r"^```yaml\n(.*?)^```$", values_page.page(), re.DOTALL | re.MULTILINE)
    (scaled,) = render(yaml.safe_load(example)).of("ScaledObject")
    assert (scaled["metadata"]["name"], scaled["spec"]["minReplicaCount"]) == ("prod-foldline-worker-background", 0)


@pytest.mark.parametrize(("values", "said"), REFUSED.values(), ids=REFUSED)
def test_impossible_values_are_refused_by_name(values: Json, said: str) -> None:
    with pytest.raises(NotRendered) as refused:
        render(values)
    # Helm 4 writes /api/replicas where Helm 3 writes api.replicas.
    assert re.search(said, str(refused.value).replace("/", "."), re.DOTALL), str(refused.value)
