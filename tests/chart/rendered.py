"""The chart as Helm renders it, with each set of values in `values/`."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

from charts.helm import CHART, run_helm

Json = dict[str, Any]

HERE: Final = Path(__file__).parent
VALUES: Final = {path.stem: path for path in sorted((HERE / "values").glob("*.yaml"))}
RELEASE: Final = "prod"
NAMESPACE: Final = "agents"


class NotRendered(Exception):
    """Helm refused; the message is what it said."""


class _Strict(yaml.SafeLoader):
    """Takes no key twice, as an API server would not."""

    def construct_mapping(self, node: yaml.MappingNode, *how: Any, **options: Any) -> dict[Hashable, Any]:
        keys = [self.construct_object(key) for key, _ in node.value]
        assert len(keys) == len(set(keys)), f"a key is there twice: {keys}"
        return super().construct_mapping(node, *how, **options)


@dataclass(frozen=True)
class Pod:
    """A pod in the rendered chart: the object that owns it, its labels and its spec."""

    owner: Json
    labels: Json
    spec: Json

    @property
    def name(self) -> str:
        return f"{self.owner['kind']}/{self.owner['metadata']['name']}"

    @property
    def component(self) -> str:
        return str(self.labels["app.kubernetes.io/component"])

    @property
    def container(self) -> Json:
        """The one container of a pod."""
        (container,) = self.spec["containers"]
        return dict(container)

    @property
    def is_foldline(self) -> bool:
        """Whether it runs Foldline, not a bundled service."""
        return self.component not in {"postgresql", "valkey"}

    @property
    def keeps_running(self) -> bool:
        return self.owner["kind"] in {"Deployment", "StatefulSet"}


@dataclass(frozen=True)
class Rendered:
    """What Helm makes of the chart with some values over those of a set."""

    values: Json
    manifests: tuple[Json, ...]

    def of(self, kind: str, suffix: str = "") -> list[Json]:
        """The manifests of this kind whose names end so."""
        named = [(found["kind"], found["metadata"]["name"], found) for found in self.manifests]
        return [found for its_kind, name, found in named if its_kind == kind and name.endswith(suffix)]

    def one(self, kind: str, suffix: str = "") -> Json:
        (found,) = self.of(kind, suffix)
        return found

    @property
    def pods(self) -> list[Pod]:
        return [pod for manifest in self.manifests for pod in _pods(manifest)]

    def pod(self, component: str) -> Pod:
        (found,) = (pod for pod in self.pods if pod.component == component)
        return found


def _pods(manifest: Json) -> Iterator[Pod]:
    found = manifest if manifest["kind"] == "Pod" else manifest.get("spec", {}).get("template")
    if found:
        yield Pod(manifest, found["metadata"]["labels"], found["spec"])


def render(values: Json, *, on: str = "minimal") -> Rendered:
    """The chart with these values over those of a set.

    Raises:
        NotRendered: Helm refused.
    """
    done = run_helm(
        "template", RELEASE, CHART, "--namespace", NAMESPACE, "-f", VALUES[on], "-f", "-", stdin=yaml.safe_dump(values)
    )
    if done.returncode:
        raise NotRendered(done.stderr)
    manifests = tuple(manifest for manifest in yaml.load_all(done.stdout, _Strict) if manifest)
    return Rendered(yaml.safe_load(VALUES[on].read_text(encoding="utf-8")) | values, manifests)


@cache
def rendered(name: str) -> Rendered:
    """The chart with the values of a set."""
    return render({}, on=name)
