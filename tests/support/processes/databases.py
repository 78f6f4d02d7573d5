"""A database of its own for each test: an SQLite file, or one on a PostgreSQL that the tests of a process share.

A test that uses `database` runs once on each kind. Where tests say nothing about a database, one kind is enough: their
folder or module says which with a line such as `database_kind = only_postgresql`.

The newest tables are there already: copying them is faster than migrating each database.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest
from sqlalchemy import Connection, create_engine, make_url, text

from foldline import migrations
from foldline.log.storage.store import Store
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

    @contextmanager
    def database(self, *, is_empty: bool = False) -> Iterator[str]:
        """The address of a database that is dropped after the block; an empty one has no tables either."""
        template = "template1" if is_empty else self._newest_tables()
        with self._new(template) as url:
            yield url

    def drop_template(self) -> None:
        """Drop what was made, on a server that continues to run."""
        if self._template is not None:
            with self._administered() as connection:
                _drop(connection, self._template)

    def _newest_tables(self) -> str:
        """A database with the newest tables and no rows, made at the first use."""
        if self._template is None:
            self._template = _new_name()
            with self._administered() as connection:
                connection.execute(text(f"CREATE DATABASE {self._template}"))
            _migrate(self._address_of(self._template))
        return self._template

    @contextmanager
    def _new(self, template: str) -> Iterator[str]:
        name = _new_name()
        with self._administered() as connection:
            connection.execute(text(f"CREATE DATABASE {name} TEMPLATE {template}"))
        try:
            yield self._address_of(name)
        finally:
            with self._administered() as connection:
                _drop(connection, name)

    def _address_of(self, name: str) -> str:
        return self.url.set(database=name).render_as_string(hide_password=False)

    @contextmanager
    def _administered(self) -> Iterator[Connection]:
        engine = create_engine(self.url, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            yield connection
        engine.dispose()


def _new_name() -> str:
    return f"test_{secrets.token_hex(8)}"


def _drop(connection: Connection, name: str) -> None:
    connection.execute(text(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)"))


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
        server.drop_template()


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
