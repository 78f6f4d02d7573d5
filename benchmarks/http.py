"""The HTTP rows: an append to the service against a bare endpoint that runs the same statements."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
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
APPENDS_EACH: Final = 50
MODEL: Final[dict[str, Any]] = {"model": "openai/gpt-4o", "context_window": 100_000_000}
BODY: Final = json.dumps({"messages": [{"role": "user", "content": "Read the file, then run the tests again. " * 20}]})


def rows_on_sqlite(folder: Path) -> Iterator[Row]:
    """The row of `foldline serve`; each server has a database of its own."""
    with embedded_service() as service, _bare(folder, f"sqlite:///{folder}/bare.db") as bare:
        yield _row("SQLite", new_session(service, MODEL), bare)


def rows_on_postgresql(folder: Path, stack: Stack) -> Iterator[Row]:
    """The row of an API process; both servers use one database."""
    with _bare(folder, stack.database_url) as bare:
        yield _row("PostgreSQL", new_session(stack.api_url, MODEL), bare)


def _row(database: str, ours: str, theirs: str) -> Row:
    """`CLIENTS` connections, each appending one message after the other."""
    return Row(
        name=f"append through HTTP, {database}",
        ours="POST /sessions/{id}/messages",
        theirs="bare FastAPI endpoint, same statements",
        time_ours=lambda: seconds(lambda: append_all([ours] * CLIENTS, APPENDS_EACH)),
        time_theirs=lambda: seconds(lambda: append_all([theirs] * CLIENTS, APPENDS_EACH)),
        at_most=1 / 0.5,
    )


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


def append_all(urls: Sequence[str], number: int) -> list[float]:
    """The seconds of every append: `number` of them to each address, `CLIENTS` addresses at a time."""
    with ThreadPoolExecutor(CLIENTS) as pool:
        return [taken for each in pool.map(partial(_append, number=number), urls) for taken in each]


def _append(url: str, number: int) -> list[float]:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc)
    taken = [seconds(partial(_append_one, connection, parts.path)) for _ in range(number)]
    connection.close()
    return taken


def _append_one(connection: http.client.HTTPConnection, path: str) -> None:
    connection.request("POST", path, BODY, {"Content-Type": "application/json"})
    response = connection.getresponse()
    answer = response.read()
    if response.status != http.client.CREATED:
        raise RuntimeError(answer.decode())
