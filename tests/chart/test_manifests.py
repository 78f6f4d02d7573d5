from __future__ import annotations

import json
import re
from importlib.metadata import version

import kubernetes_validate
import pytest
import yaml
from jsonschema import Draft7Validator

from charts.helm import CHART, run_helm
from tests.chart.rendered import HERE, NAMESPACE, VALUES, Json, Rendered, rendered

KUBERNETES = "1.37"
OUR_KINDS = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in (HERE / "kinds").glob("*.json")}
# What Kubernetes allows in a label's value and in most names.
LABEL = re.compile(r"^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$", re.IGNORECASE)


def check(manifest: Json) -> None:
    """Raises unless the manifest is one of its kind, with no field that the kind does not have."""
    if manifest["kind"] in OUR_KINDS:
        Draft7Validator(OUR_KINDS[manifest["kind"]]).validate(manifest)
    else:
        kubernetes_validate.validate(manifest, KUBERNETES, strict=True)


def test_every_manifest_is_one_of_its_kind(chart: Rendered) -> None:
    for manifest in chart.manifests:
        check(manifest)


@pytest.mark.parametrize("kind", ["Deployment", "ScaledObject", "ServiceMonitor", "PrometheusRule", "NetworkPolicy"])
def test_a_manifest_with_a_field_that_its_kind_does_not_have_is_found(kind: str) -> None:
    manifest = next(found for name in VALUES for found in rendered(name).of(kind))
    with pytest.raises(Exception, match=r"Additional properties are not allowed \('nonsense' was unexpected\)"):
        check({**manifest, "spec": {**manifest["spec"], "nonsense": 1}})


def test_a_cluster_that_is_too_old_is_refused() -> None:
    done = run_helm("template", CHART, "--values", VALUES["minimal"], "--kube-version", "1.29.9")
    assert done.returncode != 0
    assert "incompatible with Kubernetes v1.29.9" in done.stderr


def test_no_two_manifests_are_one_object(chart: Rendered) -> None:
    names = [(found["kind"], found["metadata"]["name"]) for found in chart.manifests]
    assert len(names) == len(set(names))


def test_everything_is_in_the_namespace_with_names_and_labels_that_kubernetes_takes(chart: Rendered) -> None:
    for manifest in chart.manifests:
        metadata = manifest["metadata"]
        assert metadata["namespace"] == NAMESPACE
        assert LABEL.match(metadata["name"]), metadata["name"]
        assert all(LABEL.match(value) for value in metadata["labels"].values())


@pytest.mark.parametrize("name", VALUES)
def test_the_strict_linter_has_nothing_to_say(name: str) -> None:
    done = run_helm("lint", "--strict", "--quiet", CHART, "--values", VALUES[name])
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "", "")


def test_the_chart_has_the_version_of_the_program() -> None:
    described = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))
    assert described["version"] == described["appVersion"] == version("foldline")
