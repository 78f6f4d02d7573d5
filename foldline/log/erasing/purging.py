"""Purges a database: removes the rows of what was deleted, and rewrites its files, which still hold some of that.

A page of a file keeps what was moved within it, and a log what was written to it. So the tables are written anew, and
then the logs are overwritten. It takes as long as copying the database, and others wait for it.
"""

from __future__ import annotations

import sqlite3
from contextlib import ExitStack, closing
from typing import Any, Final

from sqlalchemy import Connection, Engine, inspect, select
from sqlalchemy.exc import DBAPIError

from foldline.log.errors import Unavailable
from foldline.log.jobs import deletion
from foldline.log.jobs.sweeps import no_rest
from foldline.log.sealing.encrypting import forget_terms
from foldline.log.storage.engines.engine_set import AUTOCOMMIT
from foldline.log.storage.store import Store
from foldline.log.storage.tables import SESSION

# VACUUM leaves out such tables, and says so in a notice alone.
_OTHERS_TABLES: Final = (
    "SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace "
    "AND NOT pg_has_role(relowner, 'USAGE')"
)
# PostgreSQL's code for what only its administrator may do.
NOT_ALLOWED: Final = "42501"
LOG_KEPT: Final = (
    "the write-ahead log of PostgreSQL still has it: this needs the rights pg_monitor, pg_checkpoint and "
    "EXECUTE on pg_switch_wal()"
)
TABLES_KEPT: Final = "tables of PostgreSQL still have it: this needs the user that owns them"
LOG_HELD: Final = (
    "PostgreSQL keeps files of its write-ahead log, for a replication slot, an archive or by wal_keep_size"
)
LOG_IN_USE: Final = "the log of SQLite still has it, as others read it just now: run this again"
SESSIONS_IN_USE: Final = "workers or the index may still read sessions that were deleted: run this again later"


def purge(store: Store) -> list[str]:
    """Remove all that was deleted from the files of the database; what still has some of it, in words.

    Raises:
        Unavailable: the database does not answer, or others did not let go of it in time.
    """
    has_more = True
    while has_more:
        with store.write() as tx:
            has_more = deletion.remove_batch(tx)
    deletion.remove_terms(store, no_rest)
    forget_terms(store)
    with store.read() as tx:
        is_left = tx.execute(select(SESSION.c.pk).where(SESSION.c.deleted_at.is_not(None)).limit(1)).first()
    left = [SESSIONS_IN_USE] if is_left else []
    return [*left, *(_rewrite_file(store) if store.is_sqlite else _rewrite_tables(store.engine))]


def _rewrite_file(store: Store) -> list[str]:
    with closing(store.engine.raw_connection()) as pooled:
        connection: Any = pooled.driver_connection
        try:
            connection.execute("VACUUM")
        except sqlite3.OperationalError as error:
            raise Unavailable(str(error)) from error
    return [] if store.empty_log() else [LOG_IN_USE]


def _rewrite_tables(engine: Engine) -> list[str]:
    with engine.connect().execution_options(isolation_level=AUTOCOMMIT) as connection, ExitStack() as at_end:
        # The next user of a connection has the usual limits.
        at_end.callback(connection.invalidate)
        # These statements take longer than those of requests may.
        for setting in ("statement_timeout", "lock_timeout"):
            connection.exec_driver_sql(f"SET {setting} = 0")
        quote = connection.dialect.identifier_preparer.quote
        for name in inspect(connection).get_table_names():
            connection.exec_driver_sql(f"VACUUM (FULL) {quote(name)}")
        left = [TABLES_KEPT] if connection.exec_driver_sql(_OTHERS_TABLES).scalar() else []
        try:
            left += [] if _overwrite_log(connection) else [LOG_HELD]
        except DBAPIError as error:
            if getattr(error.orig, "sqlstate", None) != NOT_ALLOWED:
                raise
            left.append(LOG_KEPT)
    return left


def _overwrite_log(connection: Connection) -> bool:
    """Have each file of the write-ahead log overwritten: PostgreSQL uses them again, with what is in them.

    Whether each was.
    """
    began = connection.exec_driver_sql("SELECT date_trunc('second', clock_timestamp())").scalar_one()
    files = connection.exec_driver_sql("SELECT count(*) FROM pg_ls_waldir()").scalar_one()
    # A checkpoint writes something into the newest, and lets go of those before it; ending a file fills it up.
    for _ in range(files + 2):
        connection.exec_driver_sql("CHECKPOINT")
        connection.exec_driver_sql("SELECT pg_switch_wal()")
    connection.exec_driver_sql("CHECKPOINT")
    older = connection.exec_driver_sql("SELECT count(*) FROM pg_ls_waldir() WHERE modification < %s", (began,))
    return not older.scalar_one()
