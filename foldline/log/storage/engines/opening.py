"""Opens the engines of a database."""

from __future__ import annotations

from importlib import import_module

from sqlalchemy import URL
from sqlalchemy.exc import ArgumentError

from foldline.log.errors import InvalidDatabase
from foldline.log.storage.engines import sqlite
from foldline.log.storage.engines.addresses import SQLITE
from foldline.log.storage.engines.database_file import KnownFile
from foldline.log.storage.engines.engine_set import CONNECTIONS, Engines


def open_engines(
    address: URL, connections: int = CONNECTIONS, *, prepares: bool = True, file: KnownFile | None = None
) -> Engines:
    """Engines with at most so many connections each; nothing connects yet, and then to no other `file`.

    `prepares`: PostgreSQL keeps the statements of a connection prepared, which a pooler by transactions cannot.

    Raises:
        InvalidDatabase: the driver is not installed.
    """
    try:
        if address.get_backend_name() == SQLITE:
            return sqlite.open_file(address, connections, file)
        # The driver of PostgreSQL is loaded only where it is used.
        postgresql = import_module("foldline.log.storage.engines.postgresql")
        found: Engines = postgresql.open_server(address, connections, prepares=prepares)
    except (ArgumentError, ImportError) as error:
        problem = f"no driver for {address.drivername} is installed"
        raise InvalidDatabase(problem) from error
    return found
