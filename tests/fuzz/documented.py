"""Requests of every kind that the OpenAPI document allows or forbids, by Schemathesis, which checks each answer."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import httpx

from tests.fuzz.known_ids import SESSIONS
from tests.support.processes.api import assistant, calling, result, user
from tests.support.processes.daemons import daemon
from tests.support.processes.http import client
from tests.support.processes.program import REPOSITORY

# Schemathesis alone imports it.
HOOKS: Final = "tests.fuzz.schemathesis_hooks"
HERE: Final = Path(__file__).parent
LISTENING: Final = r"listening on (http://127\.0\.0\.1:\d+)"
ATTACKER, VICTIM = ({"Authorization": f"Bearer the-long-key-of-{name}"} for name in ("attacker", "victim"))
KEYS: Final = "attacker:the-long-key-of-attacker,victim:the-long-key-of-victim"
# What Schemathesis sends for one example of each of the 44 operations, in all of its phases.
REQUESTS_AN_EXAMPLE: Final = 53
# What deletes the sessions that the hooks name; and the first key of a service without keys, which is then asked for.
DELETES_ALL: Final = "delete_all"
CREATES_KEYS: Final = "create_key"


class FuzzedService(NamedTuple):
    """A running service, with or without keys, which has the sessions that the hooks name."""

    url: str
    process_id: int
    headers: dict[str, str]


@contextmanager
def fuzzed_service(folder: Path, *, has_keys: bool, **variables: str) -> Iterator[FuzzedService]:
    """`foldline serve` on a new database in this folder."""
    keys = {"FOLDLINE_API_KEYS": KEYS} if has_keys else {}
    database = {"FOLDLINE_DATABASE_URL": f"sqlite:///{folder}/foldline.db"}
    with daemon(folder, "serve", "--port", "0", until=LISTENING, variables=database | keys | variables) as started:
        headers = ATTACKER if has_keys else {}
        service = FuzzedService(started.ready.removeprefix("listening on "), started.process.pid, headers)
        with client(service.url) as caller:
            caller.headers.update(headers)
            for name in SESSIONS:
                _fill(caller, name)
        yield service


def _fill(caller: httpx.Client, name: str) -> None:
    """Create a session with a compaction and more than one branch."""
    said = [user("Never delete src/app.py."), calling("c1"), result("c1", "seen\n" * 2000), assistant("Done.")]
    made = [
        caller.post("/sessions", json={"id": name, "model": "openai/gpt-4o", "context_window": 8000}),
        caller.post(f"/sessions/{name}/messages", json={"messages": said}),
        caller.post(f"/sessions/{name}/compact", json={"target_tokens": 1000}),
        caller.post(f"/sessions/{name}/branch", json={"entry_id": "e0-2"}),
    ]
    assert all(answer.is_success for answer in made), [answer.text for answer in made]


def run_schemathesis(service: FuzzedService, folder: Path, requests: int, seed: int) -> int:
    """Send about so many requests; the exit code of Schemathesis, which prints what it found."""
    examples = max(1, requests // REQUESTS_AN_EXAMPLE)
    name, value = next(iter(service.headers.items()), ("X-Fuzz", "open"))
    left_out = [DELETES_ALL] if service.headers else [DELETES_ALL, CREATES_KEYS]
    excluded = [f"--exclude-operation-id={operation}" for operation in left_out]
    return subprocess.run(
        [
            sys.executable, "-m", "schemathesis.cli", "--config-file", HERE / "schemathesis.toml",
            "run", f"{service.url}/openapi.json", "--header", f"{name}: {value}", *excluded,
            "--max-examples", str(examples), "--seed", str(seed), "--no-shrink", "--continue-on-failure",
            "--suppress-health-check", "all", "--request-timeout", "30",
        ],
        cwd=folder,
        env=os.environ | {"SCHEMATHESIS_HOOKS": HOOKS, "PYTHONPATH": os.fspath(REPOSITORY)},
        check=False,
    ).returncode  # fmt: skip
