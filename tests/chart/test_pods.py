from __future__ import annotations

from math import ceil
from pathlib import PurePosixPath

import pytest
import yaml

from charts.helm import CHART
from foldline.cli.program import load_command
from tests.chart.environments import parsed
from tests.chart.rendered import Json, Pod, Rendered, rendered

# What the Pod Security Standard "restricted" allows for volumes.
VOLUMES = {"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected", "secret"}
PROBES = ("startupProbe", "livenessProbe", "readinessProbe")


def breaches(pod: Pod) -> list[str]:
    """The violations of the Pod Security Standard "restricted" by a pod."""
    spec, container = pod.spec, pod.container
    of_pod, of_container = spec.get("securityContext", {}), container.get("securityContext", {})
    user = of_container.get("runAsUser", of_pod.get("runAsUser"))
    holds = {
        "runs as another user than root": of_pod.get("runAsNonRoot") is True and user != 0,
        "seccomp": of_pod.get("seccompProfile", {}).get("type") in {"RuntimeDefault", "Localhost"},
        "no privileges": of_container.get("allowPrivilegeEscalation") is False and not of_container.get("privileged"),
        "no capabilities": of_container.get("capabilities") == {"drop": ["ALL"]},
        "nothing of the host": not {"hostNetwork", "hostPID", "hostIPC"} & spec.keys(),
        "no ports of the host": not [port for port in container.get("ports", []) if "hostPort" in port],
        "volumes": all(volume.keys() - {"name"} <= VOLUMES for volume in spec.get("volumes", [])),
        "one container": not {"initContainers", "ephemeralContainers"} & spec.keys(),
    }
    return [name for name, is_so in holds.items() if not is_so]


def probed(pod: Pod) -> dict[str, tuple[str, str]]:
    """Path and port of each probe of a pod."""
    found = {probe: pod.container[probe]["httpGet"] for probe in PROBES}
    return {probe: (get["path"], get["port"]) for probe, get in found.items()}


def test_every_pod_is_within_the_restricted_profile(chart: Rendered) -> None:
    assert {pod.name: breaches(pod) for pod in chart.pods if breaches(pod)} == {}


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("securityContext", {}),
        ("securityContext", {"runAsNonRoot": True, "runAsUser": 0, "seccompProfile": {"type": "RuntimeDefault"}}),
        ("hostNetwork", True),
        ("volumes", [{"name": "host", "hostPath": {"path": "/"}}]),
    ],
)
def test_a_pod_outside_of_the_restricted_profile_is_found(part: str, change: object) -> None:
    pod = rendered("minimal").pod("api")
    assert len(breaches(Pod(pod.owner, pod.labels, {**pod.spec, part: change}))) > 0


def test_nothing_can_be_written_but_in_volumes(chart: Rendered) -> None:
    for pod in chart.pods:
        assert pod.container["securityContext"]["readOnlyRootFilesystem"] is True
        mounted = {mount["name"] for mount in pod.container["volumeMounts"]}
        claimed = {claim["metadata"]["name"] for claim in pod.owner["spec"].get("volumeClaimTemplates", [])}
        assert mounted == {volume["name"] for volume in pod.spec.get("volumes", [])} | claimed


def test_every_program_has_a_folder_for_temporary_files(chart: Rendered) -> None:
    for pod in chart.pods:
        if pod.is_foldline:
            paths = {mount["name"]: PurePosixPath(mount["mountPath"]) for mount in pod.container["volumeMounts"]}
            assert paths["temporary"].parts == ("/", "tmp")


def test_every_container_has_requests_and_limits(chart: Rendered) -> None:
    for pod in chart.pods:
        for part in ("requests", "limits"):
            assert pod.container["resources"][part].keys() >= {"cpu", "memory"}


def test_no_pod_sees_the_clusters_token_or_variables_of_services(chart: Rendered) -> None:
    for pod in chart.pods:
        assert pod.spec["automountServiceAccountToken"] is False
        assert pod.spec["enableServiceLinks"] is False


def test_what_keeps_running_is_probed_where_it_listens(chart: Rendered) -> None:
    for pod in chart.pods:
        if pod.keeps_running and pod.is_foldline:
            port = "http" if pod.component == "api" else "metrics"
            assert port in {found["name"] for found in pod.container["ports"]}
            assert probed(pod) == {
                "startupProbe": ("/healthz", port),
                "livenessProbe": ("/healthz", port),
                "readinessProbe": ("/readyz", port),
            }


def test_bundled_services_are_probed_by_their_own_clients() -> None:
    commands = {name: rendered("trial").pod(name).container for name in ("postgresql", "valkey")}
    probed = {name: {" ".join(found[probe]["exec"]["command"]) for probe in PROBES} for name, found in commands.items()}
    assert probed == {
        "postgresql": {"pg_isready --host 127.0.0.1 --username foldline"},
        "valkey": {"sh -c valkey-cli ping | grep -q PONG"},
    }


