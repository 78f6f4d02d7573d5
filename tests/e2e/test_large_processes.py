"""A large request on a shared service: a process of its own answers it, and nobody can see that in the answer."""

from __future__ import annotations

import os
import signal
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import psutil
import pytest
from foldline_api.http.bounds.large_processes import PROCESS_NAME

from foldline.priority import LONG_SLICE_NANOSECONDS, SLICE_NANOSECONDS
from tests.support.eventually import eventually
from tests.support.processes.daemons import Daemon
from tests.support.processes.shared_service import SECONDS, VARIABLES, children_of, serving
from tests.support.slices import needs_slices, slice_of

NEW = {"model": "openai/gpt-4o", "context_window": 8_000}
ALONE, CALLERS = 50, 8
TRACE = "0af7651916cd43dd8448eb211c80319c"


def said(number: int) -> list[dict[str, Any]]:
    return [
        {"role": ("user", "assistant")[at % 2], "content": f"What was said as number {at}."} for at in range(number)
    ]


def processes_of(running: Daemon) -> list[psutil.Process]:
    return children_of(running, PROCESS_NAME)


@pytest.mark.timeout(120)
def test_what_a_large_request_did_is_seen_as_if_it_had_been_done_here(tmp_path: Path) -> None:
    with serving(tmp_path, FOLDLINE_TRACES_URL="http://127.0.0.1:9/v1/traces") as (running, caller):
        session = f"/sessions/{caller.post('/sessions', json=NEW).json()['id']}"
        assert caller.post(f"{session}/messages", json={"messages": said(2)}).status_code == 201
        assert processes_of(running) == []

        large, once = (
            {"messages": said(600)},
            {"Idempotency-Key": "once", "traceparent": f"00-{TRACE}-b7ad6b7169203331-01"},
        )
        first = caller.post(f"{session}/messages", json=large, headers=once)
        again = caller.post(f"{session}/messages", json=large, headers=once)
        assert (first.status_code, len(first.json()["entry_ids"])) == (201, 600)
        assert (again.status_code, again.json()) == (201, first.json())
        (process,) = processes_of(running)
        # What is sent to the group of the service is the service's alone.
        assert os.getpgid(process.pid) != os.getpgid(running.process.pid)
        with sqlite3.connect(tmp_path / "foldline.db") as database:
            (stored,) = database.execute("SELECT traceparent FROM job").fetchone()
        assert TRACE in stored
        # The worker of this process gets the message of the job: the sweep would take longer.
        (job, *_) = caller.get(f"{session}/jobs").json()["items"]
        eventually(lambda: caller.get(f"/jobs/{job['id']}").json()["state"] == "succeeded", 5)
        counted = running.printed.partition("metrics and probes on ")[2].split()[0]
        metrics = httpx.get(f"{counted}/metrics").text
        assert 'foldline_triggers_total{preset="foldline",reason="threshold"} 1.0' in metrics

        problem = caller.post("/sessions/none/messages", json=large)
        assert (problem.status_code, problem.json()["type"]) == (404, "/problems/not-found")
        assert problem.headers["content-type"] == "application/problem+json"
        stale = caller.post(f"{session}/messages", json=large, headers={"If-Match": '"1"'})
        assert (stale.status_code, stale.json()["type"]) == (412, "/problems/stale-version")
        made = caller.post("/compact", json={**NEW, "messages": said(400), "target_tokens": 500})
        assert (made.status_code, made.headers["content-type"]) == (200, "application/json")


@pytest.mark.timeout(120)
def test_a_tenant_that_takes_more_than_its_share_is_answered_there_while_another_asks_too(tmp_path: Path) -> None:
    keys = f"{VARIABLES['FOLDLINE_API_KEYS']},theirs:another-long-key"
    with serving(tmp_path, FOLDLINE_API_KEYS=keys) as (running, caller):
        messages = f"/sessions/{caller.post('/sessions', json=NEW).json()['id']}/messages"
        small, there = {"messages": said(60)}, {"Authorization": "Bearer another-long-key"}
        for _ in range(ALONE):
            assert caller.post(messages, json=small).status_code == 201
        assert processes_of(running) == []
        # What is stored before is answered in the same way after.
        once = {"Idempotency-Key": "once"}
        first = caller.post(messages, json=small, headers=once)
        flood(running, caller, messages, there)
        again = caller.post(messages, json=small, headers=once)
        stale = caller.post(messages, json=small, headers={"If-Match": '"1"'})
        assert (again.status_code, again.json()) == (201, first.json())
        assert (stale.status_code, stale.json()["type"]) == (412, "/problems/stale-version")

        with suspended(running):
            # First: after a minute the tenant is answered as ever, and a process may begin slowly.
            eventually(lambda: has_to_wait(caller, messages, there), SECONDS)
            # Who asks for little is answered as ever, and so is who reads.
            own = caller.post("/sessions", json=NEW, headers=there).json()["id"]
            assert caller.post(f"/sessions/{own}/messages", json=small, headers=there).status_code == 201
            assert caller.get(messages.replace("messages", "context")).status_code == 200
            # A large request has another process.
            large = {**NEW, "messages": said(400), "target_tokens": 500}
            assert caller.post("/compact", json=large, headers=there).status_code == 200
            assert caller.post("/compact", json=large).status_code == 200
        assert len(processes_of(running)) == 2


@needs_slices
@pytest.mark.timeout(120)
def test_the_service_has_short_slices_of_a_processor_and_its_process_long_ones(tmp_path: Path) -> None:
    with serving(tmp_path) as (running, caller):
        session = f"/sessions/{caller.post('/sessions', json=NEW).json()['id']}"
        assert caller.post(f"{session}/messages", json={"messages": said(600)}).status_code == 201
        (process,) = processes_of(running)
        assert slice_of(running.process.pid) == SLICE_NANOSECONDS
        assert slice_of(process.pid) == LONG_SLICE_NANOSECONDS


