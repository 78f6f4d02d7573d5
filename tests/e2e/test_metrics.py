"""The metrics after a replay, compared with what the replay itself counted."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from foldline.telemetry.metric_catalog import METRICS
from tests.support.processes.agent_provider import AgentProvider, agent_provider
from tests.support.processes.http import client, items_of
from tests.support.processes.installation import Installation
from tests.support.processes.program import foldline
from tests.support.processes.scripted_llm import ScriptedLLM
from tests.support.recorded import anthropic_session, chat_session, coding_session, write_sessions

PORT = {"FOLDLINE_METRICS_PORT": "0"}
SESSION = "/sessions/{session_id}"
ROUTES = {
    "append": ("POST", f"{SESSION}/messages"),
    "context": ("GET", f"{SESSION}/context"),
    "compact": ("POST", f"{SESSION}/compact"),
}


class Exported:
    """The samples of several processes together."""

    def __init__(self, texts: list[str]) -> None:
        families = [family for text in texts for family in text_string_to_metric_families(text)]
        self.samples = [sample for family in families for sample in family.samples]

    @property
    def names(self) -> set[str]:
        return {sample.name for sample in self.samples}

    def sum(self, name: str, **labels: str) -> float:
        """Of all samples with this name and these labels."""
        return sum(
            sample.value for sample in self.samples if sample.name == name and labels.items() <= sample.labels.items()
        )

    def by(self, name: str, label: str) -> dict[str, float]:
        """The sums by one label, without those that are nothing."""
        values = {sample.labels[label] for sample in self.samples if sample.name == name}
        return {value: total for value in values if (total := self.sum(name, **{label: value}))}


@pytest.fixture
def provider() -> Iterator[AgentProvider]:
    with agent_provider() as provider:
        yield provider


@pytest.mark.timeout(180)
def test_every_metric_is_exported_after_a_replay_and_counts_what_the_replay_counted(
    installation: Installation, llm: ScriptedLLM, provider: AgentProvider, tmp_path: Path
) -> None:
    upstream = {"FOLDLINE_OPENAI_BASE_URL": f"{provider.url}/v1"}
    processes = [installation.start("api", "--port", "0", until=r"listening on http\S+", **PORT, **upstream)]
    processes += [installation.worker(**PORT) for _ in range(2)]
    url = processes[0].ready.removeprefix("listening on ")
    sessions = write_sessions(
        tmp_path / "sessions.jsonl",
        coding=coding_session(1, turns=8),
        anthropic=anthropic_session(2, turns=10),
        chat=chat_session(3, turns=20),
    )

    done = foldline(
        "replay", sessions, "--window", "5000", "--compact-every", "10", "--url", url, "--json", tmp_path / "report"
    )

    assert done.returncode == 0, done.stdout + done.stderr
    said = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Hello."}]}
    assert httpx.post(f"{url}/v1/chat/completions", json=said, timeout=30).is_success
    report = json.loads((tmp_path / "report").read_bytes())
    exported = Exported([metrics_of(process.printed) for process in processes])
    assert {name for metric in METRICS for name in metric.sample_names} <= exported.names

    # A replay ends each session with one view whatever its size, which it does not time.
    untimed = {"context": report["sessions"]}
    for request, (method, route) in ROUTES.items():
        answered = report["latency_seconds"][request]["requests"] + untimed.get(request, 0)
        assert exported.sum("foldline_request_seconds_count", method=method, route=route) == answered, request
        assert exported.sum("foldline_requests_total", method=method, route=route) == answered, request
    assert exported.sum("foldline_requests_total", method="POST", route="/sessions", status="201") == report["sessions"]
    assert exported.by("foldline_compactions_total", "reason") == report["compactions_by_reason"]
    assert exported.by("foldline_jobs_ended_total", "state") == report["jobs_by_state"]
    assert exported.by("foldline_triggers_total", "reason")["asked"] == report["latency_seconds"]["compact"]["requests"]
    assert exported.sum("foldline_queue_jobs") == 0
    with client(url) as connected:
        jobs = [job for session in items_of(connected, "/sessions") for job in jobs_of(connected, session["id"])]
        stats = [connected.get(f"/sessions/{s['id']}/stats").json() for s in items_of(connected, "/sessions")]
    assert exported.sum("foldline_pending_tokens") == sum(of["pending_tokens"] for of in stats)
    usage = sum((Counter(job["usage"] or {}) for job in jobs), Counter[str]())
    assert exported.by("foldline_summarizer_tokens_total", "direction") == {k: usage[k] for k in ("input", "output")}
    assert exported.sum("foldline_summarizer_seconds_count", provider="openai", model="scripted") == len(llm.requests)
    saving = {stage for stage, saved in exported.by("foldline_stage_tokens_saved_total", "stage").items() if saved}
    assert saving == set(report["compactions_by_stage"])


def metrics_of(printed: str) -> str:
    """The metrics of a process, from the operator's port whose address it printed."""
    found = re.search(r"metrics and probes on (http://[\d.:]+)", printed)
    assert found
    with client(found[1]) as port:
        return port.get("/metrics").text


def jobs_of(connected: Any, session_id: str) -> list[Any]:
    return items_of(connected, f"/sessions/{session_id}/jobs")
