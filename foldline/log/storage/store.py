"""Transactions: one writer of a session at a time, readers beside it, and events for subscribers after a commit."""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import perf_counter
from typing import Any, TypeAlias

from psycopg.errors import LockNotAvailable
from sqlalchemy import Connection, Engine, func, select
from sqlalchemy.exc import DatabaseError, DataError, IntegrityError, InterfaceError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from foldline.log.errors import Busy, Unavailable
from foldline.log.storage.engines import CONNECTIONS, SQLITE, address_of, open_engines
from foldline.log.storage.events import Event, Subscriber

Clock: TypeAlias = Callable[[], datetime]
NewId: TypeAlias = Callable[[str], str]
Chance: TypeAlias = Callable[[], float]
Stopwatch: TypeAlias = Callable[[], float]


def utc_now() -> datetime:
    """The present, in UTC."""
    return datetime.now(UTC)


def random_id(prefix: str) -> str:
    """An opaque id that cannot be guessed."""
    return f"{prefix}_{secrets.token_hex(12)}"


def random_share() -> float:
    """A number from 0 to 1."""
    return secrets.randbelow(1 << 16) / (1 << 16)


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of the log: how long a lease lasts, how failures are retried, what a summarizer takes in one request."""

    lease_seconds: int = 120
    retry_seconds: int = 30
    retry_seconds_max: int = 600
    max_attempts: int = 3
    summarizer_tokens: int = 100_000
    idempotency_seconds: int = 24 * 3600


@dataclass(slots=True)
class Transaction:
    """An open transaction; `now` is milliseconds since the epoch.

    `stopwatch` gives seconds, `traceparent` the trace that this is done in, as W3C Trace Context has it.
    Subscribers of the store get its `events` after the commit, in order.
    """

    connection: Connection
    now: int
    new_id: NewId
    chance: Chance
    limits: Limits
    stopwatch: Stopwatch
    traceparent: str | None = None
    events: list[Event] = field(default_factory=list)

    def execute(self, statement: Any, parameters: Any = None) -> Any:
        """The result of a statement."""
        return self.connection.execute(statement, parameters)

    @property
    def is_alone(self) -> bool:
        """Whether no other transaction writes: on SQLite, writers take turns."""
        return self.connection.dialect.name == SQLITE

    def lock(self, statement: Any, parameters: Any) -> None:
        """Wait for the rows of a SELECT … FOR UPDATE."""
        if not self.is_alone:
            self.connection.execute(statement, parameters).all()

    def may_be_forgotten(self) -> None:
        """Commit without waiting for the disk: a database that crashes may lose this transaction, and no other."""
        if not self.is_alone:
            self.connection.exec_driver_sql("SET LOCAL synchronous_commit = off")

    def wait_at_most(self, milliseconds: int) -> None:
        """From now on no lock is waited for any longer; then the transaction fails as `Busy`."""
        if not self.is_alone:
            self.connection.exec_driver_sql(f"SET LOCAL lock_timeout = {milliseconds}")

    def hold(self, *names: str) -> bool:
        """Hold something that has these names until the end of the transaction; False if another holds it."""
        if self.is_alone:
            return True
        digest = hashlib.sha256("\0".join(names).encode()).digest()
        number = int.from_bytes(digest[:8], signed=True)
        return bool(self.connection.execute(select(func.pg_try_advisory_xact_lock(number))).scalar())


class Store:
    """The database behind the session log.

    `subscribers` get each event after its commit, in the thread that committed. `traceparent` gives the trace that a
    thread works in. On SQLite all writers of the process take turns (its own locking starves some of them); on
    PostgreSQL those of one session do, by the lock on its row. `connections` is how many of either kind there may be.

    Raises:
        InvalidDatabase: the address is none, or of a database or driver that is not there.
    """

    def __init__(
        self,
        url: str,
        *,
        limits: Limits = Limits(),
        clock: Clock = utc_now,
        new_id: NewId = random_id,
        chance: Chance = random_share,
        stopwatch: Stopwatch = perf_counter,
        connections: int = CONNECTIONS,
        traceparent: Callable[[], str | None] = lambda: None,
    ) -> None:
        self.limits = limits
        self.clock = clock
        self.new_id = new_id
        self.chance = chance
        self.stopwatch = stopwatch
        self.subscribers: tuple[Subscriber, ...] = ()
        self._traceparent = traceparent
        self.url = address_of(url)
        self.is_sqlite = self.url.get_backend_name() == SQLITE
        self._turn: AbstractContextManager[Any] = threading.Lock() if self.is_sqlite else nullcontext()
        self._engines = open_engines(self.url, connections)

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
        with self._turn, translated(), self._engines.writer.begin() as connection:
            transaction = self._transaction(connection)
            yield transaction
        for event in transaction.events:
            self.publish(event)

    def publish(self, event: Event) -> None:
        """Give an event to all subscribers: one of no transaction, or of one that has committed."""
        for subscriber in self.subscribers:
            subscriber(event)

    def subscribe(self, subscriber: Subscriber) -> None:
        """Have this called with each event from now on; it must not block."""
        self.subscribers = (*self.subscribers, subscriber)

    def unsubscribe(self, subscriber: Subscriber) -> None:
        """Call it no more."""
        self.subscribers = tuple(other for other in self.subscribers if other != subscriber)

    @contextmanager
    def rehearse(self) -> Iterator[Transaction]:
        """A transaction that takes its turn as a write does, and then changes nothing and has no events.

        Raises:
            Unavailable: the database does not answer.
        """
        with self._turn, translated(), self._engines.writer.connect() as connection, connection.begin() as whole:
            yield self._transaction(connection)
            whole.rollback()

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """A transaction that sees one state and writes nothing.

        Raises:
            Unavailable: the database does not answer.
        """
        with translated(), self._engines.reader.begin() as connection:
            yield self._transaction(connection)

    def _transaction(self, connection: Connection) -> Transaction:
        return Transaction(
            connection, self.now, self.new_id, self.chance, self.limits, self.stopwatch, self._traceparent()
        )

    @property
    def connections_in_use(self) -> int:
        """How many connections are in use now."""
        return self._engines.in_use

    @property
    def connections_max(self) -> int:
        """How many there may be."""
        return self._engines.most

    @property
    def engine(self) -> Engine:
        """The writer's engine, for migrations and tests."""
        return self._engines.writer

    def close(self) -> None:
        """Close all connections."""
        self._engines.dispose()


@contextmanager
def translated() -> Iterator[None]:
    """A block whose failures of the database are raised as the log's own.

    Raises:
        Busy: others had hold of it for too long.
        Unavailable: the database does not answer, or not as one of ours does.
    """
    try:
        yield
    except (IntegrityError, DataError):
        # Two wrote the same row, or a value is none for its column: for those who know what that means.
        raise
    except (DatabaseError, InterfaceError) as error:
        kind = Busy if isinstance(error.orig, LockNotAvailable) else Unavailable
        raise kind(str(error.orig)) from error
    except PoolTimeoutError as error:
        message = "all connections to the database are in use"
        raise Busy(message) from error
