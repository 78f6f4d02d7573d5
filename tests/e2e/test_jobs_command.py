"""`foldline jobs` as its operator runs it, on a database that services may be using."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis
from sqlalchemy import text

from foldline.log.compaction.enqueue import BACKGROUND, INTERACTIVE
from foldline.log.jobs import endings
from foldline.log.storage.store import Store
from stack.services.servers import valkey
from tests.support.log.sessions import Scene, turns
from tests.support.processes.databases import only_postgresql, sqlite_database
from tests.support.processes.program import foldline, started_anew

database_kind = only_postgresql
# A database that fails at one job.
FAILING = "CREATE FUNCTION fail() RETURNS trigger AS $$ BEGIN RAISE 'no room'; END $$ LANGUAGE plpgsql"
OF = "WHEN (OLD.id = '{}') EXECUTE FUNCTION fail()"
SWEPT = "a running `foldline serve`, or beat and a worker, finds them at its next sweep, within 15 s"
AWAY = "the endpoint is away, " + "and has been for long " * 20


@pytest.fixture
def scenes(database: str) -> Iterator[list[Scene]]:
    """A session whose job failed, one whose job runs, and one whose job waits."""
    store = Store(database)
    scenes = [Scene(store, id=name) for name in ("failed", "running", "waiting")]
    for scene in scenes:
        scene.append(*turns(7, 60))
    endings.fail(store, scenes[0].claimed(), AWAY)
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

    done = started_anew("jobs", "list", "--database-url", database)
    lines = done.stdout.splitlines()
    assert done.returncode == 0
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
    assert notes == [SWEPT]

    code, lines, notes = run(database, "retry", running, failed, "job_none")
    assert (code, lines) == (2, [f"{failed}: joined to {scenes[0].jobs[1].id}"])
    assert notes[:2] == [f"{running}: it is running; cancel it first", "job_none: there is no job 'job_none'"]

    code, lines, _ = run(database, "cancel", running, waiting)
    assert (code, lines) == (0, [f"{running}: cancelled", f"{waiting}: cancelled"])
    assert [scene.states[-1] for scene in scenes] == ["queued", "cancelled", "cancelled"]


def test_it_refuses_what_it_cannot_work_with(tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    code, _, notes = run(f"sqlite:///{tmp_path}/empty.db", "list")
    assert code == 3
    assert "run `foldline migrate`" in " ".join(notes)
    code, _, notes = run(f"sqlite:///{tmp_path}/none.db", "list")
    assert code == 3
    assert "FOLDLINE_DATABASE_URL" in " ".join(notes)
    assert not (tmp_path / "none.db").exists()
    assert run(f"sqlite:///{tmp_path}/none.db", "retry")[0] == 2


def waiting_in(url: str) -> str:
    """The id of a job that waits in this database."""
    store = Store(url)
    scene = Scene(store)
    scene.append(*turns(7, 60))
    job_id = str(scene.jobs[0].id)
    store.close()
    return job_id


def test_it_notifies_through_an_external_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    with sqlite_database() as url, valkey() as broker:
        job_id = waiting_in(url)
        monkeypatch.setenv("FOLDLINE_BROKER_URL", broker.url)
        assert run(url, "retry", job_id) == (0, [f"{job_id}: may run at once"], [])
        with Redis.from_url(broker.url) as connected:
            assert connected.llen(BACKGROUND) == 1


def test_it_says_what_happens_without_the_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOLDLINE_BROKER_URL", "redis://127.0.0.1:1/0")
    with sqlite_database() as url:
        code, lines, notes = run(url, "retry", job_id := waiting_in(url))
    assert (code, lines) == (0, [f"{job_id}: may run at once"])
    assert notes == [
        "the broker that FOLDLINE_BROKER_URL names does not answer",
        SWEPT,
    ]


def test_an_invalid_broker_url_is_reported_before_anything_is_done(
    database: str, scenes: list[Scene], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOLDLINE_BROKER_URL", "amqp://user:geheim@127.0.0.1:1")
    code, lines, notes = run(database, "retry", "--failed")
    assert (code, lines) == (2, [])
    assert "FOLDLINE_BROKER_URL" in " ".join(notes)
    assert "geheim" not in " ".join(notes)
    assert len(scenes[0].jobs) == 1


def test_it_notifies_of_what_was_queued_before_the_database_failed(
    database: str, scenes: list[Scene], monkeypatch: pytest.MonkeyPatch
) -> None:
    failed, _, waiting = (scene.jobs[0].id for scene in scenes)
    with scenes[0].store.write() as tx:
        tx.execute(text(FAILING))
        tx.execute(text(f"CREATE TRIGGER fails BEFORE UPDATE ON job FOR EACH ROW {OF.format(waiting)}"))
    with valkey(is_own=True) as broker, Redis.from_url(broker.url) as connected:
        monkeypatch.setenv("FOLDLINE_BROKER_URL", broker.url)
        code, lines, _ = run(database, "retry", failed, waiting)
        assert (code, len(lines)) == (3, 1)
        assert connected.llen(INTERACTIVE) + connected.llen(BACKGROUND) == 1
