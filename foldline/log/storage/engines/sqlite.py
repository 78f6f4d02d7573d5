"""Engines on a file of SQLite, which is one and the same for all connections of a process."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any, Final

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.pool import QueuePool
from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_random

from foldline.log.errors import Unavailable
from foldline.log.storage.engines.database_file import DatabaseFile, KnownFile, path_of
from foldline.log.storage.engines.engine_set import WAIT_SECONDS, Engines

# How long writers may wait for the log of SQLite to be emptied.
LOG_MILLISECONDS: Final = 50


def open_file(address: URL, connections: int, known: KnownFile | None) -> Engines:
    """Engines with one connection to write, so many to read, and one to read at once, all to the `known` file if any.

    Nothing connects yet.
    """
    file = DatabaseFile(*(known or ()))
    writer = _sqlite_engine(address, 1, _begin_to_write, file)
    reader = _sqlite_engine(address, connections, _begin_to_read, file)
    for engine in (writer, reader):
        event.listen(engine, "connect", _prepare_file)
    return Engines(writer, reader, _sqlite_engine(address, 1, _begin_to_read, file, wait_seconds=0), file)


def _begin_to_write(connection: Connection) -> None:
    # SQLite's default BEGIN takes its lock at the first write, and fails there if another writer was faster.
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _begin_to_read(connection: Connection) -> None:
    # It takes no lock, so it does not fail; SQLAlchemy's way takes ten times as long.
    connection.connection.driver_connection.execute("BEGIN")  # type: ignore[union-attr]


def _sqlite_engine(
    address: URL,
    connections: int,
    begin: Callable[[Connection], None],
    file: DatabaseFile,
    *,
    wait_seconds: int = WAIT_SECONDS,
) -> Engine:
    engine = create_engine(
        address,
        poolclass=QueuePool,
        pool_size=connections,
        max_overflow=0,
        pool_timeout=wait_seconds,
        connect_args={"check_same_thread": False, "timeout": wait_seconds},
    )
    event.listen(engine, "do_connect", file.connect)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", lambda _connection: file.check())
    event.listen(engine, "begin", begin)
    return engine


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    # The driver's own transaction handling would begin too late for BEGIN IMMEDIATE.
    connection.isolation_level = None
    connection.execute("PRAGMA foreign_keys=ON")


def _prepare_file(connection: Any, _record: Any) -> None:
    _retrying(connection.execute, "PRAGMA journal_mode=WAL")
    # An acknowledged append survives a power cut, not only the death of the process.
    connection.execute("PRAGMA synchronous=FULL")
    # What is deleted is overwritten. Some builds of SQLite do so by themselves, others not.
    connection.execute("PRAGMA secure_delete=ON")


def empty_log(engine: Engine, alone: AbstractContextManager[None]) -> bool:
    """Move what is in SQLite's log to the database, and empty its file; whether nothing is left in it.

    What was overwritten in the database may be in the log in an older form. It stays there while others read, or for so
    long that writers would notice. While it is emptied, this process is `alone`: nobody in it writes.
    """
    with closing(engine.raw_connection()) as pooled:
        connection: Any = pooled.driver_connection
        try:
            if Path(f"{path_of(connection)}-wal").stat().st_size == 0:
                return True
        except FileNotFoundError:
            return True
        # The first does most of the work, and nobody waits for it.
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        connection.execute(f"PRAGMA busy_timeout={LOG_MILLISECONDS}")
        try:
            with alone:
                ((is_busy, _, _),) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except sqlite3.OperationalError as error:
            raise Unavailable(str(error)) from error
        finally:
            connection.execute(f"PRAGMA busy_timeout={WAIT_SECONDS * 1000}")
        return not is_busy


# When several processes switch a new file to WAL at the same time, SQLite makes all but one fail without waiting.
_retrying: Final = Retrying(
    retry=retry_if_exception_type(sqlite3.OperationalError),
    wait=wait_random(0, 0.05),
    stop=stop_after_delay(WAIT_SECONDS),
    reraise=True,
)
