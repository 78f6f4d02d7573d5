"""The HTTP rows: an append to the service against a bare endpoint that runs the same statements."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from benchmarks.harness import Row, seconds
from benchmarks.processes import serving
from foldline import migrations
from foldline.client import Client
from foldline.log.storage.store import Store
from foldline.log.use_cases import lifecycle
from foldline.replay.embedded import embedded_service
from stack.stack import Stack

CLIENTS: Final = 4
# How many connections append at the same time, and the share of the bare endpoint's rate that is the goal.
GOALS: Final = {1: 0.9, 8: 0.9, 64: 0.85}
APPENDS: Final = 256
MODEL: Final[dict[str, Any]] = {"model": "openai/gpt-4o", "context_window": 100_000_000}


def rows_on_sqlite(folder: Path) -> Iterator[Row]:
    """The row of `foldline serve`; each server has a database of its own."""
    with embedded_service() as service, _bare(folder, f"sqlite:///{folder}/bare.db") as bare:
        yield from _rows("SQLite", service, bare)


def rows_on_postgresql(folder: Path, stack: Stack) -> Iterator[Row]:
    """The row of an API process; both servers use one database."""
    with _bare(folder, stack.database_url) as bare:
        yield from _rows("PostgreSQL", stack.api_url, bare)


def _rows(database: str, service: str, bare: str) -> Iterator[Row]:
    """Some connections, each appending one message after the other to one session."""
    ours = new_session(service, MODEL)
    for connections, share in GOALS.items():
        yield Row(
            name=f"append through HTTP, {database}, {connections} at once",
            ours="POST /sessions/{id}/messages",
            theirs="bare FastAPI endpoint, same statements",
            time_ours=partial(_append_at_once, ours, connections),
            time_theirs=partial(_append_at_once, bare, connections),
            at_most=1 / share,
        )


def _append_at_once(url: str, connections: int) -> float:
    return seconds(lambda: append_all([url] * connections, APPENDS // connections, connections))


def new_session(service: str, body: dict[str, Any]) -> str:
    """The address at which to append to a new session."""
    with Client(service) as client:
        return f"{service}/sessions/{client.create_session(body)['id']}/messages"


@contextmanager
def _bare(folder: Path, database_url: str) -> Iterator[str]:
    """The address at which to append to a session through the bare endpoint."""
    store = Store(database_url)
    migrations.upgrade(store.engine)
    with store.write() as tx:
        session_id = lifecycle.create(tx, "default", lifecycle.NewSession(**MODEL)).session.id
    store.close()
    with serving(folder, "benchmarks.bare_endpoint", database_url) as url:
        yield f"{url}/sessions/{session_id}/messages"


def append_all(urls: Sequence[str], number: int, clients: int = CLIENTS) -> list[float]:
    """The seconds of every append: `number` of them to each address, as many addresses at a time as `clients`."""
    with ThreadPoolExecutor(clients) as pool:
        return [taken for each in pool.map(partial(_append, number=number), urls) for taken in each]


def _append(url: str, number: int) -> list[float]:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc)
    taken = [seconds(partial(_append_one, connection, parts.path)) for _ in range(number)]
    connection.close()
    return taken


# Nobody says the same sentence in each message, and what a sentence says is remembered.
_NUMBERS: Final = count()


def _body(number: int) -> str:
    said = " ".join(f"Read file {number}.{line}, then run its tests again." for line in range(20))
    return json.dumps({"messages": [{"role": "user", "content": said}]})


def _append_one(connection: http.client.HTTPConnection, path: str) -> None:
    connection.request("POST", path, _body(next(_NUMBERS)), {"Content-Type": "application/json"})
    response = connection.getresponse()
    answer = response.read()
    if response.status != http.client.CREATED:
        raise RuntimeError(answer.decode())
