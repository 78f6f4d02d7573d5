"""What the chart starts, started: each process by the command, the variables and the probes of its pod."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from stack.services.ports import free_port
from tests.chart.environments import environment
from tests.chart.rendered import Pod, Rendered, render
from tests.chart.session_script import run
from tests.support.eventually import eventually
from tests.support.processes.daemons import Daemon
from tests.support.processes.http import client
from tests.support.processes.installation import Installation, installation

__all__ = ["installation"]

LISTEN = "127.0.0.1"
SECONDS = 20.0


@dataclass
class Process:
    """A pod's process, and where its container's ports are."""

    pod: Pod
    daemon: Daemon
    urls: dict[str, str]

    def answers(self, probe: str) -> bool:
        """Whether the process passes a probe of its pod."""
        get = self.pod.container[probe]["httpGet"]
        with client(self.urls[get["port"]]) as port:
            return port.get(get["path"]).is_success


@contextmanager
def started(installation: Installation, component: str) -> Iterator[tuple[Rendered, Process]]:
    """The process of a component, with ports that are free on this machine."""
    ports = {name: free_port() for name in ("http", "metrics", "flower")}
    chart = render({"listen": LISTEN, "ports": ports}, on="keda")
    pod = chart.pod(component)
    # The real services' addresses in the place of what the Secrets would have, and nothing that the pod is not given.
    given = {name: installation.variables.get(name, value) for name, value in environment(pod).items()}
    installation.variables.clear()
    daemon = installation.start(*pod.container["args"], until="metrics and probes on", **given)
    yield chart, Process(pod, daemon, {name: f"http://{LISTEN}:{port}" for name, port in ports.items()})
    assert daemon.stop() < pod.spec["terminationGracePeriodSeconds"]


@pytest.mark.timeout(120)
@pytest.mark.parametrize("component", ["api", "worker-both", "beat", "flower"])
def test_a_process_passes_the_probes_of_its_pod_and_stops_in_its_time(
    installation: Installation, component: str
) -> None:
    with started(installation, component) as (_, process):
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            eventually(lambda probe=probe: process.answers(probe), SECONDS)  # type: ignore[misc]


@pytest.mark.timeout(120)
def test_the_api_answers_the_charts_test_and_what_scales_workers(installation: Installation) -> None:
    with started(installation, "api") as (chart, process):
        eventually(lambda: process.answers("readinessProbe"), SECONDS)
        assert run(process.urls["http"], environment(process.pod)["FOLDLINE_API_KEYS"]).returncode == 0
        triggers = [trigger["metadata"] for found in chart.of("ScaledObject") for trigger in found["spec"]["triggers"]]
        with client(process.urls["metrics"]) as port:
            found = {port.get(_path(trigger["url"])).json()[trigger["valueLocation"]] for trigger in triggers}
        assert found == {0}


def _path(url: str) -> str:
    return "/" + url.split("/", 3)[3]
