"""The operator's port of each process: metrics, probes and queues, without a key."""

from __future__ import annotations

import re
import socket
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import Pipe

import httpx
import pytest

from foldline.telemetry.health import Subject
from foldline.telemetry.ops_server import serving_ops
from foldline.telemetry.process_pipes import SERVES, ProcessPipe, metrics_of
from foldline.telemetry.several_processes import MetricsOfProcesses
from tests.support.eventually import eventually, eventually_gives
from tests.support.processes.daemons import Daemon
from tests.support.processes.http import client
from tests.support.processes.installation import Installation

PORT = {"FOLDLINE_METRICS_PORT": "0"}
KEYS = {"FOLDLINE_API_KEYS": "acme:let-me-in-at-once"}
LOGIN = {"FOLDLINE_FLOWER_LOGIN": "operator:let-me-in", "FOLDLINE_FLOWER_PORT": "0"}


def port_of(process: Daemon) -> str:
    found = re.search(r"metrics and probes on (http://\S+)", process.printed)
    assert found
    return found[1]


@pytest.fixture
def api(installation: Installation) -> Daemon:
    return installation.start("api", "--port", "0", until="listening on", **PORT, **KEYS)


@pytest.fixture
def worker(installation: Installation) -> Daemon:
    return installation.worker(**PORT)


def test_the_api_serves_metrics_without_a_key_only_on_the_operators_port(api: Daemon) -> None:
    page = re.search(r"listening on (http://\S+)", api.printed)
    assert page
    with client(port_of(api)) as port, client(page[1]) as outside:
        assert "foldline_part_up" in port.get("/metrics").text
        assert port.get("/healthz").json() == {"status": "ok"}
        eventually_gives({"status": "ok", "database": "ok", "broker": "ok"}, lambda: port.get("/readyz").json())
        assert port.get("/sessions").status_code == 404
        key = {"Authorization": "Bearer let-me-in-at-once"}
        assert outside.get("/sessions", headers=key).status_code == 200
        for path in ("/metrics", "/queues"):
            assert outside.get(path).status_code == 401
            assert outside.get(path, headers=key).status_code == 404


def test_a_page_whose_name_leads_to_the_port_reads_nothing(api: Daemon) -> None:
    with client(port_of(api)) as port:
        # What Chrome and Firefox send to plain HTTP, where they add no `Sec-Fetch-Site`.
        browser = {"User-Agent": "Mozilla/5.0", "Accept-Language": "en-US,en;q=0.5"}
        for host, status in (
            ("evil.example", 403),
            ("evil.example:9090", 403),
            ("localhost:9090", 200),
            ("10.0.0.5:9090", 200),
            ("[::1]:9090", 200),
        ):
            assert port.get("/metrics", headers={"Host": host, **browser}).status_code == status, host
        assert port.get("/metrics", headers={"Host": "metrics.prod.example:9090"}).status_code == 200


def test_the_api_serves_the_backlog_as_json(installation: Installation, api: Daemon) -> None:
    installation.queue()
    with client(port_of(api)) as port:
        queues = {"summarize.interactive", "summarize.background"}
        eventually_gives(queues, lambda: set(port.get("/queues").json()))
        queue = port.get("/queues/summarize.interactive").json()
        assert {name: queue[name] for name in ("queued", "running", "load")} == {"queued": 1, "running": 0, "load": 1}
        assert queue["oldest_seconds"] > 0
        assert port.get("/queues/nothing").status_code == 404
        assert 'foldline_queue_jobs{queue="summarize.interactive",state="queued"} 1.0' in port.get("/metrics").text


def test_silence_of_the_database_is_not_taken_for_an_empty_queue(installation: Installation, api: Daemon) -> None:
    with client(port_of(api)) as port:
        with installation.store.write() as tx:
            tx.connection.exec_driver_sql("ALTER TABLE job RENAME TO elsewhere")
        assert port.get("/queues").status_code == 503
        assert port.get("/queues/summarize.background").status_code == 503
        assert port.get("/readyz").status_code == 503
        text = port.get("/metrics").text
        assert 'foldline_part_up{part="database"} 0.0' in text
        assert "foldline_queue_jobs{" not in text
        assert port.get("/healthz").status_code == 200


