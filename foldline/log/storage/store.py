"""Transactions on the database: one writer of a session at a time, concurrent readers, events after a commit."""

from __future__ import annotations

import hashlib
import logging
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from time import perf_counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from sqlalchemy import Connection, Delete, Dialect, Engine, Insert, Select, Update, func, select
from sqlalchemy.exc import DatabaseError, DataError, IntegrityError, InterfaceError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from foldline.log.errors import (
    Busy,
    DiskFull,
    OutcomeUnknown,
    SealingKeyMissing,
    TenantLimitReached,
    Unavailable,
)
from foldline.log.events import Event, Subscriber, TenantLimited
from foldline.log.sealing.cipher import Cipher
from foldline.log.sealing.listed_keys import missing_keys
from foldline.log.sealing.sealed_column import Sealed, seal_columns
from foldline.log.storage.engines.addresses import SQLITE, address_of
from foldline.log.storage.engines.database_file import KnownFile
from foldline.log.storage.engines.engine_set import CONNECTIONS
from foldline.log.storage.engines.opening import open_engines
from foldline.log.storage.engines.sqlite import empty_log
from foldline.log.storage.turns import OuterTurn, Turns
from foldline.log.tenant_room import TenantRoom

if TYPE_CHECKING:
    from foldline.log.storage.known_entries import KnownEntries

logger = logging.getLogger(__name__)

# Codes of PostgreSQL for a lock that was not free in time and for a full disk, and SQLite's for the latter.
_KINDS: Final[Mapping[Any, type[Unavailable]]] = {"55P03": Busy, "53100": DiskFull, "SQLITE_FULL": DiskFull}

# The class of PostgreSQL's codes for connections that fail.
CONNECTION_FAILED: Final = "08"

Clock: TypeAlias = Callable[[], datetime]
NewId: TypeAlias = Callable[[str], str]
Chance: TypeAlias = Callable[[], float]
Stopwatch: TypeAlias = Callable[[], float]


def utc_now() -> datetime:
    """The current time in UTC."""
    return datetime.now(UTC)


def random_id(prefix: str) -> str:
    """A new opaque id that cannot be guessed: the prefix, `_` and 24 hexadecimal digits."""
    return f"{prefix}_{secrets.token_hex(12)}"


def random_fraction() -> float:
    """A random number, at least 0 and below 1."""
    return secrets.randbelow(1 << 32) / (1 << 32)


class RidingModel(NamedTuple):
    """The model of a summarizer that may be sent the cached beginning of a view, and the format of its messages."""

    model: str
    format: str


