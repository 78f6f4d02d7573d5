from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from charts.helm import CHART, run_helm
from foldline.settings import PREFIX
from tests.chart.rendered import NAMESPACE, RELEASE, VALUES, Json, Pod, Rendered, render, rendered
from tools.chart_schema import SECRETS

NEEDED = {
    "api": {"database_url", "broker_url", "api_keys"},
    "worker": {"database_url", "broker_url"},
    "beat": {"broker_url"},
    "flower": {"broker_url", "flower_login"},
    "migrate": {"database_url"},
    "test": {"api_keys"},
}
NOTES = """
{{- define "notes" }}%s{{ end }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: notes
data:
  notes: {{ include "notes" . | toJson }}
"""


def references(pod: Pod) -> dict[str, Json]:
    """The variables that a pod takes from Secrets."""
    variables = pod.container["env"]
    return {
        found["name"]: found["valueFrom"]["secretKeyRef"]
        for found in variables
        if "secretKeyRef" in found.get("valueFrom", {})
    }


def secret_settings(pod: Pod) -> set[str]:
    return {name.removeprefix(PREFIX).lower() for name in references(pod) if name.startswith(PREFIX)}


def notes(name: str, folder: Path, values: Json | None = None) -> str:
    """The notes that Helm prints for a set of values, with `values` merged over it."""
    chart = shutil.copytree(CHART, folder / "foldline")
    text = chart / "templates" / "NOTES.txt"
    (chart / "templates" / "notes.yaml").write_text(NOTES % text.read_text(encoding="utf-8"), encoding="utf-8")
    given: list[str | Path] = ["-f", VALUES[name], "-f", "-", "-s", "templates/notes.yaml"]
    done = run_helm("template", RELEASE, chart, "-n", NAMESPACE, *given, stdin=yaml.safe_dump(values or {}))
    assert done.returncode == 0, done.stderr
    return str(yaml.safe_load(done.stdout)["data"]["notes"])


def strings(part: Any) -> list[str]:
    """Every text in a manifest."""
    if isinstance(part, dict):
        return [text for item in part.items() for text in strings(list(item))]
    return [text for item in part for text in strings(item)] if isinstance(part, list) else [str(part)]


OPTIONAL = {
    "api": {"encryption_keys"},
    "worker": {"encryption_keys", "summarizer_api_key", "anthropic_api_key", "openai_api_key"},
}


def test_each_process_gets_the_secrets_that_it_needs_and_no_others(chart: Rendered) -> None:
    for pod in chart.pods:
        if pod.is_foldline:
            name = pod.container["name"]
            assert secret_settings(pod) - OPTIONAL.get(name, set()) == NEEDED[name]


def test_workers_get_the_summarizers_key_where_there_is_one() -> None:
    assert "summarizer_api_key" not in secret_settings(rendered("minimal").pod("worker-background"))
    reference = references(rendered("production").pod("worker-background"))["FOLDLINE_SUMMARIZER_API_KEY"]
    assert reference == {"name": "foldline-llm", "key": "token"}


def test_a_secret_is_never_a_value_of_a_variable(chart: Rendered) -> None:
    secret = {f"{PREFIX}{name.upper()}" for name in SECRETS} | {"POSTGRES_PASSWORD", "VALKEYCLI_AUTH"}
    for pod in chart.pods:
        assert not [found for found in pod.container["env"] if found["name"] in secret and "value" in found]


def test_a_reference_is_to_a_secret_of_the_chart_that_has_the_key_or_to_one_of_the_values(chart: Rendered) -> None:
    made = {(found["metadata"]["name"], key) for found in chart.of("Secret") for key in found["stringData"]}
    defaults = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))["secrets"]
    given = {name: defaults[name] | secret for name, secret in chart.values.get("secrets", {}).items()}
    named = {(secret["existingSecret"], secret["key"]) for secret in given.values()}
    for pod in chart.pods:
        assert {(found["name"], found["key"]) for found in references(pod).values()} <= made | named


def test_what_is_made_up_for_a_trial_is_in_its_secret_and_nowhere_else(chart: Rendered) -> None:
    passwords = [
        text for secret in chart.of("Secret") for key, text in secret["stringData"].items() if "://" not in text
    ]
    shown = [text for manifest in chart.manifests if manifest["kind"] != "Secret" for text in strings(manifest)]
    assert not [password for password in passwords for text in shown if password.rpartition(":")[2] in text]


def test_only_a_trial_has_a_secret_of_the_charts(chart: Rendered) -> None:
    assert bool(chart.of("Secret")) == ("postgresql" in chart.values)


def test_what_is_made_up_is_long_and_new_each_time() -> None:
    one, other = (render({}, on="trial").one("Secret")["stringData"] for _ in range(2))
    assert len(set(one.values()) | set(other.values())) == 2 * len(one)
    assert min(len(text) for text in one.values()) >= 32


def test_what_comes_before_everything_else_needs_nothing_that_the_chart_makes(chart: Rendered) -> None:
    made = {found["metadata"]["name"] for found in chart.manifests}
    hooks = [
        pod
        for pod in chart.pods
        if "pre-install" in pod.owner["metadata"].get("annotations", {}).get("helm.sh/hook", "")
    ]
    for pod in hooks:
        assert pod.component == "migrate"
        assert not {found["name"] for found in references(pod).values()} & made
        assert pod.spec.get("serviceAccountName") not in made


def test_with_a_bundled_database_the_migrations_do_not_come_before_it() -> None:
    job = rendered("trial").one("Job")
    assert "annotations" not in job["metadata"]
    assert job["metadata"]["name"] == f"{RELEASE}-foldline-migrate-1"


@pytest.mark.parametrize("name", VALUES)
def test_the_notes_say_where_secrets_are_and_never_what_they_are(name: str, tmp_path: Path) -> None:
    printed = notes(name, tmp_path)
    assert f"helm test {RELEASE}" in printed
    assert ("get secret" in printed) == bool(rendered(name).of("Secret"))
    assert "for a trial only" in printed or not rendered(name).of("StatefulSet")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("production", ["https://foldline.example.com/docs", "service/prod-foldline-flower"]),
        (
            "extras",
            [
                "https://flower.example.com/",
                "https://workers.example.com/",
                "networkPolicy.flower.from",
                "port-forward service/prod-foldline-api 8080:8443",
            ],
        ),
        (
            "components-off",
            ["No worker of this release takes the queue summarize.background", "Beat is not part of this release"],
        ),
        (
            "trial",
            [
                "get secret prod-foldline-trial --output jsonpath='{.data.api-keys}'",
                "Authorization: Bearer KEY",
                "Valkey is for a trial only",
            ],
        ),
    ],
)
def test_the_notes_say_how_to_go_on(name: str, words: list[str], tmp_path: Path) -> None:
    printed = notes(name, tmp_path)
    assert [word for word in words if word not in printed] == []


def test_the_notes_warn_of_a_login_that_others_can_read_and_only_of_that(tmp_path: Path) -> None:
    warning = "Without flower.ingress.tls the login is sent over plain HTTP"
    assert warning not in notes("extras", tmp_path / "private")
    assert warning in notes("extras", tmp_path / "public", {"flower": {"ingress": {"tls": []}}})


def test_the_notes_speak_of_the_policy_on_flower_only_where_it_stands_in_an_ingresss_way(tmp_path: Path) -> None:
    named = "networkPolicy.flower.from"
    assert named not in notes("production", tmp_path / "no-ingress")
    assert named not in notes("extras", tmp_path / "no-policy", {"networkPolicy": {"enabled": False}})
