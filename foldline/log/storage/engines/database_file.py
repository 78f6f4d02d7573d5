"""The file of an SQLite database, which all connections of a process must have open."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from sqlalchemy import Dialect

from foldline.log.errors import FileGone


class KnownFile(NamedTuple):
    """The file of an SQLite database that another process has open."""

    path: Path
    inode: int


@dataclass(slots=True)
class DatabaseFile:
    """The file that the first connection opened: all others have to open the same one.

    What is written to a file that was deleted is lost with the process. A new connection to its path would be worse: it
    begins an empty file there, and SQLite deletes the log of the one that was.
    """

    path: Path | None = None
    inode: int = 0
    _lock: Lock = field(default_factory=Lock)

    @property
    def known(self) -> KnownFile | None:
        """The file, once there was a connection."""
        return None if self.path is None else KnownFile(self.path, self.inode)

    def connect(self, dialect: Dialect, _record: Any, arguments: list[Any], named: dict[str, Any]) -> Any:
        """A new connection; the first one makes the file, which others on this machine cannot read.

        Raises:
            FileGone: as `check`.
        """
        with self._lock:
            if self.path is not None:
                self.check()
                return dialect.connect(*arguments, **named)
            if not arguments[0].startswith("file:"):
                # SQLite says itself what is wrong with a path, and gives its log the same mode.
                with suppress(OSError):
                    os.close(os.open(arguments[0], os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            connection = dialect.connect(*arguments, **named)
            self.path = path_of(connection)
            self.inode = self.path.stat().st_ino
            return connection

    def check(self) -> None:
        """Check that the file is where it was, once it is known.

        Raises:
            FileGone: it was deleted, or another one put in its place.
        """
        if self.path is None:
            return
        try:
            is_there = self.path.stat().st_ino == self.inode
        except FileNotFoundError:
            is_there = False
        if not is_there:
            raise FileGone(self.path)


def path_of(connection: Any) -> Path:
    """The path of the database of SQLite's connection; its URL may have another form of it."""
    return Path(connection.execute("PRAGMA database_list").fetchone()[2])
