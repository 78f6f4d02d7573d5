"""The HTTP row: an append to the service against a bare endpoint that runs the same statements."""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import migrations
from benchmarks.harness import Row, seconds
from cli.client import Service
from cli.embedded import embedded_service
from cli.processes import stop
from sessions import lifecycle
from sessions.store import Store

CLIENTS = 4
APPENDS_EACH = 50
SESSION = "bench"
MODEL = {"id": SESSION, "model": "openai/gpt-4o", "context_window": 100_000_000}
BODY = json.dumps({"messages": [{"role": "user", "content": "Read the file, then run the tests again. " * 20}]})


@dataclass(frozen=True, slots=True)
class Pair:
    """The addresses of both servers."""

    service: str
    bare: str


@contextmanager
def servers(folder: Path) -> Iterator[Pair]:
    """Both servers, each in a process of its own, each with a database of its own and one session in it."""
    with embedded_service() as service, _bare(folder / "bare.db") as bare:
        with Service(service) as client:
            client.create_session(MODEL)
        yield Pair(service, bare)


@contextmanager
def _bare(database: Path) -> Iterator[str]:
    store = Store(f"sqlite:///{database}")
    migrations.upgrade(store.engine)
    with store.write() as tx:
        new = lifecycle.NewSession(str(MODEL["model"]), SESSION, 100_000_000)
        lifecycle.create(tx, "default", new)
    store.close()
    command = [sys.executable, "-m", "benchmarks.bare_endpoint", str(database)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=dict(os.environ))
    try:
        announced = process.stdout.readline() if process.stdout else b""
        found = re.search(r"http://\S+", announced.decode())
        if found is None:
            message = "the bare endpoint did not start"
            raise RuntimeError(message)
        yield found[0]
    finally:
        stop(process)
        if process.stdout is not None:
            process.stdout.close()


def rows(pair: Pair) -> list[Row]:
    """The row: `CLIENTS` connections, each appending one message after the other."""
    return [
        Row(
            name="append through HTTP",
            ours="POST /sessions/{id}/messages",
            theirs="bare FastAPI endpoint, same statements",
            time_ours=lambda: seconds(lambda: _append_all(pair.service)),
            time_theirs=lambda: seconds(lambda: _append_all(pair.bare)),
            at_most=1 / 0.5,
        )
    ]


def _append_all(address: str) -> None:
    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(_append_from_one, [address] * CLIENTS))


def _append_from_one(address: str) -> None:
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port)
    for _ in range(APPENDS_EACH):
        connection.request("POST", f"/sessions/{SESSION}/messages", BODY, {"Content-Type": "application/json"})
        response = connection.getresponse()
        answer = response.read()
        if response.status != http.client.CREATED:
            raise RuntimeError(answer.decode())
    connection.close()
