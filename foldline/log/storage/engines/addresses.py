"""Addresses of databases: which URLs are supported."""

from __future__ import annotations

from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from foldline.log.errors import InvalidDatabase

SQLITE: Final = "sqlite"
# Names that users write, and the driver that is installed.
DRIVERS: Final = {"postgres": "postgresql+psycopg", "postgresql": "postgresql+psycopg"}
BACKENDS: Final = frozenset({SQLITE, "postgresql"})


def address_of(url: str) -> URL:
    """The parsed URL of a supported database, with the installed driver.

    Raises:
        InvalidDatabase: the URL is malformed, or the database is not supported.
    """
    try:
        address = make_url(url)
    except (ArgumentError, ValueError):
        # The cause quotes the URL.
        problem = "it is not a URL"
        raise InvalidDatabase(problem) from None
    address = address.set(drivername=DRIVERS.get(address.drivername, address.drivername))
    if address.get_backend_name() not in BACKENDS:
        problem = f"{address.get_backend_name()} is not supported"
        raise InvalidDatabase(problem)
    if address.get_backend_name() == SQLITE and address.database in {None, "", ":memory:"}:
        # Each connection would get a database of its own.
        problem = "a database in memory cannot be shared"
        raise InvalidDatabase(problem)
    return address


def file_of(address: URL) -> Path:
    """The file of an SQLite database, also of one that is named by a `file:` URI."""
    named = str(address.database)
    return Path(unquote(urlsplit(named).path) if named.startswith("file:") else named)
