"""Engines on PostgreSQL."""

from __future__ import annotations

from importlib.metadata import version
from time import monotonic
from typing import Any, Final

import psycopg
from sqlalchemy import URL, Connection, Dialect, create_engine, event
from sqlalchemy.exc import DisconnectionError
from sqlalchemy.pool import ConnectionPoolEntry

from foldline.log.storage.engines.engine_set import AUTOCOMMIT, WAIT_SECONDS, Engines
from foldline.log.storage.engines.pipelines import PipelinedConnection

# No statement of ours takes a second. A longer one has lost its client, and may hold a lock that others wait for.
STATEMENT_SECONDS: Final = 30
# A statement is prepared when a connection runs it so often.
PREPARED_FROM: Final = 5
# A connection that was idle for longer is tested first, so that a restart of the server costs no error.
IDLE_SECONDS_BEFORE_TEST: Final = 1.0
# The option of an engine that says how its transactions begin.
BEGINS: Final = "begins"
WRITES: Final = "BEGIN ISOLATION LEVEL READ COMMITTED"
READS: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"


def open_server(address: URL, connections: int, *, prepares: bool) -> Engines:
    """Engines with at most so many connections together; nothing connects yet. `prepares`: as `open_engines`."""
    writer = create_engine(
        address,
        pool_size=connections,
        max_overflow=0,
        pool_timeout=WAIT_SECONDS,
        # The connection used last has its statements prepared, and the server's caches warm.
        pool_use_lifo=True,
        # The driver's mode in which `_begin` begins transactions, with their first statement, in the same round trip.
        isolation_level=AUTOCOMMIT,
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
    event.listen(writer, "do_connect", _connect)
    event.listen(writer, "checkin", _note_use)
    event.listen(writer, "checkout", _check_if_idle)
    event.listen(writer, "begin", _begin)
    # The same pool: isolation and read-only mode are set at the beginning of each transaction.
    return Engines(writer, writer.execution_options(**{BEGINS: READS}))


def _connect(_dialect: Dialect, _record: Any, arguments: list[Any], named: dict[str, Any]) -> PipelinedConnection:
    return PipelinedConnection.connect(*arguments, **named)


def _begin(connection: Connection) -> None:
    options = connection.get_execution_options()
    if options.get("isolation_level") != AUTOCOMMIT:
        driver: Any = connection.connection.driver_connection
        driver.send_later(options.get(BEGINS, WRITES))


def _note_use(_connection: Any, record: ConnectionPoolEntry) -> None:
    record.info["used_at"] = monotonic()


def _check_if_idle(connection: PipelinedConnection, record: ConnectionPoolEntry, _proxy: Any) -> None:
    """Have the pool replace a connection that is broken after a time without use."""
    # A test before every transaction would double the round trips.
    if monotonic() - record.info.get("used_at", monotonic()) < IDLE_SECONDS_BEFORE_TEST:
        return
    try:
        connection.execute("")
        connection.rollback()
    except psycopg.Error as error:
        raise DisconnectionError from error


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
