"""Transactions: all or nothing, one writer at a time, events after the commit."""

from __future__ import annotations

from pathlib import Path
from threading import Event, Thread

import pytest
from sqlalchemy import text

from foldline.log.errors import InvalidDatabase, Unavailable
from foldline.log.storage.store import Store
from tests.support.log.sessions import Clock

MODEL = "openai/gpt-4o"


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
        ("nonsense", "it is not a URL"),
        ("postgresql://u:secret@host:port/log", "it is not a URL"),
        ("mysql://u:secret@host/log", "mysql is not supported"),
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
