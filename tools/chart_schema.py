"""`python -m tools.chart_schema > charts/foldline/values.schema.json`: the schema of the chart's values.

charts/schema.yaml describes the chart's own values. Settings, queues and alerts are read from the program.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

import yaml
from foldline_worker.broker.queues import TASK_BY_QUEUE

from charts.helm import CHART, HERE
from foldline.settings import Settings

Json = dict[str, Any]

# Secret settings, and the value below `secrets` that names the Secret of each.
SECRETS: Final = {
    "database_url": "database",
    "broker_url": "broker",
    "api_keys": "apiKeys",
    "encryption_keys": "encryptionKeys",
    "summarizer_api_key": "summarizer",
    "anthropic_api_key": "anthropic",
    "openai_api_key": "openai",
    "flower_login": "flower",
}
# Settings that the chart also needs elsewhere, and the value that decides each.
DECIDED: Final = {
    "host": "listen",
    "metrics_host": "listen",
    "flower_host": "listen",
    "port": "ports.http",
    "metrics_port": "ports.metrics",
    "flower_port": "ports.flower",
    "task_events": "flower.enabled",
}
# Settings that the chart calculates with, so that they need a value.
COMPUTED: Final = ("threads", "database_connections", "worker_concurrency", "stop_seconds")


def schema() -> Json:
    """The schema of the values, in draft 7, which both Helm 3 and Helm 4 support."""
    source, alerts = _read(HERE / "schema.yaml"), _read(CHART / "rules" / "alerts.yaml")
    shapes = source.pop("shapes")
    written = _written(source, shapes | source["properties"])
    settings = written["properties"]["settings"]
    written["properties"]["settings"] = {
        "description": settings.pop("description"),
        "allOf": [settings, {"required": list(COMPUTED)}],
    }
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Values of the chart foldline",
        **written,
        "definitions": {
            "settings": {
                "type": "object",
                "properties": given_settings() | _given_elsewhere(),
                "additionalProperties": False,
            },
            "queue": {"enum": list(TASK_BY_QUEUE)},
            "alert": {"enum": [rule["alert"] for group in alerts["groups"] for rule in group["rules"]]},
            **_written(shapes, shapes | source["properties"]),
        },
    }


def given_settings() -> Json:
    """The settings that `settings` takes, by name: those that are not secret and that no other value decides."""
    properties = Settings.model_json_schema()["properties"]
    taken = SECRETS.keys() | DECIDED.keys()
    return {
        name: {key: value for key, value in found.items() if key not in {"title", "default"}}
        for name, found in properties.items()
        if name not in taken
    }


def _given_elsewhere() -> Json:
    """The other settings, which the schema accepts: the chart's checks refuse them and name the right value."""
    places = DECIDED | {name: f"secrets.{value}.existingSecret" for name, value in SECRETS.items()}
    return {name: {"description": f"Not here: use `{place}`."} for name, place in places.items()}


def _written(part: Any, named: Json) -> Any:
    """A part of charts/schema.yaml as JSON Schema."""
    if isinstance(part, list):
        return [_written(item, named) for item in part]
    if not isinstance(part, dict):
        return part
    if shape := part.get("shape"):
        return {"$ref": f"#/definitions/{shape}", "description": part["description"]}
    written = {key: _written(value, named) for key, value in part.items() if key != "extends"}
    if extended := part.get("extends"):
        written["properties"] = _written(named[extended], named)["properties"] | written["properties"]
    is_closed = written.get("type") == "object" and "properties" in written
    return {**written, "additionalProperties": False} if is_closed else written


def _read(path: Path) -> Json:
    found: Json = yaml.safe_load(path.read_text(encoding="utf-8"))
    return found


if __name__ == "__main__":
    sys.stdout.write(json.dumps(schema(), indent=2, ensure_ascii=False) + "\n")
