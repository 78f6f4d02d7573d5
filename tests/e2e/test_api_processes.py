"""`foldline api --processes 2`: one port for both, one that is killed is replaced, and a signal ends all."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil
import pytest
from foldline_api.http.known_keys import KNOWN_SECONDS

from foldline.cli.serving.api_processes import END_SECONDS
from stack.services.servers import valkey
from tests.support.eventually import eventually, eventually_gives
from tests.support.processes.daemons import Daemon, daemon
from tests.support.processes.databases import Server
from tests.support.processes.http import client, get, post
from tests.support.processes.program import REPOSITORY

LISTENING = r"listening on (http://127\.0\.0\.1:\d+)"
METRICS = "metrics and probes on "
START_SECONDS = 50
OPERATE = REPOSITORY / "docs" / "operate.md"


@contextmanager
def served_by_two(folder: Path, postgresql: Server, **others: str) -> Iterator[tuple[Daemon, str, str]]:
    """The command, the address of the API, and that of the operator's port."""
    with ExitStack() as stack:
        variables = {
            "FOLDLINE_DATABASE_URL": stack.enter_context(postgresql.database()),
            "FOLDLINE_BROKER_URL": stack.enter_context(valkey()).url,
            "FOLDLINE_METRICS_PORT": "0",
            **others,
        }
        arguments = ("api", "--port", "0", "--processes", "2")
        running = stack.enter_context(daemon(folder, *arguments, until=LISTENING, variables=variables, is_anew=True))
        (metrics,) = [line for line in running.printed.splitlines() if METRICS in line]
        yield running, running.ready.removeprefix("listening on "), metrics.partition(METRICS)[2]


def serving_processes(command: Daemon) -> set[int]:
    """The processes that answer requests: those started by the command that hold its socket."""
    children = psutil.Process(command.process.pid).children()
    return {child.pid for child in children if "spawn_main" in " ".join(child.cmdline())}


@pytest.mark.timeout(180)
def test_requests_go_on_when_a_process_is_killed_and_another_takes_its_place(
    tmp_path: Path, postgresql: Server
) -> None:
    with served_by_two(tmp_path, postgresql) as (running, url, operators):
        before = serving_processes(running)
        assert len(before) == 2
        killed = min(before)
        os.kill(killed, signal.SIGKILL)

        for _ in range(20):
            # A new connection each time; one that the killed process had taken already is lost with it.
            assert get(f"{url}/healthz", timeout=20).status_code == 200
        eventually(lambda: get(f"{url}/readyz", timeout=20).status_code == 200, START_SECONDS)
        eventually(lambda: len(serving_processes(running) - {killed}) == 2, START_SECONDS)
        with client(operators) as connected:
            eventually(lambda: numbers_in(connected.get("/metrics").text) == {"1", "2"}, START_SECONDS)
            eventually_gives("ok", lambda: connected.get("/readyz").json()["processes"])
        running.stop()
        assert "another one takes its place" in running.printed
    assert not any(map(psutil.pid_exists, before))


@pytest.mark.timeout(180)
def test_metrics_have_the_requests_of_all_processes(tmp_path: Path, postgresql: Server) -> None:
    with served_by_two(tmp_path, postgresql) as (_, url, operators), client(operators) as connected:
        for _ in range(12):
            assert get(f"{url}/healthz", timeout=20).status_code == 200
        # A process that does not answer in time is left out of a page.
        eventually(lambda: numbers_in(connected.get("/metrics").text) == {"1", "2"}, START_SECONDS)
        page = connected.get("/metrics").text
        assert get(f"{url}/metrics", timeout=20).status_code == 404

    counted = [line for line in page.splitlines() if "/healthz" in line and line.startswith("foldline_requests_total")]
    assert sum(float(line.rpartition(" ")[2]) for line in counted) == 12
    assert page.count("# TYPE foldline_requests_total ") == 1
    assert numbers_in(page) == {"1", "2"}


@pytest.mark.timeout(180)
def test_each_process_accepts_a_new_key_at_once_and_soon_refuses_a_revoked_one(
    tmp_path: Path, postgresql: Server
) -> None:
    own = {"Authorization": "Bearer key-of-the-environment"}
    with served_by_two(tmp_path, postgresql, FOLDLINE_API_KEYS="ann:key-of-the-environment") as (running, url, _):
        made = post(f"{url}/keys", headers=own, json={"name": "of a test", "scopes": ["read"]}).json()

        def codes() -> set[int]:
            # A new connection each time, so that both processes take some.
            headers = {"Authorization": f"Bearer {made['key']}"}
            return {get(f"{url}/sessions", headers=headers, timeout=20).status_code for _ in range(20)}

        assert codes() == {200}
        with client(url) as connected:
            assert connected.delete(f"/keys/{made['id']}", headers=own).status_code == 204
        eventually(lambda: codes() == {401}, 2 * KNOWN_SECONDS + 3)
        # One with a process of its own for large requests.
        session = post(f"{url}/sessions", headers=own, json={"model": "openai/gpt-4o"}).json()["id"]
        large = {"messages": [{"role": "user", "content": "Go on."}] * 200}
        assert post(f"{url}/sessions/{session}/messages", headers=own, json=large, timeout=60).status_code == 201
        started = psutil.Process(running.process.pid).children(recursive=True)
        spawned = [process for process in started if "spawn_main" in " ".join(process.cmdline())]
        assert len(spawned) == 3
        running.stop()
    eventually(lambda: not any(process.is_running() for process in spawned), 10)


@pytest.mark.timeout(180)
@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.thorough)])
def test_a_signal_ends_all_processes(tmp_path: Path, postgresql: Server, number: signal.Signals) -> None:
    with served_by_two(tmp_path, postgresql) as (running, url, _):
        serving = serving_processes(running)
        with client(url) as connected:
            assert connected.get("/healthz").status_code == 200
            running.stop(number)
    assert "Traceback" not in running.printed
    assert not any(map(psutil.pid_exists, serving))


@pytest.mark.timeout(180)
def test_a_process_that_does_not_end_is_killed_when_its_time_is_over(tmp_path: Path, postgresql: Server) -> None:
    with served_by_two(tmp_path, postgresql, FOLDLINE_STOP_SECONDS="1") as (running, _, _):
        serving = serving_processes(running)
        os.kill(min(serving), signal.SIGSTOP)
        assert 1 + END_SECONDS <= running.stop() < 1 + END_SECONDS + 5
        assert f"process {min(serving)} of the API did not end in time, and is killed" in running.printed
    assert not any(map(psutil.pid_exists, serving))
    assert f"`FOLDLINE_STOP_SECONDS` and {END_SECONDS:.0f} seconds more" in OPERATE.read_text(encoding="utf-8")


@pytest.mark.timeout(180)
def test_no_process_outlives_the_command(tmp_path: Path, postgresql: Server) -> None:
    with served_by_two(tmp_path, postgresql) as (running, _, _):
        serving = serving_processes(running)
        running.process.kill()
        eventually(lambda: not any(map(psutil.pid_exists, serving)), 20)


def numbers_in(page: str) -> set[str]:
    """The processes that a page of metrics has requests' waits of."""
    lines = [line for line in page.splitlines() if line.startswith("foldline_requests_waiting{")]
    return {line.partition('process="')[2].partition('"')[0] for line in lines}
