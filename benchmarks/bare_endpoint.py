"""A bare FastAPI endpoint: appends through HTTP are measured against the same statements, views against the same bytes.

`python -m benchmarks.bare_endpoint URL`: on the tables of the database at URL, with connections like ours, and nothing
between the request and SQLAlchemy Core but FastAPI's own parsing.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from typing import Any

import anyio.to_thread
from fastapi import FastAPI, Response

from benchmarks.bare_server import serve
from foldline.engine.wire import dumps
from foldline.log.storage.engines.addresses import SQLITE, address_of
from foldline.log.storage.engines.opening import open_engines
from foldline.log.storage.entry_log import INSERT_ENTRY
from foldline.log.storage.paths import HEAD_BY_ID, LOCK_BY_ID, UPDATE_BRANCH, UPDATE_SESSION
from foldline.log.storage.tables import ENTRY
from foldline.settings import Settings

BRANCH_VALUES = tuple(UPDATE_BRANCH.compile().params)
SESSION_VALUES = tuple(UPDATE_SESSION.compile().params)


def create_app(url: str) -> FastAPI:
    """The endpoint."""
    address = address_of(url)
    is_sqlite = address.get_backend_name() == SQLITE
    engine = open_engines(address).writer
    app = FastAPI(lifespan=_with_our_threads)
    turn: AbstractContextManager[Any] = threading.Lock() if is_sqlite else nullcontext()

    @app.post("/sessions/{session_id}/messages", status_code=201)
    def append(session_id: str, body: dict[str, Any]) -> dict[str, Any]:
        with turn, engine.begin() as connection:
            found = {"tenant": "default", "id": session_id}
            if not is_sqlite:
                connection.execute(LOCK_BY_ID, found).all()
            row = connection.execute(HEAD_BY_ID, found).mappings().one()
            seq = row["leaf_seq"] + 1
            connection.execute(INSERT_ENTRY, [_entry(row, seq, dumps(body["messages"]))])
            new = {**row, "leaf_seq": seq, "last_message_seq": seq, "version": row["version"] + 1}
            new |= {"number": row["branch"], "session_pk": row["pk"]}
            connection.execute(UPDATE_BRANCH, {name: new[name] for name in BRANCH_VALUES})
            connection.execute(UPDATE_SESSION, {name: new[name] for name in SESSION_VALUES})
        return {"entry_ids": [f"e0-{seq}"], "version": new["version"]}

    @app.get("/bytes/{size}")
    async def read(size: int) -> Response:
        return Response(b" " * size, media_type="application/json")

    return app


@asynccontextmanager
async def _with_our_threads(_app: FastAPI) -> AsyncIterator[None]:
    anyio.to_thread.current_default_thread_limiter().total_tokens = Settings().threads
    yield


def _entry(row: Any, seq: int, body: bytes) -> dict[str, Any]:
    empty: dict[str, Any] = {column.name: column.type.python_type() for column in ENTRY.c}
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
        "ledger": None,
        "live": None,
        "body": body,
    }


if __name__ == "__main__":
    serve(create_app(sys.argv[1]))
