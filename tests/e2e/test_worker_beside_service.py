"""The worker of a shared service: a process of its own does the jobs, and nobody can see that in the answers."""

from __future__ import annotations

import os
import re
import signal
from contextlib import AbstractContextManager
from pathlib import Path

import httpx
import psutil
import pytest
from foldline_worker.processes.beside_service import PROCESS_NAME

from tests.support.eventually import eventually
from tests.support.processes import shared_service
from tests.support.processes.daemons import Daemon
from tests.support.processes.databases import Server
from tests.support.processes.scripted_llm import ScriptedLLM, slow
from tests.support.processes.shared_service import SECONDS

NEW = {"model": "openai/gpt-4o", "context_window": 8_000}
SUMMARIES = re.compile(r'^foldline_jobs_ended_total\{.*state="succeeded".*\} (\S+)$', re.MULTILINE)


def serving(folder: Path, **variables: str) -> AbstractContextManager[tuple[Daemon, httpx.Client]]:
    """The service, where only the messages of jobs, and the first sweep of a process, find them."""
    return shared_service.serving(folder, FOLDLINE_SWEEP_SECONDS="3600", **variables)


def workers_of(running: Daemon) -> list[psutil.Process]:
    return shared_service.children_of(running, PROCESS_NAME)


def the_worker_of(running: Daemon) -> psutil.Process:
    eventually(lambda: workers_of(running) != [], SECONDS)
    (worker,) = workers_of(running)
    return worker


def job_of(caller: httpx.Client) -> str:
    """The address of a job: a new session's summary, which its messages ask for."""
    session = f"/sessions/{caller.post('/sessions', json=NEW).json()['id']}"
    said = [
        {"role": ("user", "assistant")[at % 2], "content": f"What was said as number {at}. " * 8} for at in range(60)
    ]
    for _ in range(4):
        assert caller.post(f"{session}/messages", json={"messages": said}).status_code == 201
    (job, *_) = caller.get(f"{session}/jobs").json()["items"]
    return f"/jobs/{job['id']}"


def summaries_at(address: str) -> float:
    return sum(float(found) for found in SUMMARIES.findall(httpx.get(f"{address}/metrics").text))


def await_end(caller: httpx.Client, job: str) -> None:
    eventually(lambda: caller.get(job).json()["state"] == "succeeded", SECONDS)


@pytest.mark.timeout(120)
def test_jobs_are_done_in_a_process_that_is_replaced_if_it_ends(tmp_path: Path) -> None:
    with serving(tmp_path) as (running, caller):
        worker = the_worker_of(running)
        await_end(caller, job_of(caller))
        # It gets a message of each job.
        await_end(caller, job_of(caller))
        # What is sent to the group of the service is the service's alone.
        assert os.getpgid(worker.pid) != os.getpgid(running.process.pid)

        counted = running.printed.partition("metrics and probes on ")[2].split()[0]
        eventually(lambda: summaries_at(counted) >= 2, SECONDS)

        worker.kill()
        await_end(caller, job_of(caller))
        assert the_worker_of(running).pid != worker.pid
        assert httpx.get(f"{counted}/healthz").status_code == 200
    assert "has ended; another one begins in" in running.printed


@pytest.mark.timeout(120)
def test_jobs_on_postgresql_are_done_there_too(tmp_path: Path, postgresql: Server) -> None:
    with (
        postgresql.database(is_empty=True) as database,
        serving(tmp_path, FOLDLINE_DATABASE_URL=database) as (running, caller),
    ):
        the_worker_of(running)
        await_end(caller, job_of(caller))
        # The messages of jobs arrive there as well.
        await_end(caller, job_of(caller))


@pytest.mark.timeout(120)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_process_ends_with_its_service_and_with_nothing_else(tmp_path: Path, number: signal.Signals) -> None:
    with serving(tmp_path, FOLDLINE_STOP_SECONDS="2") as (running, caller):
        worker = the_worker_of(running)
        # Some stop a service by a signal to each of its processes.
        worker.send_signal(signal.SIGTERM)
        await_end(caller, job_of(caller))
        assert worker.is_running()
        os.kill(running.process.pid, number)
        running.process.wait(SECONDS)
        eventually(lambda: not worker.is_running(), 10)


@pytest.mark.timeout(120)
def test_a_job_that_runs_when_the_service_stops_is_handed_back(tmp_path: Path) -> None:
    with ScriptedLLM(slow(60)) as llm:
        summarizer = {
            "FOLDLINE_SUMMARIZER": "openai",
            "FOLDLINE_SUMMARIZER_MODEL": "scripted",
            "FOLDLINE_SUMMARIZER_BASE_URL": llm.base_url,
        }
        with serving(tmp_path, **summarizer) as (running, caller):
            job = job_of(caller)
            eventually(lambda: llm.requests != [], SECONDS)
            running.process.send_signal(signal.SIGTERM)
            assert running.process.wait(SECONDS) == 0
        with serving(tmp_path, **summarizer) as (_, caller):
            await_end(caller, job)
            assert caller.get(job).json()["attempts"] == 1
    assert llm.disconnects == 1


@pytest.mark.timeout(120)
def test_a_process_that_hangs_does_not_keep_its_service_from_ending(tmp_path: Path) -> None:
    with serving(tmp_path, FOLDLINE_STOP_SECONDS="1") as (running, _):
        worker = the_worker_of(running)
        worker.suspend()
        running.process.send_signal(signal.SIGTERM)
        running.process.wait(20)
        eventually(lambda: not worker.is_running(), 10)


@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    "variables",
    [
        {"FOLDLINE_API_KEYS": ""},
        pytest.param({"FOLDLINE_LARGE_REQUEST_PROCESSES": "0"}, marks=pytest.mark.thorough),
    ],
)
def test_a_service_for_one_does_the_jobs_itself(tmp_path: Path, variables: dict[str, str]) -> None:
    with serving(tmp_path, **variables) as (running, caller):
        await_end(caller, job_of(caller))
        assert workers_of(running) == []
