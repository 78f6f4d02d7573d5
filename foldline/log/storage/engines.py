"""SQLAlchemy engines: which database URLs are supported, and how PostgreSQL and SQLite connections are set up."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager, closing, suppress
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any, Final, NamedTuple
from urllib.parse import unquote, urlsplit

from sqlalchemy import URL, Boolean, Connection, Dialect, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DisconnectionError
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool
from sqlalchemy.sql.functions import FunctionElement
from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_random

from foldline.log.errors import FileGone, InvalidDatabase, Unavailable

SQLITE: Final = "sqlite"
# Names that users write, and the driver that is installed.
DRIVERS: Final = {"postgres": "postgresql+psycopg", "postgresql": "postgresql+psycopg"}
BACKENDS: Final = frozenset({SQLITE, "postgresql"})

CONNECTIONS: Final = 24
# How long to wait for a new connection, for a free one, or for a lock.
WAIT_SECONDS: Final = 10
# No statement of ours takes a second. A longer one has lost its client, and may hold a lock that others wait for.
STATEMENT_SECONDS: Final = 30
# A statement is prepared when a connection runs it so often.
PREPARED_FROM: Final = 5
# How long writers may wait for the log of SQLite to be emptied.
LOG_MILLISECONDS: Final = 50
# A connection that was idle for longer is tested first, so that a restart of the server costs no error.
IDLE_SECONDS_BEFORE_TEST: Final = 1.0


class Engines(NamedTuple):
    """`writer` for transactions that change the log, `reader` for transactions that read one consistent state.

    On SQLite all have the same `file` open, and `at_once` is for reads that wait for nothing.
    """

    writer: Engine
    reader: Engine
    at_once: Engine | None = None
    file: _DatabaseFile | None = None

    @property
    def all(self) -> list[Engine]:
        """All of them."""
        return [engine for engine in (self.writer, self.reader, self.at_once) if engine is not None]

    @property
    def in_use(self) -> int:
        """The number of connections in use now."""
        return sum(pool.checkedout() for pool in self._pools)

    @property
    def most(self) -> int:
        """The largest number of connections."""
        return sum(pool.size() for pool in self._pools)

    @property
    def _pools(self) -> list[QueuePool]:
        """On PostgreSQL both engines share one pool."""
        pools = {id(engine.pool): engine.pool for engine in self.all}
        return [pool for pool in pools.values() if isinstance(pool, QueuePool)]

    def dispose(self) -> None:
        """Close all connections."""
        for engine in self.all:
            engine.dispose()


class _WithoutSync(FunctionElement[bool]):
    name = "without_sync"
    type = Boolean()
    inherit_cache = True


@compiles(_WithoutSync, SQLITE)
def _always_synced(_element: _WithoutSync, _compiler: Any, **_: Any) -> str:
    return "true"


@compiles(_WithoutSync, "postgresql")
def _not_synced(_element: _WithoutSync, _compiler: Any, **_: Any) -> str:
    return "set_config('synchronous_commit', 'off', true) = 'off'"


# What a statement returns that changes rows, if its transaction is to commit without waiting for the disk: if the
# server crashes, this transaction alone may be lost. A statement of its own would be a round trip. No effect on SQLite.
WITHOUT_SYNC: Final = _WithoutSync()


def address_of(url: str) -> URL:
    """The parsed URL of a supported database, with the installed driver.

    Raises:
        InvalidDatabase: the URL is malformed, or the database is not supported.
    """
    try:
        address = make_url(url)
    except (ArgumentError, ValueError):
        # The cause quotes the URL.
        problem = "it is not a URL"
        raise InvalidDatabase(problem) from None
    address = address.set(drivername=DRIVERS.get(address.drivername, address.drivername))
    if address.get_backend_name() not in BACKENDS:
        problem = f"{address.get_backend_name()} is not supported"
        raise InvalidDatabase(problem)
    if address.get_backend_name() == SQLITE and address.database in {None, "", ":memory:"}:
        # Each connection would get a database of its own.
        problem = "a database in memory cannot be shared"
        raise InvalidDatabase(problem)
    return address


def file_of(address: URL) -> Path:
    """The file of an SQLite database, also of one that is named by a `file:` URI."""
    named = str(address.database)
    return Path(unquote(urlsplit(named).path) if named.startswith("file:") else named)


class KnownFile(NamedTuple):
    """The file of an SQLite database that another process has open."""

    path: Path
    inode: int


def open_engines(
    address: URL, connections: int = CONNECTIONS, *, prepares: bool = True, file: KnownFile | None = None
) -> Engines:
    """Engines with at most so many connections each; nothing connects yet, and then to no other `file`.

    `prepares`: PostgreSQL keeps the statements of a connection prepared, which a pooler by transactions cannot.

    Raises:
        InvalidDatabase: the driver is not installed.
    """
    try:
        is_sqlite = address.get_backend_name() == SQLITE
        return (
            _sqlite(address, connections, file) if is_sqlite else _postgresql(address, connections, prepares=prepares)
        )
    except (ArgumentError, ImportError) as error:
        problem = f"no driver for {address.drivername} is installed"
        raise InvalidDatabase(problem) from error


def _postgresql(address: URL, connections: int, *, prepares: bool) -> Engines:
    writer = create_engine(
        address,
        pool_size=connections,
        max_overflow=0,
        pool_timeout=WAIT_SECONDS,
        # The connection used last has its statements prepared, and the server's caches warm.
        pool_use_lifo=True,
        isolation_level="READ COMMITTED",
        connect_args={
            "application_name": f"foldline {version('foldline')}",
            "connect_timeout": WAIT_SECONDS,
            "options": _options(address),
            "prepare_threshold": PREPARED_FROM if prepares else None,
            # A server that vanished is noticed within this time, not after the kernel's two hours.
            "keepalives_idle": WAIT_SECONDS,
            "keepalives_interval": WAIT_SECONDS,
            "keepalives_count": 3,
            "tcp_user_timeout": STATEMENT_SECONDS * 1000,
        },
    )
    event.listen(writer, "checkin", _note_use)
    event.listen(writer, "checkout", _check_of_idle(writer.dialect.loaded_dbapi.Error))
    # The same pool: isolation and read-only mode are set at the beginning of each transaction.
    return Engines(writer, writer.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True))


def _note_use(_connection: Any, record: ConnectionPoolEntry) -> None:
    record.info["used_at"] = monotonic()


def _check_of_idle(failure: type[Exception]) -> Callable[[Any, ConnectionPoolEntry, Any], None]:
    """A listener that has the pool replace a connection that is broken after a time without use.

    `failure` is the driver's exception; the driver is loaded only where it is used.
    """

    def check_if_idle(connection: Any, record: ConnectionPoolEntry, _proxy: Any) -> None:
        # A test before every transaction would double the round trips.
        if monotonic() - record.info.get("used_at", monotonic()) < IDLE_SECONDS_BEFORE_TEST:
            return
        try:
            connection.execute("")
            connection.rollback()
        except failure as error:
            raise DisconnectionError from error

    return check_if_idle


def _options(address: URL) -> str:
    """The server options of each connection: those in the URL, then that statements run alone, and the time-outs."""
    seconds = {
        "lock_timeout": WAIT_SECONDS,
        "statement_timeout": STATEMENT_SECONDS,
        "idle_in_transaction_session_timeout": STATEMENT_SECONDS,
    }
    given = address.query.get("options", ())
    parts = [given] if isinstance(given, str) else [*given]
    # Our statements take milliseconds, and starting workers of the server for one takes longer.
    alone = "-c max_parallel_workers_per_gather=0"
    return " ".join([*parts, alone, *(f"-c {name}={value}s" for name, value in seconds.items())])


def _sqlite(address: URL, connections: int, known: KnownFile | None) -> Engines:
    """SQLite's default BEGIN takes its lock at the first write, and fails there if another writer was faster."""
    file = _DatabaseFile(*(known or ()))
    writer = _sqlite_engine(address, 1, _begin_to_write, file)
    reader = _sqlite_engine(address, connections, _begin_to_read, file)
    for engine in (writer, reader):
        event.listen(engine, "connect", _prepare_file)
    return Engines(writer, reader, _sqlite_engine(address, 1, _begin_to_read, file, wait_seconds=0), file)


