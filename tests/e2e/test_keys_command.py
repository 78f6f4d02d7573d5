"""`foldline keys` as an operator uses it, beside a service that runs."""

from __future__ import annotations

import json
from pathlib import Path

from foldline_api.http.known_keys import KNOWN_SECONDS

from tests.e2e.test_serve import serving
from tests.support.eventually import eventually
from tests.support.processes.http import client
from tests.support.processes.program import foldline

NEW = {"model": "nobody/nothing", "context_window": 2000}


def test_keys_are_created_listed_and_revoked_while_a_service_runs(tmp_path: Path) -> None:
    database = ("--database-url", f"sqlite:///{tmp_path}/foldline.db")

    def keys(*arguments: str, code: int = 0) -> str:
        done = foldline("keys", *arguments, *database)
        assert (done.returncode, "Traceback" in done.stderr) == (code, False)
        return done.stdout if code == 0 else done.stderr

    with serving(tmp_path, {"FOLDLINE_API_KEYS": "default:key-of-the-operator"}) as (running, url):
        reading = keys("create", "dashboard", "--scope", "read", "--days", "30").strip()
        made = json.loads(keys("create", "agent", "--tenant", "acme", "--json"))
        assert (made["tenant"], made["scopes"], made["expires_at"]) == ("acme", ["read", "write"], None)
        with client(url) as connected:

            def status(key: str, method: str = "GET") -> int:
                return connected.request(
                    method, "/sessions", json=NEW, headers={"Authorization": f"Bearer {key}"}
                ).status_code

            assert (status(reading), status(reading, "POST")) == (200, 403)
            assert (status(made["key"]), status(made["key"], "POST")) == (200, 201)
            assert keys("revoke", made["id"]) == f"{made['id']}: revoked\n"
            eventually(lambda: status(made["key"]) == 401, 2 * KNOWN_SECONDS + 1)
            assert status(reading) == 200
            trail = connected.get("/audit", headers={"Authorization": "Bearer key-of-the-operator"}).json()["items"]
            assert [(line["actor"], line["action"]) for line in trail] == [("command", "created-key")]
        lines = keys("list").splitlines()
        assert [line.split()[0] for line in lines] == ["key", reading.rpartition("_")[0], made["id"]]
        assert [line.split()[4] for line in lines[1:]] == ["until", "revoked"]
        assert [json.loads(line)["name"] for line in keys("list", "--tenant", "acme", "--json").splitlines()] == [
            "agent"
        ]
        assert "there is no key 'fl_0'; `foldline keys list` shows what there is" in keys("revoke", "fl_0", code=2)
    assert made["key"] not in running.printed
    assert "no API keys are set" not in running.printed
    with serving(tmp_path) as (running, url), client(url) as connected:
        assert connected.get("/sessions").status_code == 401
        assert "no API keys are set" not in running.printed
