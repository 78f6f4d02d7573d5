from __future__ import annotations

import json
import signal
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType

import pytest
from foldline_worker.broker.queues import MAINTENANCE
from redis import Redis

from foldline.log.compaction.enqueue import BACKGROUND
from stack.services.servers import BackingService, valkey
from tests.support.eventually import eventually, eventually_gives
from tests.support.processes.daemons import Daemon, daemon
from tests.support.processes.databases import Server
from tests.support.processes.http import client
from tests.support.processes.program import foldline, started_anew

NOTHING: Mapping[str, str] = MappingProxyType({})
LISTENING = r"listening on (http://127\.0\.0\.1:\d+)"


@contextmanager
def serving(
    folder: Path, variables: Mapping[str, str] = NOTHING, command: str = "serve", *, is_anew: bool = False
) -> Iterator[tuple[Daemon, str]]:
    """A served instance and its address."""
    variables = {"FOLDLINE_DATABASE_URL": f"sqlite:///{folder}/foldline.db", **variables}
    with daemon(folder, command, "--port", "0", until=LISTENING, variables=variables, is_anew=is_anew) as running:
        yield running, running.ready.removeprefix("listening on ")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_until_stopped_and_ends_with_exit_code_0(tmp_path: Path, number: signal.Signals) -> None:
    with serving(tmp_path, is_anew=True) as (running, url):
        with client(url) as connected:
            assert connected.get("/healthz").status_code == 200
            eventually_gives(200, lambda: connected.get("/readyz").status_code)

        running.stop(number)

        assert "Traceback" not in running.printed
        assert "no API keys are set" in running.printed
        assert f"data in {tmp_path}/foldline.db, summaries: extractive" in running.printed


def test_what_was_appended_is_there_after_a_restart(tmp_path: Path) -> None:
    with serving(tmp_path) as (running, url):
        message = {"role": "user", "content": "hello"}
        with client(url) as connected:
            session = connected.post("/sessions", json={"model": "openai/gpt-4o"}).json()
            path = f"/sessions/{session['id']}"
            assert connected.post(f"{path}/messages", json={"messages": [message]}).status_code == 201
        running.process.kill()
        running.process.wait(30)

    with serving(tmp_path) as (_, url), client(url) as connected:
        assert connected.get(f"{path}/context?format=openai").json()["messages"] == [message]


def test_with_keys_only_they_open_it(tmp_path: Path) -> None:
    with serving(tmp_path, {"FOLDLINE_API_KEYS": "acme:secret-of-acme-0"}) as (running, url), client(url) as connected:
        assert connected.get("/sessions").status_code == 401
        assert connected.get("/sessions", headers={"Authorization": "Bearer secret-of-acme-0"}).status_code == 200
        assert "secret" not in running.printed


def test_it_refuses_to_be_reached_from_outside_without_keys(tmp_path: Path) -> None:
    done = foldline("serve", "--host", "192.0.2.1", "--port", "0", "--database-url", f"sqlite:///{tmp_path}/new.db")

    assert done.returncode == 2
    assert "FOLDLINE_API_KEYS" in done.stderr


def test_a_port_that_is_taken_is_reported(tmp_path: Path) -> None:
    with serving(tmp_path) as (_, url):
        port = url.rpartition(":")[2]
        done = foldline("serve", "--port", port, "--database-url", f"sqlite:///{tmp_path}/other.db")

    assert done.returncode == 3
    assert "--port" in done.stderr


def test_a_database_that_does_not_open_is_reported(tmp_path: Path) -> None:
    done = foldline("serve", "--port", "0", "--database-url", f"sqlite:///{tmp_path}/none/foldline.db")

    assert done.returncode == 3
    assert "FOLDLINE_DATABASE_URL" in done.stderr
    assert f"there is no folder {tmp_path}/none" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("url", "code"), [("nonsense", 2), ("mysql://u:secret@host/log", 2), ("sqlite:///{folder}/notes.txt", 3)]
)
def test_an_invalid_database_url_is_reported(tmp_path: Path, url: str, code: int) -> None:
    (tmp_path / "notes.txt").write_text("Nothing of this is a database.")

    done = foldline("serve", "--port", "0", "--database-url", url.format(folder=tmp_path))

    assert done.returncode == code
    assert done.stderr.startswith("foldline: ")
    assert "FOLDLINE_DATABASE_URL" in done.stderr
    assert "secret" not in done.stderr
    assert "Traceback" not in done.stderr


def test_an_invalid_setting_is_reported_without_its_value(tmp_path: Path) -> None:
    done = foldline("serve", "--port", "99999")

    assert done.returncode == 2
    assert "FOLDLINE_PORT" in done.stderr


