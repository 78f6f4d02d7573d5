"""Another process that writes to the service's SQLite file takes turns with the service's own writers."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from sqlalchemy import event

from foldline.log.storage.engines import lent_turns
from foldline.log.storage.engines.addresses import address_of
from foldline.log.storage.engines.lent_turns import LentTurns, lend
from foldline.log.storage.engines.opening import open_engines
from foldline.log.storage.turns import WRITING_FOR, Turns
from tests.support.eventually import eventually

PATIENCE_SECONDS = 20


class Lending:
    """The turns of a service, and the connection of a process to which it lends them."""

    def __init__(self, folder: Path, pool: ThreadPoolExecutor) -> None:
        self.engine = open_engines(address_of(f"sqlite:///{folder}/foldline.db")).writer
        self.turns = Turns(self.engine)
        ours, self.its = Pipe()
        self.order: list[str] = []
        self.lent = pool.submit(lend, self.turns, ours)
        self._pool = pool

    def write(self, tenant: str) -> Future[None]:
        """A writer of the service; it is in the queue when this returns."""

        def work() -> None:
            WRITING_FOR.set(tenant)
            with self.turns.write(shares=False):
                self.order.append(tenant)

        waiting = self.turns.waiting
        written = self._pool.submit(work)
        eventually(lambda: written.done() or self.turns.waiting > waiting, PATIENCE_SECONDS)
        return written


@pytest.fixture
def lending(tmp_path: Path) -> Iterator[Lending]:
    with ThreadPoolExecutor() as pool:
        made = Lending(tmp_path, pool)
        try:
            yield made
        finally:
            made.its.close()
            made.engine.dispose()


def test_while_a_process_has_its_turn_nobody_else_writes(lending: Lending) -> None:
    with LentTurns(lending.its).one():
        written = lending.write("ours")
        assert not written.done()
    written.result(PATIENCE_SECONDS)
    with LentTurns(lending.its).one():
        pass


def test_its_turn_is_that_of_a_tenant(lending: Lending) -> None:
    def write() -> None:
        WRITING_FOR.set("theirs")
        with LentTurns(lending.its).one():
            lending.order.append("theirs")

    with ThreadPoolExecutor() as pool:
        with lending.turns.alone():
            first, second = lending.write("ours"), lending.write("ours")
            waiting = lending.turns.waiting
            lent = pool.submit(write)
            eventually(lambda: lending.turns.waiting > waiting, PATIENCE_SECONDS)
        for written in (first, second, lent):
            written.result(PATIENCE_SECONDS)
    # It does not wait behind the second of the same tenant.
    assert lending.order == ["ours", "theirs", "ours"]


def test_a_process_that_ends_gives_its_turn_back(lending: Lending) -> None:
    lending.its.send("ours")
    lending.its.recv()
    written = lending.write("theirs")
    assert not written.done()
    lending.its.close()
    written.result(PATIENCE_SECONDS)
    lending.lent.result(PATIENCE_SECONDS)


def test_a_process_that_stops_loses_its_turn(lending: Lending, monkeypatch: pytest.MonkeyPatch) -> None:
    turns = LentTurns(lending.its)
    with monkeypatch.context() as patched:
        patched.setattr(lent_turns, "TURN_SECONDS", 0.1)
        with turns.one():
            lending.write("theirs").result(PATIENCE_SECONDS)
    # What it says of the turn that it has lost ends no later one.
    with turns.one():
        written = lending.write("ours")
        assert not written.done()
    written.result(PATIENCE_SECONDS)


def test_without_a_service_that_lends_it_a_process_still_writes() -> None:
    ours: Connection
    ours, its = Pipe()
    ours.close()
    with LentTurns(its).one():
        pass


def test_each_outer_turn_is_given_back(lending: Lending) -> None:
    taken: list[str] = []

    @contextmanager
    def outer() -> Iterator[None]:
        taken.append("taken")
        try:
            yield
        finally:
            taken.append("given back")

    turns = Turns(lending.engine, outer)
    with turns.write(shares=True):
        assert taken == ["taken"]
    with suppress(ZeroDivisionError), turns.write(shares=False):
        raise ZeroDivisionError
    with turns.alone():
        assert taken == ["taken", "given back"] * 2 + ["taken"]
    event.listen(lending.engine, "begin", lambda _: 1 / 0)
    with suppress(ZeroDivisionError), turns.write(shares=False):
        raise AssertionError
    assert taken == ["taken", "given back"] * 4
