"""Transactions: all or nothing, and one consistent state for readers, on each database."""

from __future__ import annotations

import pytest
from sqlalchemy import func, select

from foldline.log.events import Event, JobWaits
from foldline.log.storage.store import Store
from foldline.log.storage.tables import SESSION
from foldline.log.use_cases import lifecycle
from foldline.log.use_cases.lifecycle import NewSession
from foldline.telemetry.metrics import Metrics
from tests.support.log.sessions import TENANT, Scene, turns

MODEL = "openai/gpt-4o"


def sessions_in(store: Store) -> int:
    with store.read() as tx:
        number: int = tx.execute(select(func.count()).select_from(SESSION)).scalar_one()
        return number


class Subscriber:
    """Remembers what it heard from a store."""

    def __init__(self, store: Store, *, fails: bool = False) -> None:
        self.heard: list[Event] = []
        self._fails = fails
        store.subscribe(self.hear)

    def hear(self, event: Event) -> None:
        self.heard.append(event)
        if self._fails:
            raise Interrupted


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


def test_a_subscriber_that_raises_fails_no_write_and_keeps_no_other_from_its_events(
    scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    before, after = Subscriber(scene.store), Subscriber(scene.store, fails=True)
    last = Subscriber(scene.store)
    assert scene.append(*turns(12, 60)).entry_ids
    assert before.heard == after.heard == last.heard != []
    assert caplog.messages == [f"a subscriber failed on {type(event).__name__}" for event in last.heard]


def test_a_subscriber_hears_each_event_once_however_often_it_subscribed(scene: Scene) -> None:
    metrics = Metrics()
    metrics.follow(scene.store)
    metrics.follow(scene.store)
    scene.append(*turns(12, 60))
    assert (
        metrics.text({}, None).decode().count('foldline_triggers_total{preset="foldline",reason="threshold"} 1.0') == 1
    )


def test_a_rehearsal_leaves_nothing_behind_and_no_event(store: Store) -> None:
    heard: list[Event] = []
    store.subscribe(heard.append)
    with store.rehearse() as tx:
        lifecycle.create(tx, TENANT, NewSession(MODEL, "s"))
        tx.events.append(JobWaits("summarize.background"))
    assert (sessions_in(store), heard) == (0, [])


def test_a_reader_sees_one_state_while_a_writer_goes_on(scene: Scene) -> None:
    with scene.store.read() as tx:
        before = lifecycle.list_sessions(tx, TENANT, 0, 10).items[0].session.version
        scene.append(*turns(1, 20))
        assert lifecycle.list_sessions(tx, TENANT, 0, 10).items[0].session.version == before
    assert scene.path.session.version == before + 1