@dataclass(slots=True)
class _DatabaseFile:
    """The file that the first connection opened: all others have to open the same one.

    What is written to a file that was deleted is lost with the process. A new connection to its path would be worse: it
    begins an empty file there, and SQLite deletes the log of the one that was.
    """

    path: Path | None = None
    inode: int = 0
    _lock: Lock = field(default_factory=Lock)

    @property
    def known(self) -> KnownFile | None:
        """The file, once there was a connection."""
        return None if self.path is None else KnownFile(self.path, self.inode)

    def connect(self, dialect: Dialect, _record: Any, arguments: list[Any], named: dict[str, Any]) -> Any:
        """A new connection; the first one makes the file, which others on this machine cannot read.

        Raises:
            FileGone: as `check`.
        """
        with self._lock:
            if self.path is not None:
                self.check()
                return dialect.connect(*arguments, **named)
            if not arguments[0].startswith("file:"):
                # SQLite says itself what is wrong with a path, and gives its log the same mode.
                with suppress(OSError):
                    os.close(os.open(arguments[0], os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            connection = dialect.connect(*arguments, **named)
            self.path = _path_of(connection)
            self.inode = self.path.stat().st_ino
            return connection

    def check(self) -> None:
        """Check that the file is where it was, once it is known.

        Raises:
            FileGone: it was deleted, or another one put in its place.
        """
        if self.path is None:
            return
        try:
            is_there = self.path.stat().st_ino == self.inode
        except FileNotFoundError:
            is_there = False
        if not is_there:
            raise FileGone(self.path)


def _path_of(connection: Any) -> Path:
    """The path of the database of SQLite's connection; its URL may have another form of it."""
    return Path(connection.execute("PRAGMA database_list").fetchone()[2])


def _begin_to_write(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _begin_to_read(connection: Connection) -> None:
    # It takes no lock, so it does not fail; SQLAlchemy's way takes ten times as long.
    connection.connection.driver_connection.execute("BEGIN")  # type: ignore[union-attr]


def _sqlite_engine(
    address: URL,
    connections: int,
    begin: Callable[[Connection], None],
    file: _DatabaseFile,
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
            if Path(f"{_path_of(connection)}-wal").stat().st_size == 0:
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
