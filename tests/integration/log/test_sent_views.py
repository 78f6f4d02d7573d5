"""The views that a process sent last: whose they are, which of two stays, and how many there is room for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from foldline_api.sent_views import VIEW_BYTES, SentViews
from sqlalchemy import Engine, event

from foldline.engine.wire import loads
from foldline.log.jobs import sweeps
from foldline.log.storage import paths
from foldline.log.storage.store import Store
from foldline.log.use_cases import lifecycle
from tests.support.log.sessions import Scene, open_store, user
from tests.support.processes.databases import sqlite_database

ROOM = 1 << 20


@pytest.fixture
def store() -> Iterator[Store]:
    with sqlite_database() as url, open_store(url) as opened:
        yield opened


def read(store: Store, kept: SentViews, scene: Scene) -> list[dict[str, str]]:
    with store.read() as tx:
        messages: list[dict[str, str]] = loads(kept.read(tx, scene.tenant, scene.id, "openai").body)["messages"]
        return messages


@contextmanager
def selects() -> Iterator[list[str]]:
    """The statements that read, as they are run."""
    run = list[str]()

    def note(*at: Any) -> None:
        if at[2].startswith("SELECT"):
            run.append(at[2])

    event.listen(Engine, "before_cursor_execute", note)
    yield run
    event.remove(Engine, "before_cursor_execute", note)


@pytest.mark.parametrize("name", ["mine", "yours"])
def test_a_number_that_is_given_again_does_not_give_the_view_with_it(store: Store, name: str) -> None:
    kept = SentViews(ROOM)
    first = Scene(store, id="mine", tenant="acme")
    first.append(user(5, " secret"))
    before, row = read(store, kept, first), first.path.session
    with store.write() as tx:
        lifecycle.delete(tx, "acme", "mine")
    while sweeps.sweep(store):
        pass
    # The clock stands still, so that it was created at the same time, too.
    second = Scene(store, id=name, tenant="bolt")
    second.append(user(5, " hello"))
    again = second.path.session
    assert (again.pk, again.created_at, again.version) == (row.pk, row.created_at, row.version)
    assert read(store, kept, second) == [user(5, " hello")] != before


def test_a_slower_reader_sees_its_own_state_and_replaces_no_newer_view(store: Store) -> None:
    kept, scene = SentViews(ROOM), Scene(store)
    scene.append(user(1))
    with store.read() as slow:
        # From here on it sees the state of now.
        assert paths.open_head(slow, scene.tenant, scene.id).session.version == 2
        scene.append(user(2))
        newest = read(store, kept, scene)
        older = kept.read(slow, scene.tenant, scene.id, "openai")
        assert (older.version, loads(older.body)["messages"]) == (2, [user(1)])
    with store.read() as tx:
        sent = kept.read(tx, scene.tenant, scene.id, "openai")
    assert (sent.version, loads(sent.body)["messages"]) == (3, newest)


def test_the_view_after_an_append_reads_the_session_and_what_is_new_once_each(store: Store) -> None:
    kept, scene = SentViews(ROOM), Scene(store)
    scene.append(user(1))
    read(store, kept, scene)
    scene.append(user(2), user(3))
    with selects() as run:
        assert read(store, kept, scene) == [user(1), user(2), user(3)]
    assert len(run) == 2, run


def test_many_small_views_are_as_many_as_there_is_room_for(store: Store) -> None:
    kept = SentViews(4 * VIEW_BYTES)
    for number in range(9):
        scene = Scene(store, id=f"s{number}")
        scene.append(user(1))
        read(store, kept, scene)
    assert kept.size // VIEW_BYTES == 3


def test_versions_without_messages_add_nothing_to_a_view(store: Store) -> None:
    kept, scene = SentViews(ROOM), Scene(store)
    scene.append(user(1), user(2))
    for limit in range(1_000, 1_020):
        scene.resize(limit)
        read(store, kept, scene)
    with store.read() as tx:
        assert len(kept.read(tx, scene.tenant, scene.id, "openai").settled) == 1
