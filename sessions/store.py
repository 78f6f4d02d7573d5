"""Transactions: one writer at a time on SQLite, a pool of readers beside it, and doorbells rung after a commit."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, IntegrityError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.pool import QueuePool

from sessions.errors import InvalidDatabase, Unavailable

Clock: TypeAlias = Callable[[], datetime]
NewId: TypeAlias = Callable[[str], str]

READERS: Final = 8
BUSY_MILLISECONDS: Final = 10_000
BACKENDS: Final = frozenset({"sqlite", "postgresql"})


def utc_now() -> datetime:
    """The present, in UTC."""
    return datetime.now(UTC)


def random_id(prefix: str) -> str:
    """An opaque id that cannot be guessed."""
    return f"{prefix}_{secrets.token_hex(12)}"


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of the log: how long a lease lasts, how failures are retried, what a summarizer takes in one request."""

    lease_seconds: int = 120
    retry_seconds: int = 30
    max_attempts: int = 3
    summarizer_tokens: int = 100_000
    idempotency_seconds: int = 24 * 3600


@dataclass(slots=True)
class Transaction:
    """An open transaction. `now` is milliseconds since the epoch; `rings` are queues to ring after the commit."""

    connection: Connection
    now: int
    new_id: NewId
    limits: Limits
    rings: list[str] = field(default_factory=list)

    def execute(self, statement: Any, parameters: Any = None) -> Any:
        """The result of a statement."""
        return self.connection.execute(statement, parameters)


class Store:
    """The database behind the session log.

    `doorbell` is called with a queue name after each commit that queued a job; it must not block. On SQLite all writers
    of the process take turns (its own locking starves some of them), and readers have connections of their own.

    Raises:
        InvalidDatabase: the address is none, or of a database or driver that is not there.
    """

    def __init__(
        self, url: str, *, limits: Limits = Limits(), clock: Clock = utc_now, new_id: NewId = random_id
    ) -> None:
        self.limits = limits
        self.clock = clock
        self.new_id = new_id
        self.doorbell: Callable[[str], None] = lambda _queue: None
        self.url = _address(url)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self._turn = threading.Lock()
        try:
            self._writer = self._engine("BEGIN IMMEDIATE", 1)
            self._reader = self._engine("BEGIN", READERS)
        except (ArgumentError, ImportError) as error:
            raise InvalidDatabase(f"no driver for {self.url.drivername} is installed") from error

    def _engine(self, begin: str, connections: int) -> Engine:
        if not self.is_sqlite:
            return create_engine(self.url, pool_pre_ping=True)
        engine = create_engine(
            self.url,
            poolclass=QueuePool,
            pool_size=connections,
            max_overflow=0,
            connect_args={"check_same_thread": False, "timeout": BUSY_MILLISECONDS / 1000},
        )
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(begin))
        return engine

    @property
    def now(self) -> int:
        """Milliseconds since the epoch, by the store's clock."""
        return int(self.clock().timestamp() * 1000)

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """A transaction that commits at the end, or rolls back on any exception.

        Raises:
            Unavailable: the database does not answer.
        """
        with self._turn if self.is_sqlite else _no_turn(), translated(), self._writer.begin() as connection:
            transaction = Transaction(connection, self.now, self.new_id, self.limits)
            yield transaction
        for queue in transaction.rings:
            self.doorbell(queue)

    @contextmanager
    def rehearse(self) -> Iterator[Transaction]:
        """A transaction that takes its turn as a write does, and then changes nothing and rings for nothing.

        Raises:
            Unavailable: the database does not answer.
        """
        turn = self._turn if self.is_sqlite else _no_turn()
        with turn, translated(), self._writer.connect() as connection, connection.begin() as whole:
            yield Transaction(connection, self.now, self.new_id, self.limits)
            whole.rollback()

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """A transaction that sees one state and writes nothing.

        Raises:
            Unavailable: the database does not answer.
        """
        with translated(), self._reader.begin() as connection:
            yield Transaction(connection, self.now, self.new_id, self.limits)

    @property
    def engine(self) -> Engine:
        """The writer's engine, for migrations and tests."""
        return self._writer

    def close(self) -> None:
        """Close all connections."""
        self._writer.dispose()
        self._reader.dispose()


@contextmanager
def _no_turn() -> Iterator[None]:
    yield


def _address(url: str) -> URL:
    try:
        address = make_url(url)
    except (ArgumentError, ValueError):
        # Its cause would show the address.
        problem = "it has not the form of one"
        raise InvalidDatabase(problem) from None
    if address.get_backend_name() not in BACKENDS:
        problem = f"{address.get_backend_name()} is no database that is supported"
        raise InvalidDatabase(problem)
    if address.get_backend_name() == "sqlite" and address.database in {None, "", ":memory:"}:
        # Each connection would have one of its own.
        problem = "a database in memory cannot be shared"
        raise InvalidDatabase(problem)
    return address


@contextmanager
def translated() -> Iterator[None]:
    """A block whose failures of the database are raised as the log's own.

    Raises:
        Unavailable: the database does not answer, or not as one of ours does.
    """
    try:
        yield
    except IntegrityError:
        # Two wrote the same row: for those who know what that means.
        raise
    except DatabaseError as error:
        raise Unavailable(str(error.orig)) from error
    except PoolTimeoutError as error:
        message = "all connections to the database are in use"
        raise Unavailable(message) from error


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    # The driver's own transaction handling would begin too late for BEGIN IMMEDIATE.
    connection.isolation_level = None
    # FULL: an acknowledged append survives a power cut, not only the death of the process.
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", f"busy_timeout={BUSY_MILLISECONDS}"):
        connection.execute(f"PRAGMA {pragma}")
