from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.support.eventually import eventually
from tests.support.http import client
from tests.support.program import REPOSITORY, foldline

LISTENING = re.compile(r"listening on (http://127\.0\.0\.1:\d+)")


@contextmanager
def serving(folder: Path, **variables: str) -> Iterator[tuple[subprocess.Popen[bytes], str, Path]]:
    """A served instance: its process, its address, and where its output goes."""
    output = folder / "output"
    command = [sys.executable, "-m", "cli.main", "serve", "--port", "0"]
    variables = {"FOLDLINE_DATABASE_URL": f"sqlite:///{folder}/foldline.db", **variables}
    with output.open("wb") as stream:
        process = subprocess.Popen(command, cwd=REPOSITORY, env=os.environ | variables, stdout=stream, stderr=stream)
    try:
        eventually(lambda: LISTENING.search(output.read_text()) or process.poll() is not None, seconds=60)
        found = LISTENING.search(output.read_text())
        assert found, output.read_text()
        yield process, found[1], output
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_until_told_to_stop_and_ends_with_exit_code_0(tmp_path: Path, number: signal.Signals) -> None:
    with serving(tmp_path) as (process, url, output):
        with client(url) as connected:
            assert connected.get("/healthz").status_code == 200
            assert connected.get("/readyz").status_code == 200

        process.send_signal(number)

        assert process.wait(30) == 0, output.read_text()
        assert "Traceback" not in output.read_text()
        assert "no API keys are set" in output.read_text()
        assert f"data in {tmp_path}/foldline.db, summaries: extractive" in output.read_text()


def test_what_was_appended_is_there_after_a_restart(tmp_path: Path) -> None:
    with serving(tmp_path) as (process, url, _):
        message = {"role": "user", "content": "hello"}
        with client(url) as connected:
            session = connected.post("/sessions", json={"model": "openai/gpt-4o"}).json()
            path = f"/sessions/{session['id']}"
            assert connected.post(f"{path}/messages", json={"messages": [message]}).status_code == 201
        process.send_signal(signal.SIGKILL)
        process.wait(30)

    with serving(tmp_path) as (_, url, _), client(url) as connected:
        assert connected.get(f"{path}/context?format=openai").json()["messages"] == [message]


def test_with_keys_only_they_open_it(tmp_path: Path) -> None:
    with serving(tmp_path, FOLDLINE_API_KEYS="acme:secret") as (_, url, output), client(url) as connected:
        assert connected.get("/sessions").status_code == 401
        assert connected.get("/sessions", headers={"Authorization": "Bearer secret"}).status_code == 200
        assert "secret" not in output.read_text()


def test_it_refuses_to_be_reached_from_outside_without_keys() -> None:
    done = foldline("serve", "--host", "192.0.2.1", "--port", "0")

    assert done.returncode == 2
    assert "FOLDLINE_API_KEYS" in done.stderr


def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    with serving(tmp_path) as (_, url, _):
        port = url.rpartition(":")[2]
        done = foldline("serve", "--port", port, "--database-url", f"sqlite:///{tmp_path}/other.db")

    assert done.returncode == 3
    assert "--port" in done.stderr


def test_a_database_that_does_not_open_is_told(tmp_path: Path) -> None:
    done = foldline("serve", "--port", "0", "--database-url", f"sqlite:///{tmp_path}/none/foldline.db")

    assert done.returncode == 3
    assert "FOLDLINE_DATABASE_URL" in done.stderr
    assert f"there is no folder {tmp_path}/none" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("url", "code"), [("nonsense", 2), ("mysql://u:secret@host/log", 2), ("sqlite:///{folder}/notes.txt", 3)]
)
def test_an_address_of_no_database_is_told(tmp_path: Path, url: str, code: int) -> None:
    (tmp_path / "notes.txt").write_text("Nothing of this is a database.")

    done = foldline("serve", "--port", "0", "--database-url", url.format(folder=tmp_path))

    assert done.returncode == code
    assert done.stderr.startswith("foldline: ")
    assert "FOLDLINE_DATABASE_URL" in done.stderr
    assert "secret" not in done.stderr
    assert "Traceback" not in done.stderr


def test_a_setting_that_cannot_be_used_is_told_without_its_value(tmp_path: Path) -> None:
    done = foldline("serve", "--port", "99999")

    assert done.returncode == 2
    assert "FOLDLINE_PORT" in done.stderr


def test_a_broker_outside_the_process_is_told_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOLDLINE_BROKER_URL", "redis://:secret@127.0.0.1:1/0")

    done = foldline("serve", "--port", "0", "--database-url", f"sqlite:///{tmp_path}/foldline.db")

    assert done.returncode == 2
    assert "FOLDLINE_BROKER_URL" in done.stderr
    assert "secret" not in done.stderr
    assert "Traceback" not in done.stderr


def test_migrate_brings_a_database_to_the_newest_tables_once(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/foldline.db"

    first, second = foldline("migrate", "--database-url", url), foldline("migrate", "--database-url", url)

    assert (first.returncode, second.returncode) == (0, 0)
    assert first.stdout.startswith("database: empty → ")
    assert second.stdout.startswith("database: already at ")


def test_the_version_is_told() -> None:
    done = foldline("--version")

    assert (done.returncode, done.stdout) == (0, f"foldline {version('foldline')}\n")


def test_help_lists_the_commands() -> None:
    done = foldline("--help")

    assert done.returncode == 0
    for command in ("serve", "migrate", "compact", "stats", "replay", "presets", "models"):
        assert command in done.stdout