@pytest.mark.parametrize("keys", ["", "ours:the-only-long-key"])
def test_an_external_broker_is_refused_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keys: str) -> None:
    monkeypatch.setenv("FOLDLINE_BROKER_URL", "redis://:secret@127.0.0.1:1/0")
    monkeypatch.setenv("FOLDLINE_API_KEYS", keys)

    done = foldline("serve", "--port", "0", "--database-url", f"sqlite:///{tmp_path}/foldline.db")

    assert done.returncode == 2
    assert "FOLDLINE_BROKER_URL" in done.stderr
    assert "secret" not in done.stderr
    assert "Traceback" not in done.stderr


def test_it_serves_on_postgresql_too(tmp_path: Path, postgresql: Server) -> None:
    with (
        postgresql.database(is_empty=True) as database,
        serving(tmp_path, {"FOLDLINE_DATABASE_URL": database}) as (_, url),
    ):
        summarize_something(url)


def test_api_worker_and_beat_work_together(tmp_path: Path, postgresql: Server) -> None:
    with postgresql.database() as database, valkey() as broker, ExitStack() as stack:
        variables = addresses_of(database, broker)
        _, url = stack.enter_context(serving(tmp_path, variables, "api", is_anew=True))
        worker = stack.enter_context(daemon(tmp_path, "worker", until="ready:", variables=variables, is_anew=True))
        stack.enter_context(daemon(tmp_path, "beat", until="beat: Starting", variables=variables, is_anew=True))
        summarize_something(url)
        assert "job succeeded" in worker.printed


def addresses_of(database: str, broker: BackingService) -> dict[str, str]:
    """The settings of a process that works on them."""
    return {"FOLDLINE_DATABASE_URL": database, "FOLDLINE_BROKER_URL": broker.url}


def summarize_something(url: str) -> None:
    """An append over the trigger, whose job succeeds."""
    with client(url) as connected:
        session = connected.post("/sessions", json={"model": "openai/any", "context_window": 4000}).json()["id"]
        messages = [{"role": role, "content": "why? " * 150} for role in ("user", "assistant") * 7]
        assert connected.post(f"/sessions/{session}/messages", json={"messages": messages}).status_code == 201
        jobs = f"/sessions/{session}/jobs"
        eventually(lambda: {job["state"] for job in connected.get(jobs).json()["items"]} == {"succeeded"}, 20)


def test_requests_go_on_while_the_broker_is_frozen(tmp_path: Path, postgresql: Server) -> None:
    with (
        postgresql.database() as database,
        valkey(is_own=True) as broker,
        serving(tmp_path, addresses_of(database, broker), "api") as (running, url),
        client(url) as connected,
    ):
        path = f"/sessions/{connected.post('/sessions', json={'model': 'openai/gpt-4o'}).json()['id']}"
        append = partial(connected.post, f"{path}/messages", json={"messages": [{"role": "user", "content": "hello"}]})
        append()
        broker.freeze()

        answers = [append() for _ in range(10)] + [connected.post(f"{path}/compact", json={}) for _ in range(10)]
        degraded = {"status": "degraded", "database": "ok", "broker": "does not answer"}
        eventually_gives(degraded, lambda: connected.get("/readyz").json())
        ready = connected.get("/readyz")
        seconds = running.stop()

    assert {answer.status_code for answer in answers} <= {200, 201, 202}
    assert max(answer.elapsed.total_seconds() for answer in answers) < 1
    assert (ready.status_code, ready.elapsed.total_seconds() < 2) == (200, True)
    assert seconds < 13


def test_a_worker_outlives_what_is_no_message(tmp_path: Path, postgresql: Server) -> None:
    with postgresql.database() as database, valkey(is_own=True) as broker, ExitStack() as stack:
        variables = addresses_of(database, broker)
        worker = stack.enter_context(daemon(tmp_path, "worker", until="ready:", variables=variables))
        with Redis.from_url(broker.url) as connected:
            for count, text in enumerate((b"garbage", b"\xff", b"[]", b"{}", b'{"properties": 1}'), 1):
                connected.lpush(BACKGROUND, text)
                eventually(lambda count=count: worker.printed.count("cannot be read") == count)  # type: ignore[misc]
        _, url = stack.enter_context(serving(tmp_path, variables, "api"))
        summarize_something(url)
        assert "Traceback" not in worker.printed
        worker.stop()


def test_a_sweep_outlasts_the_difference_of_two_clocks(tmp_path: Path) -> None:
    with valkey(is_own=True) as broker, Redis.from_url(broker.url) as connected:
        with daemon(tmp_path, "beat", until="beat: Starting", variables={"FOLDLINE_BROKER_URL": broker.url}):
            eventually(lambda: connected.llen(MAINTENANCE))
        message = json.loads(connected.lindex(MAINTENANCE, -1) or b"")
    expires = datetime.fromisoformat(message["headers"]["expires"])
    assert expires - datetime.now(UTC) > timedelta(minutes=59)


