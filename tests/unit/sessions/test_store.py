"""Transactions: all or nothing, one writer at a time, doorbells after the commit."""

from __future__ import annotations

from pathlib import Path
from threading import Event, Thread

import pytest
from sqlalchemy import func, select, text

from sessions import lifecycle
from sessions.errors import InvalidDatabase, Unavailable
from sessions.lifecycle import NewSession
from sessions.store import Store
from sessions.tables import SESSION
from tests.support.log import TENANT, Clock, Scene, turns

MODEL = "openai/gpt-4o"


def sessions_in(store: Store) -> int:
    with store.read() as tx:
        number: int = tx.execute(select(func.count()).select_from(SESSION)).scalar_one()
        return number


class Interrupted(Exception):
    """Something went wrong between a change and its commit."""


def create_and_fail(store: Store) -> None:
    with store.write() as tx:
        lifecycle.create(tx, TENANT, NewSession(MODEL, "s"))
        tx.rings.append("summarize.background")
        raise Interrupted


def test_a_transaction_that_raises_leaves_nothing_behind_and_rings_for_nothing(store: Store) -> None:
    rings: list[str] = []
    store.doorbell = rings.append
    with pytest.raises(Interrupted):
        create_and_fail(store)
    assert (sessions_in(store), rings) == (0, [])


def test_a_rehearsal_leaves_nothing_behind_and_rings_for_nothing(store: Store) -> None:
    rings: list[str] = []
    store.doorbell = rings.append
    with store.rehearse() as tx:
        lifecycle.create(tx, TENANT, NewSession(MODEL, "s"))
        tx.rings.append("summarize.background")
    assert (sessions_in(store), rings) == (0, [])


def test_a_reader_sees_one_state_while_a_writer_goes_on(scene: Scene) -> None:
    with scene.store.read() as tx:
        before = lifecycle.list_sessions(tx, TENANT, 0, 10)[0].session.version
        scene.append(*turns(1, 20))
        assert lifecycle.list_sessions(tx, TENANT, 0, 10)[0].session.version == before
    assert scene.path.session.version == before + 1


def test_writers_take_turns(store: Store) -> None:
    is_in, may_leave, second_is_in = Event(), Event(), Event()

    def first() -> None:
        with store.write():
            is_in.set()
            may_leave.wait(10)

    def second() -> None:
        with store.write():
            second_is_in.set()

    threads = [Thread(target=first)]
    threads[0].start()
    assert is_in.wait(10)
    threads.append(Thread(target=second))
    threads[1].start()
    assert not second_is_in.wait(0.1)
    may_leave.set()
    for thread in threads:
        thread.join(10)
    assert second_is_in.is_set()


def test_a_database_that_cannot_be_opened_is_unavailable(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'missing' / 'log.db'}")
    with pytest.raises(Unavailable), store.read():
        pass
    store.close()


def test_a_file_that_is_no_database_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("Nothing of this is a database.")
    store = Store(f"sqlite:///{tmp_path / 'notes.txt'}")
    with pytest.raises(Unavailable, match="not a database"), store.read():
        pass
    store.close()


def test_a_statement_that_the_database_refuses_is_unavailable(store: Store) -> None:
    with pytest.raises(Unavailable), store.read() as tx:
        tx.execute(text("SELECT nothing FROM nowhere"))


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("nonsense", "it has not the form of one"),
        ("postgresql://u:secret@host:port/log", "it has not the form of one"),
        ("mysql://u:secret@host/log", "mysql is no database that is supported"),
        ("sqlite://", "in memory cannot be shared"),
        ("sqlite:///:memory:", "in memory cannot be shared"),
        ("sqlite+abacus:///log.db", "no driver for sqlite\\+abacus is installed"),
        ("postgresql+abacus://u:secret@host/log", "no driver for postgresql\\+abacus is installed"),
    ],
)
def test_an_address_of_no_database_is_refused_without_its_password(url: str, problem: str) -> None:
    with pytest.raises(InvalidDatabase, match=problem) as caught:
        Store(url)
    assert "secret" not in str(caught.value)


def test_time_is_the_stores_clock_in_milliseconds(store: Store, clock: Clock) -> None:
    before = store.now
    clock.advance(1.5)
    assert store.now == before + 1_500
