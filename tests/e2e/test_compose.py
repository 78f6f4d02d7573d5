"""The services of docker/compose.yaml as plain processes: they run as written, and outlive that each is killed once."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from textwrap import dedent
from typing import Final

import httpx
import psutil
import pytest

from stack import compose
from stack.processes.members import Member
from stack.stack import Stack
from tests.support.eventually import eventually
from tests.support.processes.http import client
from tests.support.processes.program import foldline, python
from tests.support.recorded import anthropic_session, coding_session, write_sessions

pytestmark = pytest.mark.timeout(300)

WHOLE_SECONDS: Final = 60.0
KEY: Final = "made-up-of-16-letters"
VARIABLES: Final = {
    "FOLDLINE_API_KEYS": f"tenant:{KEY}",
    "FOLDLINE_FLOWER_LOGIN": "user:made-up",
    "FOLDLINE_LOG_FORMAT": "json",
    "FOLDLINE_SWEEP_SECONDS": "5",
}
# What a container has to itself, and processes of one machine share.
MOVED: Final = ("_HOST", "_PORT")


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        for name in ("DATABASE_URL", "REDIS_URL"):  # what runs elsewhere cannot be killed
            monkeypatch.delenv(name, raising=False)
        with Stack(is_durable=True, environment=VARIABLES) as stack:
            yield stack


@pytest.fixture
def sessions(tmp_path: Path) -> Path:
    return write_sessions(
        tmp_path / "sessions.jsonl", coding=coding_session(1, turns=4), anthropic=anthropic_session(2)
    )


def replay(stack: Stack, sessions: Path, after: str) -> None:
    """Fails the test unless the sessions replay without a violation."""
    done = foldline("replay", sessions, "--url", stack.api_url, "--api-key", KEY, "--window", "5000")
    assert done.stdout.splitlines()[-1:] == ["violations: 0"], f"{after}: {done.stdout}{done.stderr}"


def is_whole(stack: Stack, killed: Member) -> bool:
    """Whether the killed process runs again, all processes are ready, and the API reports no missing part."""
    if not (killed.restarts and stack.is_ready):
        return False
    with client(stack.api_url) as connected:
        try:
            return bool(connected.get("/readyz").json()["status"] == "ok")
        except httpx.HTTPError:
            return False


def test_each_service_is_started_with_the_command_and_the_environment_that_are_written(stack: Stack) -> None:
    services = compose.services(
        {**VARIABLES, "FOLDLINE_DATABASE_URL": stack.database_url, "FOLDLINE_BROKER_URL": stack.broker_url}
    )
    started = {member.name.removesuffix("-1"): member for member in stack.members}
    assert started.keys() == {"broker", "database", *services}
    assert started["migrate"].state == "done"

    for name in services.keys() - {"migrate"}:
        process = psutil.Process(started[name].pid)
        given = process.environ()
        for variable, value in services[name]["environment"].items():
            assert variable.endswith(MOVED) or given.get(variable) == value, f"{name}: {variable}"
        assert process.cmdline()[-len(services[name]["command"]) :] == services[name]["command"]


def test_a_command_in_it_gets_flowers_login_and_all_addresses_and_its_exit_code_is_the_stacks() -> None:
    script = """
        import os, sys, httpx
        assert os.environ["FOLDLINE_URL"] == sys.argv[1]
        assert all(os.environ[name] for name in ("FOLDLINE_DATABASE_URL", "FOLDLINE_BROKER_URL"))
        url, login = os.environ["FOLDLINE_FLOWER_URL"], os.environ["FOLDLINE_FLOWER_LOGIN"]
        print(login, *(httpx.get(url, auth=auth).status_code for auth in (None, tuple(login.split(":")))))
        sys.exit(7 if httpx.get(f"{sys.argv[1]}/readyz").is_success else 1)
    """

    done = python("-m", "stack", "--workers", "1", "--", sys.executable, "-c", dedent(script), "{url}")

    assert done.returncode == 7, done.stderr
    login, *answers = done.stdout.split()
    assert answers == ["401", "200"]
    assert f"# Flower's user and password: {login}\n" in done.stderr
    for name in ("worker-1", "beat"):
        assert re.search(rf"^{name} .* 127\.0\.0\.1:\d+/metrics$", done.stderr, re.MULTILINE)


def test_each_process_may_be_killed_and_the_next_replay_finds_nothing_wrong(stack: Stack, sessions: Path) -> None:
    running = [member for member in stack.members if member.pid]
    assert len(running) == len(stack.members) - 1  # migrate has ended
    replay(stack, sessions, after="the start")

    for member in running:
        member.kill()

        eventually(partial(is_whole, stack, member), WHOLE_SECONDS)
        replay(stack, sessions, after=member.name)

    assert {member.name: member.restarts for member in running} == {member.name: 1 for member in running}
