"""Statements that go to PostgreSQL in one round trip with those that follow them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from psycopg import Error, OperationalError
from psycopg.errors import ConnectionFailure
from psycopg.pq import Trace, TransactionStatus
from sqlalchemy import Connection, Engine, Select, bindparam, event, insert, select, text, update
from sqlalchemy.exc import DBAPIError, IntegrityError

from foldline.log.errors import Busy, OutcomeUnknown, Unavailable
from foldline.log.storage import paths
from foldline.log.storage.engines.engine_set import AUTOCOMMIT
from foldline.log.storage.engines.pipelines import PipelinedConnection
from foldline.log.storage.store import Store, Transaction
from foldline.log.storage.tables import SECRET
from tests.support.log.sessions import TENANT, Scene
from tests.support.processes.databases import only_postgresql

database_kind = only_postgresql

KEEP = insert(SECRET)
CHANGE = update(SECRET).where(SECRET.c.name == bindparam("kept")).values(value=bindparam("now"))
VALUES = select(SECRET.c.name).where(SECRET.c.name.like("kept %")).order_by(SECRET.c.name)
# The server ends each round trip with this message.
READY = "ReadyForQuery"
AN_APPEND = 2


@pytest.fixture
def alone(database: str) -> Iterator[Store]:
    """A store with one connection."""
    with closing(Store(database, connections=1)) as store:
        yield store


def keep(tx: Transaction, name: str) -> None:
    tx.change(KEEP, {"name": f"kept {name}", "value": b"x"})


def names(store: Store) -> list[str]:
    with store.read() as tx:
        return list(tx.execute(VALUES).scalars())


def driver_of(connection: Connection) -> PipelinedConnection:
    driver = connection.connection.driver_connection
    assert isinstance(driver, PipelinedConnection)
    return driver


def round_trips(engine: Engine, folder: Path, work: Callable[[], object]) -> int:
    """How often the engine's connections wait for the server while this is done."""
    with (folder / "trace").open("w+") as trace:

        def follow(connection: Connection) -> None:
            pgconn = driver_of(connection).pgconn
            pgconn.trace(trace.fileno())
            pgconn.set_trace_flags(Trace.SUPPRESS_TIMESTAMPS)

        event.listen(engine, "begin", follow)
        try:
            work()
        finally:
            event.remove(engine, "begin", follow)
            with engine.connect() as connection:
                driver_of(connection).pgconn.untrace()
        trace.seek(0)
        return trace.read().count(READY)


def test_an_append_takes_two_round_trips(scene: Scene, tmp_path: Path) -> None:
    # Once a second a writer asks for the keys, too.
    scene.store.stopwatch = lambda: 0.0
    scene.append({"role": "user", "content": "hello"})

    def append() -> None:
        scene.append({"role": "assistant", "content": "hello"})

    assert round_trips(scene.store.engine, tmp_path, append) == AN_APPEND


def test_what_is_sent_later_is_there_for_the_next_statement(alone: Store) -> None:
    with alone.write() as tx:
        keep(tx, "a")
        keep(tx, "b")
        assert list(tx.execute(VALUES).scalars()) == ["kept a", "kept b"]
        tx.change(KEEP, *({"name": f"kept {number}", "value": b"x"} for number in range(3)))
    assert names(alone) == ["kept 0", "kept 1", "kept 2", "kept a", "kept b"]


def test_what_is_not_sent_yet_is_rolled_back(alone: Store) -> None:
    with alone.rehearse() as tx:
        keep(tx, "a")
    with suppress(RuntimeError), alone.write() as tx:
        keep(tx, "b")
        raise RuntimeError
    assert names(alone) == []


class NotRaisedBefore(Exception):
    """What is wrong should have been raised at the statement before."""


def kept_twice(alone: Store, and_then: Select[Any] | None = None) -> None:
    with alone.write() as tx:
        keep(tx, "a")
        keep(tx, "a")
        keep(tx, "b")
        if and_then is not None:
            tx.execute(and_then)
            raise NotRaisedBefore


