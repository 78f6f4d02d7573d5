from __future__ import annotations

from dataclasses import fields
from urllib.parse import urlsplit

from foldline.log.jobs.backlog import Queue
from tests.chart.rendered import NAMESPACE, RELEASE, Json, Pod, Rendered, rendered

# What the operator's port of the API says of a queue, as far as workers are scaled by it.
NUMBERS = ("load", "oldest_seconds")
AUTOSCALERS = ("HorizontalPodAutoscaler", "ScaledObject")


def selected(chart: Rendered, labels: Json) -> list[Pod]:
    """The pods that a selector matches."""
    assert labels, "an empty selector matches everything"
    return [pod for pod in chart.pods if labels.items() <= pod.labels.items()]


def ports(pod: Pod) -> dict[str, int]:
    """The ports of a pod's container, by name."""
    return {port["name"]: port["containerPort"] for port in pod.container.get("ports", [])}


def address(chart: Rendered, url: str) -> tuple[list[Pod], str]:
    """Who answers at a URL inside the cluster: the pods, and the port's name."""
    host, port = urlsplit(url).hostname or "", urlsplit(url).port
    name, _, rest = host.partition(".")
    assert rest in {"", f"{NAMESPACE}.svc"}
    service = next(found for found in chart.of("Service") if found["metadata"]["name"] == name)["spec"]
    (target,) = (found["targetPort"] for found in service["ports"] if found["port"] == port)
    return selected(chart, service["selector"]), target


def test_a_workload_selects_its_own_pods_and_no_others(chart: Rendered) -> None:
    for workload in [*chart.of("Deployment"), *chart.of("StatefulSet")]:
        pods = selected(chart, workload["spec"]["selector"]["matchLabels"])
        assert [pod.owner for pod in pods] == [workload]


def test_a_service_leads_to_pods_that_have_its_port(chart: Rendered) -> None:
    for service in chart.of("Service"):
        pods = selected(chart, service["spec"]["selector"])
        assert pods
        assert all(port["targetPort"] in ports(pod) for port in service["spec"]["ports"] for pod in pods)


def test_a_disruption_budget_is_for_the_pods_of_one_deployment(chart: Rendered) -> None:
    for budget in chart.of("PodDisruptionBudget"):
        (pod,) = selected(chart, budget["spec"]["selector"]["matchLabels"])
        assert pod.owner["kind"] == "Deployment"


def test_an_eviction_never_takes_workers_that_write_summaries_without_a_broker(chart: Rendered) -> None:
    policies = {
        found["metadata"]["labels"]["app.kubernetes.io/component"]: found["spec"]["unhealthyPodEvictionPolicy"]
        for found in chart.of("PodDisruptionBudget")
    }
    assert policies == {name: "AlwaysAllow" if name == "api" else "IfHealthyBudget" for name in policies}


def test_an_autoscaler_scales_a_deployment_and_nothing_else_does(chart: Rendered) -> None:
    scalers = [found["spec"]["scaleTargetRef"]["name"] for kind in AUTOSCALERS for found in chart.of(kind)]
    deployments = {found["metadata"]["name"]: found["spec"] for found in chart.of("Deployment")}
    assert len(scalers) == len(set(scalers))
    assert set(scalers) == {name for name, spec in deployments.items() if "replicas" not in spec}


def test_a_scaled_worker_is_scaled_by_the_queues_that_it_takes(chart: Rendered) -> None:
    for scaler in chart.of("ScaledObject"):
        worker = chart.pod(scaler["metadata"]["labels"]["app.kubernetes.io/component"])
        taken = worker.container["args"][worker.container["args"].index("--queues") + 1].split(",")
        triggers = [trigger["metadata"] for trigger in scaler["spec"]["triggers"]]
        read = {(urlsplit(found["url"]).path, found["valueLocation"]) for found in triggers}
        with_jobs = set(taken) - {"maintenance"}
        assert read == {(f"/queues/{queue}", number) for queue in with_jobs for number in NUMBERS}


def test_what_keda_looks_for_is_there() -> None:
    assert {found.name for found in fields(Queue)} >= set(NUMBERS)


def test_keda_asks_the_operators_port_of_the_api(chart: Rendered) -> None:
    triggers = [trigger for scaler in chart.of("ScaledObject") for trigger in scaler["spec"]["triggers"]]
    for trigger in triggers:
        pods, port = address(chart, trigger["metadata"]["url"])
        assert ([pod.component for pod in pods], port) == (["api"], "metrics")


