"""The schema's migrations, by Alembic.

Migrations run before new processes start, and processes of the former version continue beside them. So each revision
after 0007 keeps the former version working: it adds nullable columns or columns with defaults, widens types, and makes
indexes. A column that is no longer used is dropped one version after the last program that used it. 0007 renamed
columns, and refuses while a process of 0.1 is connected.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, Engine, inspect, text
from tenacity import Retrying, retry_if_result, wait_fixed

# The key of the advisory lock for migrations; it must never change.
TURN: Final = 0x466F6C64
# A change that waits for a table makes all others wait behind it, so it fails after this time and can be repeated.
LOCK_SECONDS: Final = 10
TURN_SECONDS: Final = 0.1
VERSIONS: Final = Path(__file__).parent / "versions"


class Standing(Enum):
    """A database's schema, compared with the one that this program was written for."""

    EMPTY = "empty"
    OLDER = "older"
    SAME = "same"
    NEWER = "newer"


@dataclass(frozen=True, slots=True)
class Schema:
    """The revision of a database, None if it is empty, and the revisions that this program knows, newest first."""

    revision: str | None
    known: tuple[str, ...]

    @property
    def newest(self) -> str:
        """The revision this program was written for."""
        return self.known[0]

    @property
    def standing(self) -> Standing:
        """How the database compares; an unknown revision is a newer one, because revisions are never removed."""
        if self.revision is None:
            return Standing.EMPTY
        if self.revision == self.newest:
            return Standing.SAME
        return Standing.OLDER if self.revision in self.known else Standing.NEWER


class CannotMigrate(Exception):
    """The database cannot be migrated as things are; nothing was changed. The message says what to do."""


class NewerSchema(CannotMigrate):
    """The database was migrated by a newer version of Foldline."""

    def __init__(self, schema: Schema) -> None:
        super().__init__(
            f"the database is of a newer version of Foldline (revision {schema.revision}); this one knows up to "
            f"{schema.newest}. Install the newer version"
        )
        self.schema = schema


def schema_of(engine: Engine) -> Schema:
    """The schema of the database."""
    with engine.begin() as connection:
        return _schema(connection)


def upgrade(engine: Engine) -> Schema:
    """Upgrade the database to the newest schema, if it is not there already; the schema before.

    It may run again, and in several processes at once, which take turns. On PostgreSQL each revision is a transaction
    of its own; one that changes several tables locks them in the order in which an append does.

    Raises:
        CannotMigrate: the database is of a newer version, or a revision cannot run while other processes are connected.
    """
    with engine.connect() as connection, _turn(connection):
        # Read after the wait: the process before may have upgraded already.
        schema = _schema(connection)
        if schema.standing is Standing.NEWER:
            raise NewerSchema(schema)
        if schema.standing is not Standing.SAME:
            _end_transaction(connection)
            # Only here, as it takes long to load: most processes start on a database of their own version.
            import_module("foldline.migrations.running").run(connection)
        return schema


@contextmanager
def _turn(connection: Connection) -> Iterator[None]:
    """A block in which no other migration runs, and no statement times out."""
    if connection.dialect.name == "sqlite":
        # BEGIN IMMEDIATE waits for the other writer.
        with connection.begin():
            yield
        return
    for option in ("statement_timeout = 0", f"lock_timeout = '{LOCK_SECONDS}s'"):
        connection.execute(text(f"SET {option}"))
    # The lock is polled, not waited for: CREATE INDEX CONCURRENTLY waits for every statement that began before it, and
    # would wait for this one too.
    Retrying(retry=retry_if_result(operator.not_), wait=wait_fixed(TURN_SECONDS))(_has_turn, connection)
    try:
        yield
    finally:
        # Closing the connection releases the lock and drops the options.
        connection.invalidate()


def _has_turn(connection: Connection) -> bool:
    is_ours = bool(connection.execute(text("SELECT pg_try_advisory_lock(:turn)"), {"turn": TURN}).scalar())
    connection.commit()
    return is_ours


def _end_transaction(connection: Connection) -> None:
    """End the transaction on PostgreSQL, where each revision begins its own."""
    if connection.dialect.name != "sqlite":
        connection.commit()


def _schema(connection: Connection) -> Schema:
    is_empty = not inspect(connection).has_table("alembic_version")
    revision = None if is_empty else connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return Schema(revision, _known())


def _known() -> tuple[str, ...]:
    """The revisions of this program, newest first; the files are named for them, in their order."""
    names = sorted((path.name for path in VERSIONS.glob("[0-9]*.py")), reverse=True)
    return tuple(name.partition("_")[0] for name in names)
