"""What the append through HTTP is measured against: a bare FastAPI endpoint that runs the same statements.

`python -m benchmarks.bare_endpoint FILE`: on the tables of the SQLite database FILE, with the same settings of the
connection, and nothing between the request and SQLAlchemy Core but FastAPI's own parsing.
"""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio.to_thread
import uvicorn
from fastapi import FastAPI
from sqlalchemy import create_engine, event
from sqlalchemy.pool import QueuePool

from compaction.wire import dumps
from sessions.log import INSERT_ENTRY
from sessions.paths import HEAD_BY_ID, UPDATE_BRANCH, UPDATE_SESSION
from sessions.settings import Settings
from sessions.tables import ENTRY

BRANCH_VALUES = tuple(UPDATE_BRANCH.compile().params)
SESSION_VALUES = tuple(UPDATE_SESSION.compile().params)


def create_app(database: str) -> FastAPI:
    """The endpoint."""
    engine = create_engine(
        f"sqlite:///{database}",
        poolclass=QueuePool,
        pool_size=1,
        max_overflow=0,
        connect_args={"check_same_thread": False},
    )
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
    app = FastAPI(lifespan=_with_our_threads)
    turn = threading.Lock()

    @app.post("/sessions/{session_id}/messages", status_code=201)
    def append(session_id: str, body: dict[str, Any]) -> dict[str, Any]:
        with turn, engine.begin() as connection:
            row = connection.execute(HEAD_BY_ID, {"tenant": "default", "id": session_id}).mappings().one()
            seq = row["leaf_seq"] + 1
            connection.execute(INSERT_ENTRY, [_entry(row, seq, dumps(body["messages"]))])
            new = {**row, "leaf_seq": seq, "last_message_seq": seq, "version": row["version"] + 1}
            new |= {"number": row["branch"], "session_pk": row["pk"]}
            connection.execute(UPDATE_BRANCH, {name: new[name] for name in BRANCH_VALUES})
            connection.execute(UPDATE_SESSION, {name: new[name] for name in SESSION_VALUES})
        return {"entry_ids": [f"e0-{seq}"], "version": new["version"]}

    return app


@asynccontextmanager
async def _with_our_threads(_app: FastAPI) -> AsyncIterator[None]:
    anyio.to_thread.current_default_thread_limiter().total_tokens = Settings().threads
    yield


def _entry(row: Any, seq: int, body: bytes) -> dict[str, Any]:
    empty: dict[str, Any] = {column.name: 0 for column in ENTRY.c}
    return {
        **empty,
        "session_pk": row["pk"],
        "branch": row["branch"],
        "seq": seq,
        "tenant": "default",
        "kind": "message",
        "role": "user",
        "format": "openai",
        "edits_branch": None,
        "open_calls": None,
        "facts": None,
        "live": None,
        "body": body,
    }


def _prepare(connection: Any, _record: Any) -> None:
    connection.isolation_level = None
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "busy_timeout=10000"):
        connection.execute(f"PRAGMA {pragma}")


def main() -> None:
    """Serve on a free port of the loopback interface until stopped."""
    # Without the protocol named, asyncio leaves Nagle's algorithm on, and every answer waits 40 ms.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    sys.stdout.write(f"listening on http://127.0.0.1:{listening.getsockname()[1]}\n")
    sys.stdout.flush()
    server = uvicorn.Server(uvicorn.Config(create_app(sys.argv[1]), log_level="warning", access_log=False))
    server.run(sockets=[listening])


if __name__ == "__main__":
    main()
