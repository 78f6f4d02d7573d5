"""`foldline jobs` as its operator runs it, on a database that services may be using."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis

from sessions import jobs
from sessions.requests import BACKGROUND
from sessions.store import Store
from stack.services import valkey
from tests.support.databases import POSTGRESQL, sqlite_database
from tests.support.log import Scene, turns
from tests.support.program import foldline

AWAY = "the endpoint is away, " + "and has been for long " * 20


@pytest.fixture
def database_kind() -> str:
    """One is enough here: what is done in the database is tested on each kind."""
    return POSTGRESQL


@pytest.fixture
def scenes(database: str) -> Iterator[list[Scene]]:
    """A session whose job failed, one whose job runs, and one whose job waits."""
    store = Store(database)
    scenes = [Scene(store, id=name) for name in ("failed", "running", "waiting")]
    for scene in scenes:
        scene.append(*turns(7, 60))
    jobs.fail(store, scenes[0].claimed(), AWAY)
    scenes[1].claimed()
    yield scenes
    store.close()


def run(url: str, *arguments: str) -> tuple[int, list[str], list[str]]:
    """Exit code, and the lines on stdout and stderr, of `foldline jobs`."""
    done = foldline("jobs", *arguments, "--database-url", url, timeout_seconds=60)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout.splitlines(), done.stderr.splitlines()


@pytest.mark.timeout(180)
def test_it_lists_retries_and_cancels(database: str, scenes: list[Scene]) -> None:
    failed, running, waiting = (scene.jobs[0].id for scene in scenes)

    code, lines, _ = run(database, "list")
    assert code == 0
    assert lines[0].split() == ["job", "tenant", "session", "state", "queue", "attempts", "age", "error"]
    assert [line.split()[0] for line in lines[1:-1]] == [failed, running, waiting]
    assert lines[1].endswith("…")
    assert "lease 1 min" in lines[2]
    assert lines[-1] == "1 queued, 1 running, 1 failed"

    code, lines, _ = run(database, "list", "--json", "--state", "failed", "--state", "running", "--limit", "1")
    (listed,) = [json.loads(line) for line in lines]
    assert (code, listed["id"], listed["session_id"], listed["error"]) == (0, running, "running", None)
    assert listed["lease_until"].endswith("Z")

    code, lines, notes = run(database, "retry", "--failed")
    assert (code, lines) == (0, [f"{failed}: queued again as {scenes[0].jobs[1].id}"])
    assert notes == ["a running service finds them at its next sweep, within 15 s"]

    code, lines, notes = run(database, "retry", running, failed, "job_none")
    assert (code, lines) == (2, [f"{failed}: joined to {scenes[0].jobs[1].id}"])
    assert notes[:2] == [f"{running}: it is running; cancel it first", "job_none: there is no job 'job_none'"]

    code, lines, _ = run(database, "cancel", running, waiting)
    assert (code, lines) == (0, [f"{running}: cancelled", f"{waiting}: cancelled"])
    assert [scene.states[-1] for scene in scenes] == ["queued", "cancelled", "cancelled"]


def test_it_refuses_what_it_cannot_work_with(tmp_path: Path) -> None:
    code, _, notes = run(f"sqlite:///{tmp_path}/empty.db", "list")
    assert code == 3
    assert "run `foldline migrate`" in " ".join(notes)
    assert run(f"sqlite:///{tmp_path}/none.db", "retry")[0] == 2


def test_it_rings_a_broker_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    with sqlite_database() as url, valkey() as broker:
        store = Store(url)
        scene = Scene(store)
        scene.append(*turns(7, 60))
        job_id = scene.jobs[0].id
        store.close()
        monkeypatch.setenv("FOLDLINE_BROKER_URL", broker.url)
        assert run(url, "retry", job_id) == (0, [f"{job_id}: may run at once"], [])
        with Redis.from_url(broker.url) as connected:
            assert connected.llen(BACKGROUND) == 1
