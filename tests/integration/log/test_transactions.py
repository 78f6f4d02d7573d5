"""Transactions: all or nothing, and one consistent state for readers, on each database."""

from __future__ import annotations

import pytest
from sqlalchemy import func, select

from foldline.log.storage.events import Event, JobWaits
from foldline.log.storage.store import Store
from foldline.log.storage.tables import SESSION
from foldline.log.use_cases import lifecycle
from foldline.log.use_cases.lifecycle import NewSession
from tests.support.log.sessions import TENANT, Scene, turns

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
        tx.events.append(JobWaits("summarize.background"))
        raise Interrupted


def test_a_transaction_that_raises_leaves_nothing_behind_and_no_event(store: Store) -> None:
    heard: list[Event] = []
    store.subscribe(heard.append)
    with pytest.raises(Interrupted):
        create_and_fail(store)
    assert (sessions_in(store), heard) == (0, [])


def test_a_rehearsal_leaves_nothing_behind_and_no_event(store: Store) -> None:
    heard: list[Event] = []
    store.subscribe(heard.append)
    with store.rehearse() as tx:
        lifecycle.create(tx, TENANT, NewSession(MODEL, "s"))
        tx.events.append(JobWaits("summarize.background"))
    assert (sessions_in(store), heard) == (0, [])


def test_a_reader_sees_one_state_while_a_writer_goes_on(scene: Scene) -> None:
    with scene.store.read() as tx:
        before = lifecycle.list_sessions(tx, TENANT, 0, 10)[0].session.version
        scene.append(*turns(1, 20))
        assert lifecycle.list_sessions(tx, TENANT, 0, 10)[0].session.version == before
    assert scene.path.session.version == before + 1
