"""`foldline encrypt` and FOLDLINE_ENCRYPTION_KEYS as an operator uses them, with a service that runs meanwhile."""

from __future__ import annotations

import base64
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.e2e.test_serve import serving
from tests.support.processes.http import client
from tests.support.processes.program import foldline

KEYS = "FOLDLINE_ENCRYPTION_KEYS"
OLD, NEW = (base64.b64encode(letter * 32).decode() for letter in (b"o", b"n"))
SESSION = {"id": "s", "model": "nobody/nothing", "context_window": 8000, "system": "You know the swordfish."}
SAID = {"messages": [{"role": "user", "content": f"{word} swordfish"} for word in ("First", "Second")]}


def is_readable(file: Path) -> bool:
    with closing(sqlite3.connect(file)) as connection:
        dumped = "\n".join(connection.iterdump())
    # A value of bytes is dumped in hexadecimal.
    return any(word in dumped for word in ("swordfish", b"swordfish".hex().upper()))


def test_keys_are_set_changed_and_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "foldline.db"
    database = ("--database-url", f"sqlite:///{file}")
    with serving(tmp_path) as (_, url), client(url) as connected:
        assert connected.post("/sessions", json=SESSION).is_success
        assert connected.post("/sessions/s/messages", json=SAID).is_success
    assert is_readable(file)
    assert "there is no key: set FOLDLINE_ENCRYPTION_KEYS" in foldline("encrypt", *database).stderr
    for keys in (OLD, f"{NEW},{OLD}"):
        with serving(tmp_path, {KEYS: keys}) as (running, url), client(url) as connected:
            assert "run `foldline encrypt`" in running.printed
            monkeypatch.setenv(KEYS, keys)
            done = foldline("encrypt", *database)
            assert (done.returncode, "rows were encrypted with the key" in done.stdout) == (0, True), done.stderr
            assert connected.post("/sessions/s/messages", json=SAID).is_success
            texts = [message["content"] for message in connected.get("/sessions/s/context").json()["messages"]]
            assert "First swordfish" in texts
        assert not is_readable(file)
    for keys in ("", OLD):
        monkeypatch.setenv(KEYS, keys)
        done = foldline("serve", "--port", "0", *database)
        assert (done.returncode, "add that key to FOLDLINE_ENCRYPTION_KEYS" in done.stderr) == (3, True)
    with serving(tmp_path, {KEYS: NEW}) as (running, url), client(url) as connected:
        assert connected.get("/sessions/s/context").is_success
        assert "foldline encrypt" not in running.printed
