"""The schema's history, with Alembic.

Migrations run first, and the processes of the version before go on, and may start, until the new ones have taken their
place. So each revision keeps the version before it working: it adds what may be left out, widens, and makes indexes;
what is no longer used goes one version after the last program that used it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, text

# Ours among the advisory locks of a database; any number will do as long as it stays.
TURN: Final = 0x466F6C64
# While a change waits for a table, everyone else waits behind it. Better to give up, and be started again.
LOCK_SECONDS: Final = 10


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

    All of it is one transaction, and it may run several times and in several processes at once: they take turns.

    Raises:
        NewerSchema: the database is of a newer version; nothing was changed.
    """
    with engine.begin() as connection:
        _take_turn(connection)
        # Only now: whoever had the turn before may have done it all.
        schema = _schema(connection)
        if schema.standing is Standing.NEWER:
            raise NewerSchema(schema)
        if schema.standing is not Standing.SAME:
            config = _config()
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
        return schema


def _take_turn(connection: Connection) -> None:
    """Wait until no other migration runs, and let this one take its time. On SQLite, BEGIN IMMEDIATE has done so."""
    if connection.dialect.name == "sqlite":
        return
    connection.execute(text("SET LOCAL statement_timeout = 0"))
    connection.execute(text("SET LOCAL lock_timeout = 0"))
    connection.execute(text("SELECT pg_advisory_xact_lock(:turn)"), {"turn": TURN})
    connection.execute(text(f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'"))


def _schema(connection: Connection) -> Schema:
    revision = MigrationContext.configure(connection).get_current_revision()
    scripts = ScriptDirectory.from_config(_config()).walk_revisions()
    return Schema(revision, tuple(script.revision for script in scripts))


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    return config