def test_a_process_is_given_longer_to_start_than_to_be_found_dead_and_that_longer_than_to_be_left_alone() -> None:
    for pod in rendered("trial").pods:
        if pod.keeps_running:
            probes = [pod.container[probe] for probe in PROBES]
            starting, dead, left_alone = (probe["periodSeconds"] * probe["failureThreshold"] for probe in probes)
            assert starting > dead > left_alone


def test_what_ends_by_itself_ends_and_is_not_probed(chart: Rendered) -> None:
    for pod in chart.pods:
        if not pod.keeps_running:
            assert pod.spec["restartPolicy"] == "Never"
            assert not [probe for probe in PROBES if probe in pod.container]


def test_a_process_may_end_before_it_is_killed(chart: Rendered) -> None:
    for pod in chart.pods:
        if pod.is_foldline:
            leaving = pod.container.get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
            assert pod.spec["terminationGracePeriodSeconds"] >= leaving + ceil(parsed(pod).stop_seconds) + 5


def test_the_api_still_answers_while_routers_learn_that_it_leaves() -> None:
    assert rendered("minimal").pod("api").container["lifecycle"] == {"preStop": {"sleep": {"seconds": 5}}}


def test_a_longer_stop_is_given_more_time() -> None:
    chart = rendered("production")
    graces = {
        name: chart.pod(name).spec["terminationGracePeriodSeconds"]
        for name in ("worker-interactive", "worker-background")
    }
    assert graces == {"worker-interactive": 20, "worker-background": 35}


def test_there_is_one_beat_at_a_time() -> None:
    beat = rendered("minimal").pod("beat").owner["spec"]
    assert (beat["replicas"], beat["strategy"]) == (1, {"type": "Recreate"})


def test_each_worker_takes_its_queues() -> None:
    chart = rendered("keda")
    commands = {
        pod.component: " ".join(pod.container["args"]) for pod in chart.pods if pod.container["name"] == "worker"
    }
    assert commands == {
        "worker-interactive": "worker --queues summarize.interactive,maintenance --name interactive",
        "worker-background": "worker --queues summarize.background --name background",
        "worker-both": "worker --queues summarize.interactive,summarize.background --name both",
        "worker-sweeper": "worker --queues maintenance --name sweeper",
    }


def test_commands_and_options_are_those_of_the_program(chart: Rendered) -> None:
    for pod in chart.pods:
        if pod.is_foldline and "args" in pod.container:
            name, *options = pod.container["args"]
            known = {option for parameter in load_command(name).params for option in parameter.opts}
            assert {option for option in options if option.startswith("--")} <= known


def test_the_image_is_the_charts_version_unless_a_digest_is_given() -> None:
    version = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))["appVersion"]
    images = {name: {pod.container["image"] for pod in rendered(name).pods} for name in ("minimal", "production")}
    assert images["minimal"] == {f"foldline:{version}"}
    assert images["production"] == {f"registry.example.com/foldline@sha256:{'0123456789abcdef' * 4}"}


def test_what_is_for_all_pods_is_in_all_and_a_components_own_goes_over_it() -> None:
    pods = {pod.component: pod for pod in rendered("extras").pods}
    for pod in pods.values():
        assert pod.labels["example.com/for"] == "all"
        assert pod.labels["cost-center"] == "42"
        assert pod.spec["serviceAccountName"] == "foldline"
        assert pod.container["envFrom"] == [{"configMapRef": {"name": "all-of-the-house"}}]
        assert {"name": "hooks", "mountPath": "/hooks", "readOnly": True} in pod.container["volumeMounts"]
    annotations = {name: _template(pod)["annotations"]["example.com/for"] for name, pod in pods.items()}
    assert annotations == {name: "api" if name == "api" else "all" for name in pods}
    assert pods["beat"].spec["nodeSelector"] == {"kubernetes.io/arch": "amd64", "example.com/steady": "true"}
    assert "tolerations" not in pods["worker-all"].spec
    assert "runAsUser" not in pods["worker-all"].spec["securityContext"]
    assert pods["api"].container["livenessProbe"]["periodSeconds"] == 30
    assert pods["flower"].container["livenessProbe"]["periodSeconds"] == 10


def test_certificates_are_files_that_the_group_can_read() -> None:
    for pod in rendered("external-tls").pods:
        assert {"name": "certificates", "mountPath": "/etc/foldline/certificates", "readOnly": True} in pod.container[
            "volumeMounts"
        ]
        (volume,) = (found for found in pod.spec["volumes"] if found["name"] == "certificates")
        assert volume["secret"] == {"secretName": "foldline-certificates", "defaultMode": 0o440}


def _template(pod: Pod) -> Json:
    return dict(pod.owner["metadata"] if pod.owner["kind"] == "Pod" else pod.owner["spec"]["template"]["metadata"])