# Whether the process has all keys that the database needs is known for so long.
KEYS_KNOWN_SECONDS: Final = 1.0
NOBODY_RIDES: Final[Mapping[str, RidingModel]] = MappingProxyType({})
NO_TENANTS: Final[Mapping[str, int]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of jobs and sessions: leases, retries, sizes, how long idempotency rows and the audit trail are kept.

    A summarizer reads `summarizer_tokens` in one call, and makes at most `summarizer_calls` for one summary.
    One that fails `summarizer_failures` times in a row is held back.
    `compactors` are the providers that may be asked for their own compaction, `summarizers` the names that a policy
    may choose from, `usual` those that write where none is chosen, in order, and `riding` the models of those that may
    be sent the cached beginning of a view. A session has about `session_entries` of `session_bytes` at most, and is
    deleted `retention_days` after its last message, or those of its tenant; None keeps it. The compactions of a session
    file summarize at most `summarized_entries` together. A tenant has about `tenant_sessions`, and `tenant_jobs` that
    wait or run; 0 sets no limit.
    """

    lease_seconds: int = 120
    retry_seconds: int = 30
    retry_seconds_max: int = 600
    max_attempts: int = 3
    summarizer_tokens: int = 100_000
    summarizer_calls: int = 8
    summarizer_failures: int = 5
    idempotency_seconds: int = 24 * 3600
    audit_seconds: int = 365 * 24 * 3600
    session_entries: int = 1_000_000
    session_bytes: int = 4 << 30
    summarized_entries: int = 250_000
    retention_days: int | None = None
    retention_days_by_tenant: Mapping[str, int] = field(default_factory=lambda: NO_TENANTS)
    tenant_sessions: int = 0
    tenant_jobs: int = 0
    compactors: frozenset[str] = frozenset()
    summarizers: frozenset[str] = frozenset()
    usual: tuple[str, ...] = ()
    riding: Mapping[str, RidingModel] = field(default_factory=lambda: NOBODY_RIDES)


@dataclass(slots=True)
class Transaction:
    """An open transaction; `now` is milliseconds since the epoch, the same throughout.

    `stopwatch` gives seconds. `traceparent` is the current trace, as in W3C Trace Context. `known` is what the process
    knows of committed entries, for a transaction that only reads. What is stored is encrypted by `cipher`. Subscribers
    of the store get `events` after the commit, in order. `room` is what the process knows of the room of tenants.
    """

    connection: Connection
    now: int
    new_id: NewId
    chance: Chance
    limits: Limits
    stopwatch: Stopwatch
    traceparent: str | None = None
    known: KnownEntries | None = None
    cipher: Cipher | None = None
    room: TenantRoom = field(default_factory=TenantRoom)
    events: list[Event] = field(default_factory=list)

    def execute(self, statement: Any, parameters: Any = None) -> Any:
        """Execute a statement; SQLAlchemy's result."""
        return self.connection.execute(statement, parameters)

    @property
    def is_only_writer(self) -> bool:
        """Whether no other transaction writes at the same time, as on SQLite, where writers take turns."""
        return self.connection.dialect.name == SQLITE

    def change(self, statement: Insert | Update | Delete, *rows: Mapping[str, Any]) -> None:
        """Execute a statement that is built once, with values for all of its parameters, once for each row.

        PostgreSQL gets it with the next statement or the commit, and what is wrong with it is raised there. So what is
        raised is caught around the whole transaction.
        """
        command = _command(statement, tuple(rows[0]), self.connection.dialect)
        values = [command.values(row) for row in rows]
        if self.is_only_writer:
            self.connection.exec_driver_sql(command.text, values)
        else:
            self._send_later(command.text, *values)

    def lock(self, statement: Select[Any], parameters: Mapping[str, Any]) -> None:
        """Lock the rows of a SELECT with a lock before the next statement, which waits for them if needed."""
        if not self.is_only_writer:
            command = _command(statement, tuple(parameters), self.connection.dialect)
            self._send_later(command.text, command.values(parameters))

    def wait_at_most(self, milliseconds: int) -> None:
        """Bound each later wait for a lock; a longer one fails the transaction as `Busy`. No effect on SQLite."""
        if not self.is_only_writer:
            self._send_later(f"SET LOCAL lock_timeout = {milliseconds}")

    def _send_later(self, text: str, *rows: Any) -> None:
        driver: Any = self.connection.connection.driver_connection
        driver.send_later(text, *rows)

    def try_lock(self, *names: str) -> bool:
        """Take the advisory lock of these names until the transaction ends; False if another transaction has it."""
        if self.is_only_writer:
            return True
        digest = hashlib.sha256("\0".join(names).encode()).digest()
        number = int.from_bytes(digest[:8], signed=True)
        return bool(self.connection.execute(select(func.pg_try_advisory_xact_lock(number))).scalar())


class _Command(NamedTuple):
    """A statement as text for the driver; `names` are those of its parameters, in order, if the driver takes a tuple.

    `constants` are the values that the statement has itself. `sealers` encrypt the values of some parameters.

    SQLAlchemy looks for the text at each execution and converts each value. The drivers take our values as they are;
    only what a statement returns has to be converted.
    """

    text: str
    names: Sequence[str] | None
    constants: Mapping[str, Any]
    sealers: Mapping[str, Callable[[bytes], bytes]]

    def values(self, row: Mapping[str, Any]) -> Any:
        """The values of a row as the driver takes them."""
        if self.constants:
            row = {**self.constants, **row}
        if self.sealers:
            sealed = {name: sealer(row[name]) for name, sealer in self.sealers.items() if row[name] is not None}
            row = {**row, **sealed}
        return row if self.names is None else tuple([row[name] for name in self.names])


@lru_cache(maxsize=64)
def _command(statement: Insert | Update | Delete | Select[Any], names: tuple[str, ...], dialect: Dialect) -> _Command:
    is_insert = isinstance(statement, Insert)
    columns = names if is_insert else None
    compiled = statement.compile(dialect=dialect, column_keys=columns)
    sealers = {
        name: sealer
        for name, bound in compiled.binds.items()
        if isinstance(bound.type, Sealed) and (sealer := bound.type.sealer(dialect))
    }
    # An INSERT has a value for each column, so that a column which was forgotten is no NULL.
    binds = {} if is_insert else compiled.binds
    constants = {name: bound.value for name, bound in binds.items() if not bound.required}
    return _Command(compiled.string, compiled.positiontup, constants, sealers)


class Store:
    """The database behind the session log.

    `subscribers` get each event after its commit, in the thread that committed. `traceparent` returns the current
    thread's trace. On SQLite all writers of the process take turns. On PostgreSQL the writers of one session do, by the
    lock on its row. `connections` is the largest number of connections, on SQLite of readers. `known` keeps what was
    read of entries for later reads. With a `cipher`, what was said is encrypted in the database. `file` is the only one
    that an SQLite store may have open, and each of its writers waits for an `outer_turn`: both are of the process that
    started this one.

    Raises:
        InvalidDatabase: the URL is malformed, or names a database that is not supported, or a driver that is not
        installed.
    """

    def __init__(
        self,
        url: str,
        *,
        limits: Limits = Limits(),
        clock: Clock = utc_now,
        new_id: NewId = random_id,
        chance: Chance = random_fraction,
        stopwatch: Stopwatch = perf_counter,
        connections: int = CONNECTIONS,
        prepares: bool = True,
        cipher: Cipher | None = None,
        known: KnownEntries | None = None,
        traceparent: Callable[[], str | None] = lambda: None,
        file: KnownFile | None = None,
        outer_turn: OuterTurn = nullcontext,
    ) -> None:
        self.limits = limits
        self.clock = clock
        self.new_id = new_id
        self.chance = chance
        self.stopwatch = stopwatch
        self.subscribers: tuple[Subscriber, ...] = ()
        self.cipher = cipher
        # Whether the last change found no room on the disk.
        self.is_full = False
        self._keys_known_until = 0.0
        self._known = known
        self._room = TenantRoom()
        self._traceparent = traceparent
        self.url = address_of(url)
        self.is_sqlite = self.url.get_backend_name() == SQLITE
        self._engines = open_engines(self.url, connections, prepares=prepares, file=file)
        if cipher is not None:
            for engine in self._engines.all:
                seal_columns(engine, cipher)
        # Those of SQLite's writers.
        self.turns = Turns(self._engines.writer, outer_turn) if self.is_sqlite else None

    @property
    def file(self) -> KnownFile | None:
        """The file that an SQLite store has open; None on PostgreSQL, and before the first connection."""
        return self._engines.file.known if self._engines.file else None

    @property
    def traceparent(self) -> str | None:
        """The trace of the current thread, as in W3C Trace Context."""
        return self._traceparent()

    @property
    def now(self) -> int:
        """Milliseconds since the epoch, by the store's clock."""
        return int(self.clock().timestamp() * 1000)

    @contextmanager
    def write(self, *, shares: bool = False) -> Iterator[Transaction]:
        """A transaction that commits at the end, or rolls back on any exception.

        With `shares` it may wait for a few others, to be committed with them; SQLite alone needs that.

        Raises:
            TenantLimitReached: raised within; subscribers get an event of it, though nothing is committed.
            OutcomeUnknown: PostgreSQL broke off during the commit. SQLite rolls back what it cannot commit.
            SealingKeyMissing: for a second or more, values may be encrypted with a key that this process does not have.
            Unavailable: the database does not answer.
        """
        is_done = False
        try:
            with translated(), self._writing(shares=shares) as connection:
                transaction = self._transaction(connection)
                self._check_keys(transaction)
                yield transaction
                is_done = True
        except TenantLimitReached as error:
            self.publish(TenantLimited(error.setting))
            raise
        except Unavailable as error:
            self.is_full = isinstance(error, DiskFull)
            if is_done and not self.is_sqlite and _is_lost(error):
                raise OutcomeUnknown(str(error)) from error
            raise
        self.is_full = False
        for event in transaction.events:
            self.publish(event)

    def publish(self, event: Event) -> None:
        """Call all subscribers with an event, of a committed transaction or of none.

        What a subscriber raises is logged: the transaction is committed, and the other subscribers still get the event.
        """
        for subscriber in self.subscribers:
            try:
                subscriber(event)
            except Exception:
                # Without the event, which may quote a conversation.
                logger.exception("a subscriber failed on %s", type(event).__name__)

    def subscribe(self, subscriber: Subscriber) -> None:
        """Call `subscriber` once with each event from now on; it must not block. A second call changes nothing."""
        if subscriber not in self.subscribers:
            self.subscribers = (*self.subscribers, subscriber)

    def unsubscribe(self, subscriber: Subscriber) -> None:
        """Stop calling `subscriber`."""
        self.subscribers = tuple(other for other in self.subscribers if other != subscriber)

    @contextmanager
    def rehearse(self) -> Iterator[Transaction]:
        """A write transaction that is rolled back at the end, and whose events are dropped: for dry runs.

        Raises:
            Unavailable: the database does not answer.
        """
        with translated(), self._writing(shares=False) as connection:
            yield self._transaction(connection)
            connection.rollback()

    def _writing(self, *, shares: bool) -> AbstractContextManager[Connection]:
        return self._engines.writer.begin() if self.turns is None else self.turns.write(shares=shares)

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """A read-only transaction on one consistent state.

        Raises:
            Unavailable: the database does not answer.
        """
        with translated(), self._reading(self._engines.reader) as transaction:
            yield transaction

    @property
    def reads_at_once(self) -> bool:
        """Whether `read_at_once` may be used."""
        return self._engines.at_once is not None

    @contextmanager
    def read_at_once(self) -> Iterator[Transaction]:
        """As `read`, for an event loop: for short reads on SQLite, which wait for nothing but the file.

        Raises:
            Unavailable: it would have to wait; or as `read`.
        """
        if self._engines.at_once is None:
            message = "this database is read over a network"
            raise Unavailable(message)
        with translated(), self._reading(self._engines.at_once) as transaction:
            yield transaction

    @contextmanager
    def _reading(self, engine: Engine) -> Iterator[Transaction]:
        with engine.begin() as connection:
            transaction = self._transaction(connection)
            transaction.known = self._known
            yield transaction

    def empty_log(self) -> bool:
        """Remove from SQLite's log what is in the database; whether it is empty now. PostgreSQL does so by itself.

        Raises:
            Unavailable: the database does not answer.
        """
        with translated():
            return self.turns is None or empty_log(self._engines.reader, self.turns.alone())

    def _check_keys(self, tx: Transaction) -> None:
        """Without this, what is written beside a process that encrypts could be read by anybody, and for good."""
        now = self.stopwatch()
        if now < self._keys_known_until:
            return
        missing = missing_keys(tx)
        if missing:
            raise SealingKeyMissing(missing[0])
        self._keys_known_until = now + KEYS_KNOWN_SECONDS

    def _transaction(self, connection: Connection) -> Transaction:
        return Transaction(
            connection,
            self.now,
            self.new_id,
            self.chance,
            self.limits,
            self.stopwatch,
            self._traceparent(),
            cipher=self.cipher,
            room=self._room,
        )

    @property
    def connections_in_use(self) -> int:
        """The number of connections in use now."""
        return self._engines.in_use

    @property
    def connections_max(self) -> int:
        """The largest number of connections."""
        return self._engines.most

    @property
    def engine(self) -> Engine:
        """The SQLAlchemy engine of the writer, for migrations and tests."""
        return self._engines.writer

    def close(self) -> None:
        """Close all connections."""
        self._engines.dispose()


def _is_lost(error: Unavailable) -> bool:
    """Whether the connection is lost, here or behind a pooler. What the server refuses was rolled back."""
    cause = error.__cause__
    code = getattr(getattr(cause, "orig", None), "sqlstate", None)
    return bool(getattr(cause, "connection_invalidated", False)) or code is None or code.startswith(CONNECTION_FAILED)


@contextmanager
def translated() -> Iterator[None]:
    """A block in which database failures are raised as the log's errors.

    Raises:
        Busy: a lock or a connection was not free in time.
        DiskFull: the database has no room left.
        Unavailable: the database does not answer, or has no tables of ours.
    """
    try:
        yield
    except (IntegrityError, DataError):
        # A unique row exists already, or a value does not fit its column: the caller knows what that means.
        raise
    except (DatabaseError, InterfaceError) as error:
        code = getattr(error.orig, "sqlstate", None) or getattr(error.orig, "sqlite_errorname", None)
        raise _KINDS.get(code, Unavailable)(str(error.orig)) from error
    except PoolTimeoutError as error:
        message = "all connections to the database are in use"
        raise Busy(message) from error
