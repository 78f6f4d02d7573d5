"""One trace from a request through its job to the call of the model, sent to a collector by real processes."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from time import monotonic
from typing import Any

import httpx
import pytest

from foldline.telemetry.opentelemetry import CLOSE_SECONDS, OpenTelemetry
from tests.support.eventually import eventually
from tests.support.processes.api import assistant, user
from tests.support.processes.collector import Collector, KeptSpan, collecting
from tests.support.processes.daemons import Daemon
from tests.support.processes.http import client
from tests.support.processes.installation import Installation
from tests.support.processes.program import python
from tests.support.processes.scripted_llm import SERVER_ERROR, ScriptedLLM

CALLER = "0af7651916cd43dd8448eb211c80319c"
TRACEPARENT = {"traceparent": f"00-{CALLER}-b7ad6b7169203331-01"}
SERVER, CLIENT, CONSUMER = 2, 3, 5
# More than are sent at a time.
SPANS = 3000
SECRET = "the launch code is swordfish"
APPEND = "POST /sessions/{session_id}/messages"


@pytest.fixture
def collector(installation: Installation) -> Iterator[Collector]:
    """Where processes that are started after it send their traces."""
    with collecting() as collector:
        installation.variables |= {
            "FOLDLINE_TRACES_URL": collector.url,
            "FOLDLINE_LOG_FORMAT": "json",
            "FOLDLINE_LOG_LEVEL": "debug",
        }
        yield collector


@pytest.fixture
def processes(installation: Installation, llm: ScriptedLLM, collector: Collector) -> list[Daemon]:
    """An API and a worker; what they did is complete once they have stopped."""
    return [installation.start("api", "--port", "0", until=r"listening on http[\w:/.]+"), installation.worker()]


@pytest.fixture
def service(processes: list[Daemon]) -> Iterator[httpx.Client]:
    with client(processes[0].ready.removeprefix("listening on ")) as connected:
        yield connected


def appended(service: httpx.Client) -> str:
    """The job that an append becomes which fills a session above its trigger."""
    service.post("/sessions", json={"id": "s", "model": "nobody/any", "context_window": 2000})
    said = [message for n in range(6) for message in (user(f"{n} {SECRET} " * 12), assistant(f"{n} {SECRET} " * 12))]
    answer = service.post("/sessions/s/messages", json={"messages": said}, headers=TRACEPARENT)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["compaction"]["job_id"])


def ended(service: httpx.Client, processes: list[Daemon], job_id: str) -> str:
    """The state that the job ended in; the processes have stopped."""
    eventually(lambda: service.get(f"/jobs/{job_id}").json()["state"] not in {"queued", "running"}, 30)
    state = service.get(f"/jobs/{job_id}").json()["state"]
    for process in processes:
        process.stop()
    return str(state)


def lines(process: Daemon) -> list[dict[str, Any]]:
    """The log lines of a process."""
    return [json.loads(line) for line in process.printed.splitlines() if line.startswith("{")]


def facts(span: KeptSpan) -> dict[str, Any]:
    return {name: value for name, value in span.facts.items() if not name.startswith("gen_ai.usage")}


@pytest.mark.timeout(120)
def test_a_summary_is_in_the_trace_of_the_append_that_made_it_due(
    service: httpx.Client, processes: list[Daemon], collector: Collector, llm: ScriptedLLM
) -> None:
    job_id = appended(service)
    assert ended(service, processes, job_id) == "succeeded"

    (server_span,), (done,), (called,) = (collector.named(name) for name in (APPEND, "summarize", "chat scripted"))
    assert {span.trace_id for span in (server_span, done, called)} == {CALLER}
    assert server_span.parent_id == TRACEPARENT["traceparent"].split("-")[2]
    assert (done.parent_id, called.parent_id) == (server_span.span_id, done.span_id)
    assert (server_span.service, done.service, called.service) == ("foldline-api", "foldline-worker", "foldline-worker")
    assert (server_span.kind, done.kind, called.kind) == (SERVER, CONSUMER, CLIENT)
    names = {"foldline.session_id": "s", "foldline.job_id": job_id}
    assert facts(done) == {**names, "foldline.state": "succeeded"}
    assert facts(called) == {"gen_ai.operation.name": "chat", "gen_ai.request.model": "scripted"}
    assert called.facts["gen_ai.usage.input_tokens"] > 0
    assert llm.requests[0].traceparent == f"00-{CALLER}-{called.span_id}-01"


@pytest.mark.timeout(120)
def test_log_lines_name_session_job_and_trace_and_quote_no_conversation(
    service: httpx.Client, processes: list[Daemon], collector: Collector, llm: ScriptedLLM
) -> None:
    llm.script(*[SERVER_ERROR] * 4)
    job_id = appended(service)
    assert ended(service, processes, job_id) == "failed"

    api, worker = processes
    (failed,) = [line for line in lines(worker) if line["event"].startswith("job failed")]
    assert {name: failed[name] for name in ("session_id", "job_id", "trace_id")} == {
        "session_id": "s",
        "job_id": job_id,
        "trace_id": CALLER,
    }
    (request,) = [line for line in lines(api) if line.get("route") == "/sessions/{session_id}/messages"]
    assert (request["session_id"], request["trace_id"], request["status"]) == ("s", CALLER, 201)
    assert {span.is_failed for span in collector.named("chat scripted")} == {True}
    assert [span.is_failed for span in collector.named("summarize")] == [True]
    assert all("swordfish" not in text for text in (api.printed, worker.printed, *(s.text for s in collector.spans)))


@pytest.mark.timeout(120)
def test_a_collector_that_is_away_stops_nothing(installation: Installation, llm: ScriptedLLM) -> None:
    installation.variables["FOLDLINE_TRACES_URL"] = "http://127.0.0.1:1/v1/traces"
    worker = installation.worker()
    installation.is_done()
    assert worker.stop() < 15


def test_a_collector_that_keeps_silent_does_not_hold_up_the_end_of_a_process() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        tracing = OpenTelemetry(f"http://127.0.0.1:{silent.getsockname()[1]}/v1/traces", "api")
        for number in range(SPANS):
            with tracing.span(f"span {number}"):
                pass
        begun = monotonic()
        tracing.close()
        assert monotonic() - begun < CLOSE_SECONDS + 1


def test_a_process_that_should_send_traces_and_cannot_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOLDLINE_TRACES_URL", "http://127.0.0.1:1/v1/traces")
    script = (
        "import sys; sys.modules['opentelemetry.sdk'] = None\n"
        "sys.argv = ['foldline', 'serve']\n"
        "from foldline.cli.main import main; main()"
    )
    done = python("-c", script)
    assert done.returncode == 2
    assert re.search(r"FOLDLINE_TRACES_URL is set.*the extra\s+`tracing`", done.stderr, re.DOTALL)