def test_a_worker_that_consumes_messages_is_ready_and_exports_its_metrics(
    installation: Installation, worker: Daemon
) -> None:
    installation.is_done()
    with client(port_of(worker)) as port:
        ready = {"status": "ok", "database": "ok", "broker": "ok", "queues": "ok"}
        eventually_gives(ready, lambda: port.get("/readyz").json())
        assert port.get("/healthz").json() == {"status": "ok"}
        text = port.get("/metrics").text
        assert 'foldline_jobs_ended_total{kind="summary",state="succeeded"} 1.0' in text
        assert 'foldline_summarizer_seconds_count{model="none",provider="extractive"} 1.0' in text
        assert "foldline_queue_jobs{" not in text
        assert port.get("/queues").status_code == 404


def test_a_worker_without_a_broker_is_alive_and_not_ready(installation: Installation, worker: Daemon) -> None:
    installation.broker.kill()
    with client(port_of(worker)) as port:
        eventually(lambda: port.get("/readyz").status_code == 503)
        assert port.get("/readyz").json()["broker"] == "does not answer"
        assert port.get("/healthz").status_code == 200
        installation.broker.start()
        eventually(lambda: port.get("/readyz").status_code == 200)


def test_beat_is_alive_while_it_ticks(installation: Installation) -> None:
    beat = installation.start("beat", until="beat: Starting", **PORT)
    with client(port_of(beat)) as port:
        assert port.get("/healthz").json() == {"status": "ok"}
        eventually_gives({"status": "ok", "broker": "ok"}, lambda: port.get("/readyz").json())
        assert "process_cpu_seconds_total" in port.get("/metrics").text


def test_probes_are_answered_while_a_silent_process_is_asked_for_its_metrics() -> None:
    ours, theirs = Pipe()
    theirs.send(SERVES)
    silent = ProcessPipe(ours)
    silent.note_start()
    subject = Subject(MetricsOfProcesses(lambda: metrics_of({1: silent})), {"database": lambda: True})
    listener = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    with ours, theirs, listener, serving_ops(subject, listener), ThreadPoolExecutor() as threads, client(url) as port:
        scrape = threads.submit(httpx.get, f"{url}/metrics", timeout=20)
        assert theirs.poll(20)
        assert port.get("/healthz").json() == {"status": "ok"}
        eventually_gives({"status": "ok", "database": "ok"}, lambda: port.get("/readyz").json())
        assert not scrape.done()
        assert 'foldline_part_up{part="database"} 1.0' in scrape.result().text


def test_a_port_that_is_taken_ends_the_start_with_its_name(installation: Installation, api: Daemon) -> None:
    taken = port_of(api).rpartition(":")[2]
    refused = installation.start("worker", until="cannot listen", FOLDLINE_METRICS_PORT=taken)
    assert "FOLDLINE_METRICS_PORT" in refused.printed


def test_flower_opens_nothing_to_who_has_no_login(installation: Installation) -> None:
    flower = installation.start("flower", until=r"Flower on http\S+", **PORT, **LOGIN)
    worker = installation.worker("--name", "one")
    url = flower.ready.removeprefix("Flower on ")
    with client(url) as outside, client(port_of(flower)) as port:
        for path in ("/", "/workers", "/tasks", "/broker", "/api/workers", "/api/tasks", "/task/x"):
            assert outside.get(path).status_code == 401, path
        for path in ("/metrics", "/healthcheck", "/metrics/", "//metrics"):
            refused = outside.get(path)
            assert (refused.status_code, "flower_" in refused.text) in {(404, False), (401, False)}, path
        known = httpx.BasicAuth("operator", "let-me-in")
        assert outside.get("/metrics", auth=known).status_code == 404
        eventually(lambda: "one@" in outside.get("/api/workers", params={"refresh": "1"}, auth=known).text)

        def sees_a_task() -> bool:
            # Tasks that a worker ran before Flower enabled its events are not shown.
            installation.is_done()
            return "foldline.summarize" in outside.get("/api/tasks", auth=known).text

        eventually(sees_a_task, 20)
        eventually(lambda: 'flower_worker_online{worker="one@' in port.get("/metrics").text)
        eventually_gives({"status": "ok", "broker": "ok"}, lambda: port.get("/readyz").json())
        tasks = outside.get("/api/tasks", auth=known).json().values()
        assert {task["kwargs"] for task in tasks} <= {"{'queue': 'summarize.interactive'}", None, "{}"}
    assert "error" not in worker.printed
    flower.stop()


def test_flower_does_not_start_without_a_login(installation: Installation) -> None:
    refused = installation.start("flower", until="foldline: ")
    assert "FOLDLINE_FLOWER_LOGIN" in refused.printed
    assert refused.process.wait(10) == 2