def test_a_worker_is_scaled_to_as_many_jobs_as_it_works_on_by_default() -> None:
    found = [rendered("keda").one("ScaledObject", f"-{name}")["spec"] for name in ("interactive", "background")]
    targets = [[trigger["metadata"]["targetValue"] for trigger in spec["triggers"]] for spec in found]
    assert targets == [["8", "60"], ["12", "900"]]
    assert [(spec["minReplicaCount"], spec["maxReplicaCount"]) for spec in found] == [(2, 10), (0, 40)]


def test_an_ingress_leads_to_a_port_of_a_service(chart: Rendered) -> None:
    for ingress in chart.of("Ingress"):
        assert ingress["spec"]["rules"]
        for rule in ingress["spec"]["rules"]:
            backend = rule["http"]["paths"][0]["backend"]["service"]
            service = next(found for found in chart.of("Service") if found["metadata"]["name"] == backend["name"])
            assert [port["name"] for port in service["spec"]["ports"]] == [backend["port"]["name"]]


def test_a_network_policy_opens_ports_that_its_pods_have(chart: Rendered) -> None:
    for policy in chart.of("NetworkPolicy"):
        pods = selected(chart, policy["spec"]["podSelector"]["matchLabels"])
        there = {port for pod in pods for port in ports(pod).values()}
        opened = {port["port"] for rule in policy["spec"]["ingress"] for port in rule["ports"]}
        assert opened
        assert opened <= there


def test_where_there_are_network_policies_each_pod_is_under_one_and_each_port_opened_by_one(chart: Rendered) -> None:
    policies = chart.of("NetworkPolicy")
    for pod in chart.pods if policies else []:
        its = [
            policy for policy in policies if policy["spec"]["podSelector"]["matchLabels"].items() <= pod.labels.items()
        ]
        assert its
        opened = {port["port"] for policy in its for rule in policy["spec"]["ingress"] for port in rule["ports"]}
        assert set(ports(pod).values()) <= opened


def test_the_charts_own_pods_may_connect_where_others_may_not() -> None:
    (rule,) = rendered("external-tls").one("NetworkPolicy", "-api")["spec"]["ingress"]
    test = rendered("external-tls").pod("test")
    ours = [found["podSelector"]["matchLabels"] for found in rule["from"] if "podSelector" in found]
    assert [labels.items() <= test.labels.items() for labels in ours] == [True]
    assert len(rule["from"]) == 2


def test_what_may_be_connected_to_is_open_unless_it_is_listed() -> None:
    assert "egress" not in rendered("minimal").one("NetworkPolicy", "foldline")["spec"]
    limited = rendered("external-tls").one("NetworkPolicy", "foldline")["spec"]
    assert limited["policyTypes"] == ["Ingress", "Egress"]
    dns, own, *listed = limited["egress"]
    assert {port["port"] for port in dns["ports"]} == {53}
    assert own["to"] == [{"podSelector": {"matchLabels": {"app.kubernetes.io/instance": RELEASE}}}]
    assert listed == rendered("external-tls").values["networkPolicy"]["egress"]


def test_prometheus_finds_every_process(chart: Rendered) -> None:
    for monitor in chart.of("ServiceMonitor"):
        labels = monitor["spec"]["selector"]["matchLabels"]
        (service,) = (found for found in chart.of("Service") if labels.items() <= found["metadata"]["labels"].items())
        assert [port["name"] for port in service["spec"]["ports"]] == [monitor["spec"]["endpoints"][0]["port"]]
        processes = {pod.name for pod in chart.pods if pod.is_foldline and pod.keeps_running}
        assert {pod.name for pod in selected(chart, service["spec"]["selector"])} == processes


def test_pods_that_spread_spread_among_their_own(chart: Rendered) -> None:
    for pod in chart.pods:
        for spread in pod.spec.get("topologySpreadConstraints", []):
            assert selected(chart, spread["labelSelector"]["matchLabels"]) == [pod]


def test_the_test_calls_the_api(chart: Rendered) -> None:
    pods, port = address(chart, chart.pod("test").container["command"][-1])
    assert ([pod.component for pod in pods], port) == (["api"], "http")


def test_the_addresses_made_up_for_a_trial_lead_to_the_bundled_services(chart: Rendered) -> None:
    for secret in chart.of("Secret"):
        urls = [value for value in secret["stringData"].values() if "://" in value]
        found = [address(chart, url) for url in urls]
        assert [([pod.component for pod in pods], port) for pods, port in found] == [
            (["valkey"], "valkey"),
            (["postgresql"], "postgresql"),
        ]
