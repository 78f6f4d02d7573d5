"""The schema's history, with Alembic.

Migrations run first, and the processes of the version before go on, and may start, until the new ones have taken their
place. So each revision keeps the version before it working: it adds what may be left out, widens, and makes indexes;
what is no longer used goes one version after the last program that used it.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, text
from tenacity import Retrying, retry_if_result, wait_fixed

# Ours among the advisory locks of a database; any number will do as long as it stays.
TURN: Final = 0x466F6C64
# While a change waits for a table, everyone else waits behind it. Better to give up, and be started again.
LOCK_SECONDS: Final = 10
TURN_SECONDS: Final = 0.1


class Standing(Enum):
    """How a database's schema stands to the one that a program was written for."""

    EMPTY = "empty"
    OLDER = "older"
    SAME = "same"
    NEWER = "newer"


@dataclass(frozen=True, slots=True)
class Schema:
    """The revision a database is at, None if it is empty, and those that this program knows, newest first."""

    revision: str | None
    known: tuple[str, ...]

    @property
    def newest(self) -> str:
        """The revision this program was written for."""
        return self.known[0]

    @property
    def standing(self) -> Standing:
        """A revision that this program does not know is a newer one: what was published is never taken back."""
        if self.revision is None:
            return Standing.EMPTY
        if self.revision == self.newest:
            return Standing.SAME
        return Standing.OLDER if self.revision in self.known else Standing.NEWER


class NewerSchema(Exception):
    """The database was migrated by a newer version, and only that one can say what is in it."""

    def __init__(self, schema: Schema) -> None:
        super().__init__(
            f"the database is of a newer version of Foldline (revision {schema.revision}); this one knows up to "
            f"{schema.newest}. Install the newer version"
        )
        self.schema = schema


def schema_of(engine: Engine) -> Schema:
    """Where the database stands."""
    with engine.begin() as connection:
        return _schema(connection)


def upgrade(engine: Engine) -> Schema:
    """Bring the database to the newest schema, and tell where it stood; nothing happens if it is there already.

    It may run several times and in several processes at once: they take turns. On PostgreSQL each revision is a
    transaction of its own, so that none holds one table while it waits for another.

    Raises:
        NewerSchema: the database is of a newer version; nothing was changed.
    """
    with engine.connect() as connection, _turn(connection):
        # Only now: whoever had the turn before may have done it all.
        schema = _schema(connection)
        if schema.standing is Standing.NEWER:
            raise NewerSchema(schema)
        if schema.standing is not Standing.SAME:
            _end_transaction(connection)
            config = _config()
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
        return schema


@contextmanager
def _turn(connection: Connection) -> Iterator[None]:
    """A block in which no other migration runs, and this one may take its time."""
    if connection.dialect.name == "sqlite":
        # BEGIN IMMEDIATE waits for whoever has it.
        with connection.begin():
            yield
        return
    for option in ("statement_timeout = 0", f"lock_timeout = '{LOCK_SECONDS}s'"):
        connection.execute(text(f"SET {option}"))
    # Asked for again and again, not waited for: an index that is built beside writers waits until every statement has
    # ended that began before it, this one too.
    Retrying(retry=retry_if_result(operator.not_), wait=wait_fixed(TURN_SECONDS))(_has_turn, connection)
    try:
        yield
    finally:
        # With the connection go its lock and its options.
        connection.invalidate()


def _has_turn(connection: Connection) -> bool:
    is_ours = bool(connection.execute(text("SELECT pg_try_advisory_lock(:turn)"), {"turn": TURN}).scalar())
    connection.commit()
    return is_ours


def _end_transaction(connection: Connection) -> None:
    """Let each revision begin its own, where they have one each."""
    if connection.dialect.name != "sqlite":
        connection.commit()


def _schema(connection: Connection) -> Schema:
    revision = MigrationContext.configure(connection).get_current_revision()
    scripts = ScriptDirectory.from_config(_config()).walk_revisions()
    return Schema(revision, tuple(script.revision for script in scripts))


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    return config
