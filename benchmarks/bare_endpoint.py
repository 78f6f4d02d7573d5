"""What the append through HTTP is measured against: a bare FastAPI endpoint that runs the same statements.

`python -m benchmarks.bare_endpoint FILE`: on the tables of the SQLite database FILE, with the same settings of the
connection, and nothing between the request and SQLAlchemy Core but FastAPI's own parsing.
"""

from __future__ import annotations

import socket
import sys
import threading
from typing import Any

import uvicorn
from fastapi import FastAPI
from sqlalchemy import and_, bindparam, create_engine, event, insert, select, update
from sqlalchemy.pool import QueuePool

from sessions.tables import BRANCH, ENTRY, SESSION

HEAD = (
    select(SESSION, BRANCH)
    .join_from(SESSION, BRANCH, and_(BRANCH.c.session_pk == SESSION.c.pk, BRANCH.c.branch == SESSION.c.head))
    .where(SESSION.c.tenant == bindparam("tenant"), SESSION.c.id == bindparam("id"), SESSION.c.deleted_at.is_(None))
)
INSERT = insert(ENTRY)
BRANCH_COLUMNS = tuple(
    column.name for column in BRANCH.c if column.name not in {"session_pk", "branch", "tenant", "parent"}
)
UPDATE_BRANCH = (
    update(BRANCH)
    .where(BRANCH.c.session_pk == bindparam("pk"), BRANCH.c.branch == bindparam("number"))
    .values({name: bindparam(name) for name in BRANCH_COLUMNS})
)
SESSION_COLUMNS = tuple(
    column.name for column in SESSION.c if column.name not in {"pk", "tenant", "id", "created_at", "deleted_at"}
)
UPDATE_SESSION = (
    update(SESSION)
    .where(SESSION.c.pk == bindparam("session_pk"))
    .values({name: bindparam(name) for name in SESSION_COLUMNS})
)


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
    app = FastAPI()
    turn = threading.Lock()

    @app.post("/sessions/{session_id}/messages", status_code=201)
    def append(session_id: str, body: dict[str, Any]) -> dict[str, Any]:
        with turn, engine.begin() as connection:
            row = connection.execute(HEAD, {"tenant": "default", "id": session_id}).mappings().one()
            seq = row["leaf_seq"] + 1
            connection.execute(INSERT, [_entry(row, seq, str(body["messages"]).encode())])
            branch = {name: row[BRANCH.c[name]] for name in BRANCH_COLUMNS} | {"leaf_seq": seq, "last_message_seq": seq}
            connection.execute(UPDATE_BRANCH, {"pk": row["pk"], "number": row["branch"], **branch})
            session = {name: row[SESSION.c[name]] for name in SESSION_COLUMNS} | {"version": row["version"] + 1}
            connection.execute(UPDATE_SESSION, {"session_pk": row["pk"], **session})
        return {"entry_ids": [f"e0-{seq}"], "version": session["version"]}

    return app


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
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
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
