"""A database of its own for each test: an SQLite file, or one on a PostgreSQL that the tests of a process share.

A test that uses `database` runs once on each kind. Where tests say nothing about a database, one kind is enough: their
folder or module says which with a line such as `database_kind = only_postgresql`.

The newest tables are there already: copying them is faster than migrating each database. On PostgreSQL a database whose
test is over is emptied and given to another test, as making one takes ten times as long.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import make_url, text

from foldline import migrations
from foldline.log.storage.store import Store
from stack.services.postgresql import plain
from stack.services.servers import postgres

SQLITE: Final = "sqlite"
POSTGRESQL: Final = "postgresql"


@contextmanager
def sqlite_database() -> Iterator[str]:
    """The address of a file that is gone after the block."""
    with TemporaryDirectory(prefix="foldline-test-") as folder:
        file = Path(folder) / "foldline.db"
        file.write_bytes(_newest_tables())
        yield f"sqlite:///{file}"


@cache
def _newest_tables() -> bytes:
    """A file with the newest tables and nothing in them."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "empty.db"
        _migrate(f"sqlite:///{file}")
        return file.read_bytes()


class Server:
    """A PostgreSQL on which databases can be had."""

    def __init__(self, url: str) -> None:
        self.url = make_url(url)
        self._template: str | None = None
        # Names of databases that are as the template is.
        self._unused: list[str] = []
        self._relations: list[Any] = []

    @contextmanager
    def database(self, *, is_empty: bool = False) -> Iterator[str]:
        """The address of a database for one block; an empty one has no tables either."""
        if is_empty:
            name = self._new("template1")
        else:
            template = self._newest_tables()
            name = self._unused.pop() if self._unused else self._new(template)
        try:
            yield self._address_of(name)
        finally:
            if not is_empty and self._is_as_new(name):
                self._unused.append(name)
            else:
                self._drop(name)

    def drop_all(self) -> None:
        """Drop what was made, on a server that continues to run."""
        for name in (*self._unused, self._template):
            if name is not None:
                self._drop(name)

    def _newest_tables(self) -> str:
        """A database with the newest tables and no rows, made at the first use."""
        if self._template is None:
            self._template = self._new("template1")
            _migrate(self._address_of(self._template))
            with self._connected(self._template) as connection:
                self._relations = connection.execute(_RELATIONS).fetchall()
        return self._template

    def _new(self, template: str) -> str:
        name = f"test_{secrets.token_hex(8)}"
        self._administer(f"CREATE DATABASE {name} TEMPLATE {template}")
        return name

    def _is_as_new(self, name: str) -> bool:
        """Whether a database that was used could be made as the template is, and has not grown."""
        try:
            with self._connected(name) as connection:
                connection.execute(_END_OTHERS)
                if connection.execute(_RELATIONS).fetchall() != self._relations:
                    return False
                connection.execute(self._emptying())
                connection.execute(_RESTART_SEQUENCES)
                (size,) = connection.execute(_SIZE).fetchone() or (SIZE_MAX,)
        except psycopg.Error:
            return False
        return bool(size < SIZE_MAX)

    def _emptying(self) -> sql.Composed:
        """Unlike TRUNCATE, which makes each table anew, this takes no time where a table is empty already."""
        tables = [name for name, kind, _ in self._relations if kind == "r" and name != "alembic_version"]
        return sql.SQL(";").join(sql.SQL("DELETE FROM {}").format(sql.Identifier(name)) for name in tables)

    def _drop(self, name: str) -> None:
        self._administer(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def _administer(self, statement: str) -> None:
        with self._connected(self.url.database) as connection:
            connection.execute(statement.encode())

    @contextmanager
    def _connected(self, name: str | None) -> Iterator[psycopg.Connection]:
        with psycopg.connect(plain(self._address_of(name)), autocommit=True) as connection:
            yield connection

    def _address_of(self, name: str | None) -> str:
        return self.url.set(database=name).render_as_string(hide_password=False)


# Beside what emptying leaves behind, a new database has 8 MB.
SIZE_MAX: Final = 16_000_000
_END_OTHERS: Final = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
    " AND pid <> pg_backend_pid()"
)
# Tables, indexes and sequences with their numbers of columns, and the revision.
_RELATIONS: Final = (
    "SELECT relname::text, relkind::text, relnatts FROM pg_class WHERE relnamespace = 'public'::regnamespace"
    " UNION ALL SELECT version_num, 'revision', 0 FROM alembic_version ORDER BY 1, 2"
)
_RESTART_SEQUENCES: Final = (
    "SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false) FROM pg_sequences"
)
_SIZE: Final = "SELECT pg_database_size(current_database())"


def _migrate(url: str) -> None:
    store = Store(url)
    migrations.upgrade(store.engine)
    store.close()


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    """A PostgreSQL that the tests of this process share."""
    with postgres() as service:
        server = Server(service.url)
        yield server
        server.drop_all()


@pytest.fixture(scope="session", params=[SQLITE, POSTGRESQL])
def each_kind(request: pytest.FixtureRequest) -> str:
    """For tests of SQL, locks, transactions, pages, column types and migrations."""
    kind: str = request.param
    return kind


@pytest.fixture(scope="session")
def only_sqlite() -> str:
    """For many small tests: a new file takes a tenth of the time of a new database on PostgreSQL."""
    return SQLITE


@pytest.fixture(scope="session")
def only_postgresql() -> str:
    """For tests of what happens on PostgreSQL alone, and of services: what it stores, SQLite stores too."""
    return POSTGRESQL


database_kind = each_kind


def new_database(kind: str, request: pytest.FixtureRequest) -> AbstractContextManager[str]:
    """The address of a database of this kind; a PostgreSQL is started only if it is needed."""
    if kind == SQLITE:
        return sqlite_database()
    server: Server = request.getfixturevalue("postgresql")
    return server.database()


@pytest.fixture
def database(database_kind: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a database for one test."""
    with new_database(database_kind, request) as url:
        yield url


@pytest.fixture(scope="module")
def module_database(database_kind: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a database that the tests of a module share."""
    with new_database(database_kind, request) as url:
        yield url


def is_lock_waited_for(store: Store) -> bool:
    """Whether a transaction on this PostgreSQL database waits for another's lock."""
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    with store.read() as tx:
        return bool(tx.execute(text(waiting)).scalar())
