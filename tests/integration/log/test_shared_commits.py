"""Commits that writers of SQLite share: several wait for the disk once, and each undoes its own mistakes alone."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event
from time import sleep

import pytest
from sqlalchemy import Connection, event, text
from sqlalchemy.exc import OperationalError

from foldline.log.errors import Unavailable
from foldline.log.storage.engines.addresses import address_of
from foldline.log.storage.engines.opening import open_engines
from foldline.log.storage.turns import WRITING_FOR, Turns
from tests.support.processes.databases import sqlite_database

PATIENCE_SECONDS = 20


class Mistake(Exception):
    """What a writer raises."""


def say(connection: Connection, word: str) -> None:
    connection.execute(text("INSERT INTO said VALUES (:word)"), {"word": word})


class Writers:
    """A first writer, which goes on when it may, and others that queue behind it."""

    def __init__(self, url: str, pool: ThreadPoolExecutor) -> None:
        self.engine = open_engines(address_of(url)).writer
        self.turns = Turns(self.engine)
        self.commits = 0
        self._pool = pool
        self._may_go_on = Event()
        with self.engine.begin() as connection:
            connection.execute(text("CREATE TABLE said (word TEXT)"))
        event.listen(self.engine, "commit", self._count)

    def _count(self, _connection: Connection) -> None:
        self.commits += 1

    def first(self, *, fails: bool = False) -> Future[None]:
        has_turn = Event()

        def write() -> None:
            with self.turns.write(shares=True) as connection:
                has_turn.set()
                assert self._may_go_on.wait(PATIENCE_SECONDS)
                say(connection, "first")
                if fails:
                    raise Mistake

        done = self._pool.submit(write)
        assert has_turn.wait(PATIENCE_SECONDS)
        return done

    def then(
        self, word: str, *, shares: bool = True, fails: bool = False, fills: bool = False, tenant: str = ""
    ) -> Future[None]:
        """A writer that waits already when this returns."""

        def write() -> None:
            WRITING_FOR.set(tenant)
            with self.turns.write(shares=shares) as connection:
                say(connection, word)
                if fills:
                    connection.exec_driver_sql("ROLLBACK")
                if fails:
                    raise Mistake

        before = self.turns.waiting
        done = self._pool.submit(write)
        while self.turns.waiting == before:
            sleep(0.001)
        return done

    def go_on(self) -> None:
        self._may_go_on.set()

    @property
    def said(self) -> list[str]:
        with self.turns.write(shares=False) as connection:
            return list(connection.execute(text("SELECT word FROM said ORDER BY rowid")).scalars())


@pytest.fixture
def writers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Writers]:
    # Threads of a test start slowly.
    monkeypatch.setattr("foldline.log.storage.turns.OPEN_SECONDS", PATIENCE_SECONDS)
    with sqlite_database() as url, ThreadPoolExecutor(8) as pool:
        writers = Writers(url, pool)
        yield writers
        writers.engine.dispose()


def test_those_that_wait_are_committed_with_the_first(writers: Writers) -> None:
    done = [writers.first(), writers.then("second"), writers.then("third")]
    writers.go_on()
    assert [each.result(PATIENCE_SECONDS) for each in done] == [None, None, None]
    assert writers.commits == 1
    assert writers.said == ["first", "second", "third"]


def test_nobody_is_done_before_the_commit(writers: Writers) -> None:
    first = writers.first()
    held = Event()

    def hold(_connection: Connection) -> None:
        assert not first.done()
        held.set()

    event.listen(writers.engine, "commit", hold)
    second = writers.then("second")
    writers.go_on()
    assert (first.result(PATIENCE_SECONDS), second.result(PATIENCE_SECONDS), held.is_set()) == (None, None, True)


@pytest.mark.parametrize("words", [[], ["third"]], ids=["the last", "not the last"])
def test_what_a_later_one_raises_undoes_its_own_changes_alone(writers: Writers, words: list[str]) -> None:
    first, second = writers.first(), writers.then("second", fails=True)
    others = [writers.then(word) for word in words]
    writers.go_on()
    with pytest.raises(Mistake):
        second.result(PATIENCE_SECONDS)
    assert {each.result(PATIENCE_SECONDS) for each in (first, *others)} == {None}
    assert writers.said == ["first", *words]


def test_what_the_first_raises_leaves_nothing_and_the_next_one_begins_anew(writers: Writers) -> None:
    first, second = writers.first(fails=True), writers.then("second")
    writers.go_on()
    with pytest.raises(Mistake):
        first.result(PATIENCE_SECONDS)
    second.result(PATIENCE_SECONDS)
    assert writers.said == ["second"]


def test_no_writer_waits_for_one_that_does_not_share(writers: Writers) -> None:
    done = [writers.first(), writers.then("long", shares=False), writers.then("second")]
    writers.go_on()
    assert [each.result(PATIENCE_SECONDS) for each in done] == [None, None, None]
    assert writers.commits == 3
    assert writers.said == ["first", "long", "second"]


def test_a_transaction_that_was_open_for_long_is_joined_by_nobody(
    writers: Writers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("foldline.log.storage.turns.OPEN_SECONDS", 0)
    done = [writers.first(), writers.then("second")]
    writers.go_on()
    assert [each.result(PATIENCE_SECONDS) for each in done] == [None, None]
    assert writers.commits == 2


def test_a_commit_that_fails_fails_all_who_share_it(writers: Writers) -> None:
    def refuse(_connection: Connection) -> None:
        event.remove(writers.engine, "commit", refuse)
        raise OperationalError("COMMIT", {}, Exception("disk I/O error"))

    event.listen(writers.engine, "commit", refuse)
    first, second = writers.first(), writers.then("second")
    writers.go_on()
    with pytest.raises(Unavailable, match="disk I/O error"):
        first.result(PATIENCE_SECONDS)
    with pytest.raises(OperationalError, match="disk I/O error"):
        second.result(PATIENCE_SECONDS)
    assert writers.said == []


def test_a_transaction_that_sqlite_gave_up_fails_all_who_share_it(writers: Writers) -> None:
    first, second = writers.first(), writers.then("second", fills=True, fails=True)
    third = writers.then("third")
    writers.go_on()
    with pytest.raises(Unavailable):
        first.result(PATIENCE_SECONDS)
    with pytest.raises((Mistake, OperationalError)):
        second.result(PATIENCE_SECONDS)
    third.result(PATIENCE_SECONDS)
    assert writers.said == ["third"]


def test_a_database_that_cannot_be_opened_fails_one_writer_after_the_other(tmp_path: object) -> None:
    turns = Turns(open_engines(address_of(f"sqlite:///{tmp_path}/none/foldline.db")).writer)
    for _ in range(2):
        with pytest.raises(OperationalError), turns.write(shares=True):
            pass


@pytest.mark.parametrize("shares", [True, False])
def test_tenants_take_turns_however_many_writers_one_of_them_has(writers: Writers, *, shares: bool) -> None:
    writers.first()
    waiting = [("ann", "a1"), ("ann", "a2"), ("ann", "a3"), ("bob", "b1"), ("cid", "c1"), ("bob", "b2")]
    done = [writers.then(word, shares=shares, tenant=tenant) for tenant, word in waiting]
    writers.go_on()
    for written in done:
        written.result(PATIENCE_SECONDS)
    assert writers.said == ["first", "a1", "b1", "c1", "a2", "b2", "a3"]
