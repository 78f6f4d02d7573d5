"""Connections to the database: what its address may be, and how each kind of database is set up."""

from __future__ import annotations

import sqlite3
from time import monotonic
from typing import Any, Final, NamedTuple

from psycopg import Error as DriverError
from sqlalchemy import URL, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DisconnectionError
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool
from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_random

from foldline.log.errors import InvalidDatabase

SQLITE: Final = "sqlite"
# What people write, and the driver that is here.
DRIVERS: Final = {"postgres": "postgresql+psycopg", "postgresql": "postgresql+psycopg"}
BACKENDS: Final = frozenset({SQLITE, "postgresql"})

CONNECTIONS: Final = 24
# How long a connection may take to be made, to be free, or to be let at a row.
WAIT_SECONDS: Final = 10
# No statement of ours takes a second. What takes longer has lost its client, and may hold a session that others want.
STATEMENT_SECONDS: Final = 30
# A server that is restarted while a connection is not used for so long costs nobody an error.
REST_SECONDS: Final = 1.0


class Engines(NamedTuple):
    """`writer` begins transactions that change the log, `reader` such that see one state of it throughout."""

    writer: Engine
    reader: Engine

    @property
    def in_use(self) -> int:
        """How many connections are in use now."""
        return sum(pool.checkedout() for pool in self._pools)

    @property
    def most(self) -> int:
        """How many there may be."""
        return sum(pool.size() for pool in self._pools)

    @property
    def _pools(self) -> list[QueuePool]:
        """On PostgreSQL both draw from one."""
        pools = {id(engine.pool): engine.pool for engine in self}
        return [pool for pool in pools.values() if isinstance(pool, QueuePool)]

    def dispose(self) -> None:
        """Close all connections."""
        self.writer.dispose()
        self.reader.dispose()


def address_of(url: str) -> URL:
    """The address of a database that is supported.

    Raises:
        InvalidDatabase: it is none.
    """
    try:
        address = make_url(url)
    except (ArgumentError, ValueError):
        # Its cause would show the address.
        problem = "it has not the form of one"
        raise InvalidDatabase(problem) from None
    address = address.set(drivername=DRIVERS.get(address.drivername, address.drivername))
    if address.get_backend_name() not in BACKENDS:
        problem = f"{address.get_backend_name()} is no database that is supported"
        raise InvalidDatabase(problem)
    if address.get_backend_name() == SQLITE and address.database in {None, "", ":memory:"}:
        # Each connection would have one of its own.
        problem = "a database in memory cannot be shared"
        raise InvalidDatabase(problem)
    return address


def open_engines(address: URL, connections: int = CONNECTIONS) -> Engines:
    """Engines with at most so many connections of each kind; none is made yet.

    Raises:
        InvalidDatabase: the driver is not installed.
    """
    try:
        return (
            _sqlite(address, connections) if address.get_backend_name() == SQLITE else _postgresql(address, connections)
        )
    except (ArgumentError, ImportError) as error:
        problem = f"no driver for {address.drivername} is installed"
        raise InvalidDatabase(problem) from error


def _postgresql(address: URL, connections: int) -> Engines:
    writer = create_engine(
        address,
        pool_size=connections,
        max_overflow=0,
        pool_timeout=WAIT_SECONDS,
        # The one used last has its statements prepared, and the server's caches warm.
        pool_use_lifo=True,
        isolation_level="READ COMMITTED",
        connect_args={
            "application_name": "foldline",
            "connect_timeout": WAIT_SECONDS,
            "options": _options(address),
            # A server that vanished without a word is found out within this, not after the kernel's two hours.
            "keepalives_idle": WAIT_SECONDS,
            "keepalives_interval": WAIT_SECONDS,
            "keepalives_count": 3,
            "tcp_user_timeout": STATEMENT_SECONDS * 1000,
        },
    )
    event.listen(writer, "checkin", _note_use)
    event.listen(writer, "checkout", _test_after_a_rest)
    # The same pool: what differs is said at the beginning of each transaction.
    return Engines(writer, writer.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True))


def _note_use(_connection: Any, record: ConnectionPoolEntry) -> None:
    record.info["used_at"] = monotonic()


def _test_after_a_rest(connection: Any, record: ConnectionPoolEntry, _proxy: Any) -> None:
    """Let the pool make a new connection in place of one whose server went away while nobody used it."""
    # Asked before every transaction, the server would be asked twice as often as it has to answer.
    if monotonic() - record.info.get("used_at", monotonic()) < REST_SECONDS:
        return
    try:
        connection.execute("")
        connection.rollback()
    except DriverError as error:
        raise DisconnectionError from error


def _options(address: URL) -> str:
    """What the server is told of each connection, after what the address itself says."""
    seconds = {
        "lock_timeout": WAIT_SECONDS,
        "statement_timeout": STATEMENT_SECONDS,
        "idle_in_transaction_session_timeout": STATEMENT_SECONDS,
    }
    given = address.query.get("options", ())
    parts = [given] if isinstance(given, str) else [*given]
    return " ".join([*parts, *(f"-c {name}={value}s" for name, value in seconds.items())])


def _sqlite(address: URL, connections: int) -> Engines:
    """The default BEGIN takes its lock at the first write, and then fails if another was faster."""
    return Engines(_sqlite_engine(address, "BEGIN IMMEDIATE", 1), _sqlite_engine(address, "BEGIN", connections))


def _sqlite_engine(address: URL, begin: str, connections: int) -> Engine:
    engine = create_engine(
        address,
        poolclass=QueuePool,
        pool_size=connections,
        max_overflow=0,
        connect_args={"check_same_thread": False, "timeout": WAIT_SECONDS},
    )
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(begin))
    return engine


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    # The driver's own transaction handling would begin too late for BEGIN IMMEDIATE.
    connection.isolation_level = None
    for pragma in (f"busy_timeout={WAIT_SECONDS * 1000}", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")
    _patiently(connection.execute, "PRAGMA journal_mode=WAL")
    # An acknowledged append survives a power cut, not only the death of the process.
    connection.execute("PRAGMA synchronous=FULL")


# Of those that make a new file one with a log at the same time, SQLite lets one do so and does not let the others wait.
_patiently: Final = Retrying(
    retry=retry_if_exception_type(sqlite3.OperationalError),
    wait=wait_random(0, 0.05),
    stop=stop_after_delay(WAIT_SECONDS),
    reraise=True,
)
