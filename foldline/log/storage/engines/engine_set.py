"""The engines of one database, and the limits that those of both kinds have."""

from __future__ import annotations

from typing import Final, NamedTuple

from sqlalchemy import Engine
from sqlalchemy.pool import QueuePool

from foldline.log.storage.engines.database_file import DatabaseFile

CONNECTIONS: Final = 24
# SQLAlchemy's word for connections of PostgreSQL on which no transaction begins by itself.
AUTOCOMMIT: Final = "AUTOCOMMIT"
# How long to wait for a new connection, for a free one, or for a lock.
WAIT_SECONDS: Final = 10


class Engines(NamedTuple):
    """`writer` for transactions that change the log, `reader` for transactions that read one consistent state.

    On SQLite all have the same `file` open, and `at_once` is for reads that wait for nothing.
    """

    writer: Engine
    reader: Engine
    at_once: Engine | None = None
    file: DatabaseFile | None = None

    @property
    def all(self) -> list[Engine]:
        """All of them."""
        return [engine for engine in (self.writer, self.reader, self.at_once) if engine is not None]

    @property
    def in_use(self) -> int:
        """The number of connections in use now."""
        return sum(pool.checkedout() for pool in self._pools)

    @property
    def most(self) -> int:
        """The largest number of connections."""
        return sum(pool.size() for pool in self._pools)

    @property
    def _pools(self) -> list[QueuePool]:
        """On PostgreSQL both engines share one pool."""
        pools = {id(engine.pool): engine.pool for engine in self.all}
        return [pool for pool in pools.values() if isinstance(pool, QueuePool)]

    def dispose(self) -> None:
        """Close all connections."""
        for engine in self.all:
            engine.dispose()