def has_to_wait(caller: httpx.Client, messages: str, others: dict[str, str]) -> bool:
    """Whether one of many appends waits for a process that does nothing, while another tenant asks too."""
    assert caller.post("/sessions", json=NEW, headers=others).status_code == 201

    def append(_number: int) -> bool:
        try:
            assert caller.post(messages, json={"messages": said(60)}, timeout=2).status_code == 201
        except httpx.ReadTimeout:
            return True
        return False

    with ThreadPoolExecutor(CALLERS) as callers:
        return any(list(callers.map(append, range(4 * CALLERS))))


def flood(running: Daemon, caller: httpx.Client, messages: str, others: dict[str, str]) -> None:
    """Append until that is done in another process, while another tenant asks too."""
    small = {"messages": said(60)}

    def is_moved() -> bool:
        assert caller.post("/sessions", json=NEW, headers=others).status_code == 201
        with ThreadPoolExecutor(CALLERS) as callers:
            answers = list(callers.map(lambda _: caller.post(messages, json=small), range(4 * CALLERS)))
        assert [answer.status_code for answer in answers] == [201] * len(answers)
        return processes_of(running) != []

    eventually(is_moved, SECONDS)


@contextmanager
def suspended(running: Daemon) -> Iterator[None]:
    """The one process is stopped in the block."""
    (process,) = processes_of(running)
    process.suspend()
    try:
        yield
    finally:
        process.resume()


@pytest.mark.timeout(120)
def test_a_process_that_is_killed_leaves_a_service_that_answers_the_next_large_request(tmp_path: Path) -> None:
    with serving(tmp_path) as (running, caller):
        messages = f"/sessions/{caller.post('/sessions', json=NEW).json()['id']}/messages"
        assert caller.post(messages, json={"messages": said(200)}).status_code == 201
        (process,) = processes_of(running)
        process.suspend()
        answers: list[httpx.Response] = []
        waiting = Thread(target=lambda: answers.append(caller.post(messages, json={"messages": said(200)})))
        waiting.start()
        waiting.join(1)
        process.kill()
        waiting.join(SECONDS)
        assert [(answer.status_code, answer.json()["type"]) for answer in answers] == [
            (503, "/problems/outcome-unknown")
        ]
        assert caller.post(messages, json={"messages": said(200)}).status_code == 201
        (another,) = processes_of(running)
        # One that is killed while it has nothing to do costs no request.
        another.kill()
        another.wait(SECONDS)
        assert caller.post(messages, json={"messages": said(200)}).status_code == 201


@pytest.mark.timeout(120)
def test_a_file_that_was_moved_away_is_not_begun_anew(tmp_path: Path) -> None:
    file = tmp_path / "foldline.db"
    with serving(tmp_path) as (_, caller):
        session = f"/sessions/{caller.post('/sessions', json=NEW).json()['id']}"
        assert caller.post(f"{session}/messages", json={"messages": said(2)}).status_code == 201
        file.rename(tmp_path / "elsewhere.db")
        refused = caller.post("/compact", json={**NEW, "messages": said(400), "target_tokens": 500})
        assert (refused.status_code, refused.json()["type"]) == (503, "/problems/unavailable")
        assert not file.exists()
        (tmp_path / "elsewhere.db").rename(file)
        assert len(caller.get(f"{session}/entries").json()["items"]) == 2
        assert caller.post(f"{session}/messages", json={"messages": said(200)}).status_code == 201
        assert len(caller.get(f"{session}/entries?limit=500").json()["items"]) == 202


@pytest.mark.timeout(120)
def test_a_process_that_hangs_does_not_keep_the_service_from_ending(tmp_path: Path) -> None:
    with serving(tmp_path, FOLDLINE_STOP_SECONDS="1") as (running, caller):
        messages = f"/sessions/{caller.post('/sessions', json=NEW).json()['id']}/messages"
        assert caller.post(messages, json={"messages": said(200)}).status_code == 201
        (process,) = processes_of(running)
        process.suspend()
        running.process.send_signal(signal.SIGTERM)
        running.process.wait(20)
        eventually(lambda: not process.is_running() or process.status() == psutil.STATUS_ZOMBIE, 10)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("number", [pytest.param(signal.SIGTERM, marks=pytest.mark.thorough), signal.SIGKILL])
def test_the_process_ends_with_its_service(tmp_path: Path, number: signal.Signals) -> None:
    with serving(tmp_path) as (running, caller):
        messages = f"/sessions/{caller.post('/sessions', json=NEW).json()['id']}/messages"
        assert caller.post(messages, json={"messages": said(200)}).status_code == 201
        (process,) = processes_of(running)
        os.kill(running.process.pid, number)
        running.process.wait(SECONDS)
        eventually(lambda: not process.is_running(), 10)


@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    "variables",
    [
        {"FOLDLINE_API_KEYS": ""},
        pytest.param({"FOLDLINE_LARGE_REQUEST_PROCESSES": "0"}, marks=pytest.mark.thorough),
    ],
)
def test_a_service_for_one_needs_no_other_process(tmp_path: Path, variables: dict[str, str]) -> None:
    with serving(tmp_path, **variables) as (running, caller):
        messages = f"/sessions/{caller.post('/sessions', json=NEW).json()['id']}/messages"
        assert caller.post(messages, json={"messages": said(200)}).status_code == 201
        assert processes_of(running) == []