def test_what_is_wrong_with_it_is_raised_at_the_commit_and_nothing_is_done(alone: Store) -> None:
    with pytest.raises(IntegrityError):
        kept_twice(alone)
    assert names(alone) == []
    with alone.write() as tx:
        keep(tx, "a")
    assert names(alone) == ["kept a"]


def test_it_is_raised_at_the_next_statement_too(alone: Store) -> None:
    with pytest.raises(IntegrityError):
        kept_twice(alone, and_then=VALUES)
    assert names(alone) == []


def test_a_connection_that_is_lost_at_the_commit_leaves_the_outcome_unknown(alone: Store, database: str) -> None:
    def lose_it() -> None:
        with closing(Store(database, connections=1)) as other, alone.write() as tx:
            pid = tx.execute(text("SELECT pg_backend_pid()")).scalar_one()
            keep(tx, "a")
            with other.write() as killing:
                killing.execute(text("SELECT pg_terminate_backend(:pid)"), {"pid": pid}).one()

    with pytest.raises(OutcomeUnknown):
        lose_it()
    assert names(alone) == []
    with alone.write() as tx:
        keep(tx, "b")
    assert names(alone) == ["kept b"]


def test_what_the_server_refuses_at_the_commit_is_known_to_be_undone(alone: Store, database: str) -> None:
    with alone.write() as tx:
        keep(tx, "a")

    def wait_too_long() -> None:
        with alone.write() as tx:
            tx.execute(text("SET LOCAL statement_timeout = '50ms'"))
            tx.change(CHANGE, {"kept": "kept a", "now": b"y"})

    with closing(Store(database, connections=1)) as other, other.write() as holding:
        holding.execute(CHANGE, {"kept": "kept a", "now": b"z"})
        with pytest.raises(Unavailable) as raised:
            wait_too_long()
    assert type(raised.value) is Unavailable


@pytest.mark.parametrize("failure", [OperationalError("the server was lost"), ConnectionFailure()])
def test_a_server_that_is_lost_behind_a_pooler_leaves_the_outcome_unknown(alone: Store, failure: Exception) -> None:
    def lose_it(_connection: Connection) -> None:
        raise DBAPIError.instance("COMMIT", None, failure, Error)

    event.listen(alone.engine, "commit", lose_it)
    try:
        with pytest.raises(OutcomeUnknown):
            keep_one(alone)
    finally:
        event.remove(alone.engine, "commit", lose_it)


def keep_one(alone: Store) -> None:
    with alone.write() as tx:
        keep(tx, "a")


@pytest.mark.parametrize("prepares", [True, False])
def test_each_kind_of_transaction_has_its_mode(database: str, *, prepares: bool) -> None:
    asked = text("SELECT current_setting('transaction_isolation'), current_setting('transaction_read_only')")
    with closing(Store(database, connections=1, prepares=prepares)) as store:
        for _ in range(2):
            with store.write() as tx:
                assert tuple(tx.execute(asked).one()) == ("read committed", "off")
            with store.read() as tx:
                assert tuple(tx.execute(asked).one()) == ("repeatable read", "on")
            with store.write() as tx:
                keep(tx, tx.new_id("name"))
            # As VACUUM needs it.
            with store.engine.connect().execution_options(isolation_level=AUTOCOMMIT) as connection:
                connection.execute(asked)
                assert driver_of(connection).info.transaction_status == TransactionStatus.IDLE
        assert len(names(store)) == len(range(2))


def test_a_lock_that_is_sent_later_is_waited_for_no_longer_than_was_said(scene: Scene) -> None:
    def wait() -> None:
        with scene.store.write() as tx:
            tx.wait_at_most(50)
            paths.open_head(tx, TENANT, scene.id, lock=True)

    with scene.store.write() as holding:
        paths.open_head(holding, TENANT, scene.id, lock=True)
        with pytest.raises(Busy):
            wait()
