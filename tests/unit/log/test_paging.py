"""What a page of a list reads is bounded by the page, however long the list is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import pytest

from foldline.log.jobs import endings, queries
from foldline.log.storage.store import Store, Transaction
from foldline.log.use_cases import branches, entries, history, lifecycle, pins, undo
from tests.support.log.scenes import NewScene
from tests.support.log.sessions import Scene, turns, user

LIMIT = 3
FEW, MANY = 8, 40


@dataclass(slots=True)
class CountingTransaction(Transaction):
    """A transaction that counts the statements it runs, and the rows and bodies that it reads."""

    statements: int = 0
    rows: int = 0
    bodies: int = 0

    def execute(self, statement: Any, parameters: Any = None) -> Any:
        result = self.connection.execute(statement, parameters)
        self.statements += 1
        if not result.returns_rows:
            return result
        read = result.freeze()
        self.rows += len(read.data)
        self.bodies += sum("body" in row._fields for row in read.data)
        return read()


def counting(tx: Transaction) -> CountingTransaction:
    return CountingTransaction(**{field.name: getattr(tx, field.name) for field in fields(Transaction)})


def add_pins(scene: Scene, number: int) -> None:
    for _ in range(number):
        scene.pin(1)


def add_compactions(scene: Scene, number: int) -> None:
    """Compactions that hide one turn each, of which the first is undone and redone."""
    scene.append(*turns(1, 60))
    for done in range(number):
        scene.append(*turns(1, 60))
        assert scene.compact(summarize=False, target_tokens=100).made
        if not done:
            scene.undo(scene.live[0])
            scene.redo()


def add_branches(scene: Scene, number: int) -> None:
    first, *_ = scene.append(user(8), user(8), user(8)).entry_ids
    for _ in range(number - 1):
        scene.move(first)
        scene.append(user(8), user(8))


def add_entries(scene: Scene, number: int) -> None:
    scene.append(*[user(8)] * number)


def add_jobs(scene: Scene, number: int) -> None:
    scene.append(*turns(4, 60))
    for _ in range(number):
        scene.compact(summarize=True)
        with scene.store.write() as tx:
            endings.cancel(tx, scene.tenant, scene.jobs[-1].id)


@dataclass(frozen=True, slots=True)
class List:
    """A list of the API: how a session gets items, and how a page after the first item is read.

    `sizes` are the rows that only say how large something is.
    """

    fill: Callable[[Scene, int], None]
    page: Callable[[Transaction, Scene], Sequence[Any]]
    sizes: int = 0


LISTS = {
    "branches": List(add_branches, lambda tx, scene: branches.branches(tx, scene.tenant, scene.id, 1, LIMIT)),
    "compactions": List(add_compactions, lambda tx, scene: history.compactions(tx, scene.tenant, scene.id, 1, LIMIT)),
    "entries": List(
        add_entries, lambda tx, scene: entries.entries(tx, scene.tenant, scene.id, 1, LIMIT).items, LIMIT + 1
    ),
    "jobs": List(add_jobs, lambda tx, scene: queries.jobs(tx, scene.tenant, scene.id, 1, LIMIT)),
    "pins": List(add_pins, lambda tx, scene: pins.pins(tx, scene.tenant, scene.id, 1, LIMIT)),
}


@pytest.mark.parametrize("name", LISTS)
def test_a_page_reads_as_much_of_a_long_list_as_of_a_short_one(name: str, new_scene: NewScene) -> None:
    readings = []
    for number in (FEW, MANY):
        scene = new_scene(id=f"s{number}")
        LISTS[name].fill(scene, number)
        with scene.store.read() as tx:
            counted = counting(tx)
            assert len(LISTS[name].page(counted, scene)) == LIMIT
        readings.append((counted.statements, counted.rows, counted.bodies))
    short, long = readings
    assert long == short
    # The session, the live edits, an undo and a redo at most come on top of the page.
    assert short[1] <= LIMIT + LISTS[name].sizes + 4


def test_a_page_of_sessions_reads_no_others(new_scene: NewScene, store: Store) -> None:
    for number in range(FEW):
        new_scene(id=f"s{number}")
    with store.read() as tx:
        counted = counting(tx)
        found = lifecycle.list_sessions(counted, "acme", 1, LIMIT)
    assert [path.session.id for path in found.items] == ["s1", "s2", "s3"]
    # Their sizes and that of one more come first.
    assert (counted.statements, counted.rows) == (2, LIMIT + 1 + LIMIT)


def test_pages_together_are_the_whole_list_of_compactions(scene: Scene) -> None:
    add_compactions(scene, FEW)
    scene.undo(scene.live[-2])
    with scene.store.read() as tx:
        whole = history.compactions(tx, scene.tenant, scene.id)
        pages = []
        after_seq = 0
        while found := history.compactions(tx, scene.tenant, scene.id, after_seq, LIMIT):
            pages += found
            after_seq = history.seq_of(found[-1].id)
    assert pages == whole
    assert [compaction.is_live for compaction in whole] == [True] * (FEW - 2) + [False] * 2


def test_undo_and_redo_read_no_older_compactions(new_scene: NewScene) -> None:
    readings = []
    for number in (FEW, MANY):
        scene = new_scene(id=f"s{number}")
        add_compactions(scene, number)
        newest = scene.live[-2:]
        with scene.store.write() as tx:
            undoing = counting(tx)
            assert undo.undo(undoing, scene.tenant, scene.id, newest[0])[0] == newest
        with scene.store.write() as tx:
            redoing = counting(tx)
            assert undo.redo(redoing, scene.tenant, scene.id)[0] == newest
        readings.append((undoing.bodies, redoing.bodies))
    assert readings[0] == readings[1]
