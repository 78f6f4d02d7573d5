"""What API, worker and beat need to be processes of their own, and the options they share."""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias
from urllib.parse import urlsplit

import typer

from cli.database import place_of
from cli.failures import CommandFailed
from cli.saying import say
from sessions.engines import SQLITE, address_of
from sessions.errors import InvalidDatabase
from sessions.settings import Settings
from sessions.store import Store

BROKERS: Final = frozenset({"redis", "rediss"})
POSTGRESQL: Final = "the address of a PostgreSQL, as in postgresql://foldline:password@127.0.0.1:5432/foldline"

DatabaseUrl: TypeAlias = Annotated[str | None, typer.Option(help="SQLAlchemy address of the database.")]
BrokerUrl: TypeAlias = Annotated[str | None, typer.Option(help="Address of the broker.")]
LogLevel: TypeAlias = Annotated[
    Literal["debug", "info", "warning", "error"] | None, typer.Option(help="Least severe log line shown.")
]


def check_broker(settings: Settings, command: str) -> None:
    """Raise CommandFailed for a broker that other processes cannot reach."""
    if settings.has_memory_broker:
        raise CommandFailed(
            f"`foldline {command}` needs a broker that other processes reach: set FOLDLINE_BROKER_URL to the address "
            "of a Redis or Valkey, as in redis://127.0.0.1:6379/0. On one machine `foldline serve` needs none"
        )
    if not _is_redis(settings.broker_url):
        raise CommandFailed(
            "FOLDLINE_BROKER_URL must be the address of a Redis or Valkey, as in redis://127.0.0.1:6379/0"
        )


def _is_redis(url: str) -> bool:
    try:
        parts = urlsplit(url)
        number = parts.path.strip("/") or "0"
        return parts.scheme in BROKERS and parts.port != 0 and number.isdecimal()
    except ValueError:
        # The port is no number, or a bracket of the password was read as one of the host's.
        return False


def check_database(settings: Settings, command: str) -> None:
    """Raise CommandFailed for a database that only one process can write to, or an address of none."""
    try:
        is_sqlite = address_of(settings.database_url).get_backend_name() == SQLITE
    except InvalidDatabase as error:
        raise CommandFailed(f"FOLDLINE_DATABASE_URL, or --database-url, must be {POSTGRESQL}") from error
    if is_sqlite:
        is_named = "database_url" in settings.model_fields_set
        problem = "SQLite is none" if is_named else "FOLDLINE_DATABASE_URL is not set"
        raise CommandFailed(
            f"`foldline {command}` needs a database that other processes write to as well, and {problem}: set "
            f"FOLDLINE_DATABASE_URL to {POSTGRESQL}. On SQLite, `foldline serve` does everything in one process"
        )


def say_what_is_used(settings: Settings, store: Store) -> None:
    """Say where the data is and who writes summaries."""
    model = f", model {settings.summarizer_model}" if settings.summarizer == "openai" else ""
    say(settings, f"data in {place_of(store)}, summaries: {settings.summarizer}{model}")