POSTGRESQL = {"FOLDLINE_DATABASE_URL": "postgresql://127.0.0.1:1/log"}
SQLITE = {"FOLDLINE_DATABASE_URL": "sqlite:///foldline.db"}
REDIS = {"FOLDLINE_BROKER_URL": "redis://:secret@127.0.0.1:1/0"}
INSIDE = {"FOLDLINE_BROKER_URL": "memory://"}


@pytest.mark.parametrize(
    ("command", "variables", "message"),
    [
        ("api", SQLITE | REDIS, "FOLDLINE_DATABASE_URL"),
        ("worker", SQLITE | REDIS, "FOLDLINE_DATABASE_URL"),
        ("api", POSTGRESQL | INSIDE, "FOLDLINE_BROKER_URL"),
        ("worker", POSTGRESQL | INSIDE, "FOLDLINE_BROKER_URL"),
        ("beat", INSIDE, "FOLDLINE_BROKER_URL"),
    ],
)
def test_what_works_in_one_process_only_is_refused_in_several(
    command: str, variables: dict[str, str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    done = foldline(command)

    assert done.returncode == 2
    assert message in done.stderr
    assert "foldline serve" in done.stderr
    assert "Traceback" not in done.stderr
    assert not Path("foldline.db").exists()


@pytest.mark.parametrize("command", ["api", "worker"])
def test_a_url_that_is_not_postgresql_is_reported_with_an_example(
    command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOLDLINE_BROKER_URL", REDIS["FOLDLINE_BROKER_URL"])
    unset = foldline(command)
    monkeypatch.setenv("FOLDLINE_DATABASE_URL", "nonsense:secret")
    unusable = foldline(command)

    assert "FOLDLINE_DATABASE_URL is not set" in " ".join(unset.stderr.split())
    for done in (unset, unusable):
        assert done.returncode == 2
        assert "as in postgresql://" in " ".join(done.stderr.split())
        assert "sqlite:" not in done.stderr
        assert "secret" not in done.stderr


@pytest.mark.parametrize(
    "url", ["amqp://user:secret@127.0.0.1:1", "redis://:secret@127.0.0.1:secret/0", "redis://:secret@127.0.0.1:1/none"]
)
def test_an_invalid_broker_url_is_reported(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOLDLINE_BROKER_URL", url)

    done = foldline("beat")

    assert done.returncode == 2
    assert "FOLDLINE_BROKER_URL" in done.stderr
    assert "secret" not in done.stderr


@pytest.mark.parametrize("variable", ["FOLDLINE_DATABASE_URL", "FOLDLINE_BROKER_URL"])
@pytest.mark.parametrize("command", ["api", "worker"])
def test_an_address_with_a_bracket_in_its_password_ends_with_one_line(
    command: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (POSTGRESQL | REDIS).items():
        monkeypatch.setenv(name, value)
    scheme = "postgresql" if "DATABASE" in variable else "redis"
    monkeypatch.setenv(variable, f"{scheme}://user:ge[heim@127.0.0.1:1/0")

    done = foldline(command)

    assert done.returncode in {2, 3}
    assert variable in done.stderr
    assert "heim" not in done.stderr
    assert "Traceback" not in done.stderr


def test_a_password_in_the_query_of_a_url_is_not_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    query = "user=u&password=geheim&sslpassword=geheim&connect_timeout=1"
    monkeypatch.setenv("FOLDLINE_DATABASE_URL", f"postgresql://127.0.0.1:1/log?{query}")

    done = foldline("migrate")

    assert done.returncode == 3
    assert "127.0.0.1:1/log does not answer" in done.stderr.replace("\n", " ")
    assert "geheim" not in done.stderr


def test_an_unknown_queue_is_refused() -> None:
    done = foldline("worker", "--queues", "summarize.interactive,else")

    assert done.returncode == 2
    assert "--queues" in done.stderr
    assert "summarize.background" in done.stderr


def test_a_database_without_tables_is_reported(
    tmp_path: Path, postgresql: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    with postgresql.database(is_empty=True) as database:
        monkeypatch.setenv("FOLDLINE_DATABASE_URL", database)
        monkeypatch.setenv("FOLDLINE_BROKER_URL", "redis://127.0.0.1:1/0")
        for command in ("api", "worker"):
            done = foldline(command)
            assert done.returncode == 3
            assert "foldline migrate" in done.stderr


def test_migrate_brings_a_database_to_the_newest_tables_once(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/foldline.db"

    first, second = started_anew("migrate", "--database-url", url), foldline("migrate", "--database-url", url)

    assert (first.returncode, second.returncode) == (0, 0)
    assert first.stdout.startswith("database: empty → ")
    assert second.stdout.startswith("database: already at ")


def test_the_version_is_printed() -> None:
    done = started_anew("--version")

    assert (done.returncode, done.stdout) == (0, f"foldline {version('foldline')}\n")


def test_help_lists_the_commands() -> None:
    done = started_anew("--help")

    assert done.returncode == 0
    for command in ("serve", "api", "worker", "beat", "migrate", "compact", "stats", "replay", "presets", "models"):
        assert command in done.stdout
