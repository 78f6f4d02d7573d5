"""Concurrent transactions on PostgreSQL: one waits for another, and then works on what the other committed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

import pytest
from sqlalchemy import Connection, event, text

from foldline.engine.summaries.prompt import SummaryDraft
from foldline.log.compaction.enqueue import BACKGROUND
from foldline.log.errors import Busy, IdempotencyInFlight, NotFound
from foldline.log.jobs import claims, endings, leases, publish, sweeps
from foldline.log.jobs.claims import ClaimDeferred
from foldline.log.storage import idempotency, paths
from foldline.log.storage.idempotency import Key, StoredResponse
from foldline.log.storage.store import Store, Transaction
from foldline.log.use_cases import branches, lifecycle
from tests.support.eventually import eventually
from tests.support.log.sessions import TENANT, Clock, Scene, turns, user
from tests.support.processes.databases import is_lock_waited_for, only_postgresql

T = TypeVar("T")

KEY = Key(TENANT, "POST /sessions", "once", "hash")
GIST = SummaryDraft("The gist.", degraded=False, summarizer="scripted")


# On SQLite writers take turns from the first statement on.
database_kind = only_postgresql


@contextmanager
def waiting(store: Store, work: Callable[[], T]) -> Iterator[Future[T]]:
    """Run `work` on a thread, and the block once it waits for a lock; its result is there after the block."""
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(work)
        eventually(lambda: future.done() or is_lock_waited_for(store))
        assert not future.done(), "it did not wait"
        yield future


def test_an_append_that_waits_while_the_head_moves_goes_where_the_head_is_then(scene: Scene) -> None:
    scene.append(*turns(2, 20))
    first = scene.entries[0]
    with scene.store.write() as tx:
        branches.move(tx, TENANT, scene.id, first)
        with waiting(scene.store, lambda: scene.append(user(10))) as appended:
            tx.connection.commit()
            assert appended.result().path.branch == 1
    assert scene.entries == [first, *appended.result().entry_ids]


def test_a_publish_that_waits_while_its_session_is_deleted_changes_nothing(new_scene: Callable[..., Scene]) -> None:
    scene = Scene(new_scene().store, id="other")
    scene.append(*turns(7, 60))
    claim = scene.claimed()
    with scene.store.write() as tx:
        lifecycle.delete(tx, TENANT, scene.id)
        with waiting(scene.store, lambda: publish.publish(scene.store, claim, GIST)) as published:
            tx.connection.commit()
            assert published.result() == "cancelled"
    with pytest.raises(NotFound):
        scene.append(user(10))


def test_a_publish_that_waits_while_its_job_is_cancelled_changes_nothing(scene: Scene) -> None:
    scene.append(*turns(7, 60))
    claim = scene.claimed()
    with scene.store.write() as tx:
        endings.cancel(tx, TENANT, claim.job_id)
        with waiting(scene.store, lambda: publish.publish(scene.store, claim, GIST)) as published:
            tx.connection.commit()
            assert published.result() == "cancelled"
    assert scene.live == []


def test_a_publish_waits_only_so_long_for_a_session_that_is_being_written_to(scene: Scene) -> None:
    scene.append(*turns(7, 60))
    claim = scene.claimed()
    with scene.store.write() as tx:
        paths.open_head(tx, TENANT, scene.id, lock=True)
        with pytest.raises(Busy):
            publish.publish(scene.store, claim, GIST)
    assert publish.publish(scene.store, claim, GIST) == "succeeded"


def test_a_beat_passes_over_a_job_that_is_being_changed_and_does_not_call_it_lost(two_scenes: list[Scene]) -> None:
    first, second = (scene.claimed() for scene in two_scenes)
    store = two_scenes[0].store
    with store.write() as tx:
        tx.execute(text("UPDATE job SET progress = 0.1 WHERE id = :id"), {"id": first.job_id})
        assert leases.extend_leases(store, {first.lease: 0.5, second.lease: 0.5}) == {first.lease, second.lease}
    assert [scene.jobs[0].progress for scene in two_scenes] == [0.1, 0.5]


def test_a_beat_and_a_hand_over_of_one_job_do_not_wait_for_each_other_forever(scene: Scene, clock: Clock) -> None:
    scene.append(*turns(7, 60))
    claim = scene.claimed()
    clock.advance(61)
    with scene.store.write() as tx:
        assert tx.execute(text("UPDATE job SET progress = 0.5")).rowcount == 1
        with waiting(scene.store, lambda: sweeps.sweep(scene.store)):
            tx.connection.commit()
    assert not leases.extend_leases(scene.store, {claim.lease: 0.9})
    assert scene.states == ["queued"]


def test_two_sweepers_remove_what_was_deleted_without_waiting_for_each_other(store: Store) -> None:
    scene = Scene(store)
    scene.append(*turns(7, 60))
    with store.write() as tx:
        lifecycle.delete(tx, TENANT, scene.id)
    with store.write() as tx:
        assert tx.execute(text("SELECT pk FROM session FOR UPDATE")).rowcount == 1
        sweeps.sweep(store)
        assert _entries(tx) > 0
    sweeps.sweep(store)
    with store.read() as tx:
        assert _entries(tx) == 0


def test_nobody_who_writes_to_a_session_waits_for_its_index(scene: Scene) -> None:
    scene.append(*turns(7, 60))
    with scene.store.write() as indexing:
        assert paths.lives(indexing, scene.path.session.pk)
        scene.append(*turns(1, 60))


def test_what_changes_all_entries_waits_until_nobody_indexes_them(scene: Scene) -> None:
    scene.append(*turns(7, 60))

    def take_another_model() -> None:
        with scene.store.write() as tx:
            lifecycle.change(tx, TENANT, scene.id, {"model": "anthropic/claude-sonnet-4-5"})

    with scene.store.write() as indexing:
        assert paths.lives(indexing, scene.path.session.pk)
        with waiting(scene.store, take_another_model):
            indexing.connection.commit()


def test_what_was_deleted_while_it_was_indexed_is_removed_afterwards(store: Store) -> None:
    scene = Scene(store)
    scene.append(*turns(7, 60))
    pk = scene.path.session.pk
    with store.write() as indexing:
        assert paths.lives(indexing, pk)
        with store.write() as tx:
            lifecycle.delete(tx, TENANT, scene.id)
        sweeps.sweep(store)
        assert _entries(indexing) > 0
    sweeps.sweep(store)
    with store.write() as tx:
        assert _entries(tx) == 0
        assert not paths.lives(tx, pk)


def _entries(tx: Transaction) -> int:
    number: int = tx.execute(text("SELECT count(*) FROM entry")).scalar_one()
    return number


def test_of_two_processes_with_one_idempotency_key_one_must_repeat_later(store: Store) -> None:
    answer = StoredResponse(201, {}, b"{}")

    def create(tx: Transaction) -> StoredResponse | None:
        known = idempotency.recall(tx, KEY)
        if known is None:
            lifecycle.create(tx, TENANT, lifecycle.NewSession("openai/gpt-4o", "once"))
            idempotency.remember(tx, KEY, answer)
        return known

    with store.write() as first:
        assert create(first) is None
        with pytest.raises(IdempotencyInFlight), store.write() as second:
            create(second)
    with store.write() as again:
        assert create(again) == answer


def test_a_claim_passes_over_a_session_that_is_being_written_to(two_scenes: list[Scene]) -> None:
    first, second = two_scenes
    with first.store.write() as tx:
        paths.open_head(tx, TENANT, first.id, lock=True)
        assert claims.claim(first.store, BACKGROUND) is not None
        assert (first.states, second.states) == (["queued"], ["running"])
        with pytest.raises(ClaimDeferred):
            claims.claim(first.store, BACKGROUND)
    assert claims.claim(first.store, BACKGROUND) is not None
    assert first.states == ["running"]


def test_a_claim_that_may_not_wait_says_that_there_is_work(
    two_scenes: list[Scene], monkeypatch: pytest.MonkeyPatch
) -> None:
    # To PostgreSQL that is no bound: one that waited would do so until its statement is cancelled.
    monkeypatch.setattr(claims, "LOCK_TIMEOUT_MILLISECONDS", 0)
    first, second = two_scenes
    with first.store.write() as tx:
        for scene in two_scenes:
            paths.open_head(tx, TENANT, scene.id, lock=True)
        with pytest.raises(ClaimDeferred):
            claims.claim(first.store, BACKGROUND, waits=False)
    assert (first.states, second.states) == (["queued"], ["queued"])


def test_only_a_claim_is_committed_before_it_is_on_disk(scene: Scene) -> None:
    scene.append(*turns(7, 60))
    modes: list[str] = []

    @event.listens_for(scene.store.engine, "commit")
    def note(connection: Connection) -> None:
        modes.append(connection.exec_driver_sql("SHOW synchronous_commit").scalar_one())

    claim = scene.claimed()
    assert modes.pop() == "off"
    publish.publish(scene.store, claim, GIST)
    assert modes.pop() == "on"


def test_a_sweep_passes_over_a_session_that_is_being_written_to(two_scenes: list[Scene], clock: Clock) -> None:
    first, second = two_scenes
    for scene in two_scenes:
        scene.claimed()
    clock.advance(61)
    with first.store.write() as tx:
        paths.open_head(tx, TENANT, first.id, lock=True)
        assert sweeps.sweep(first.store) == [BACKGROUND]
        assert (first.states, second.states) == (["running"], ["queued"])
    sweeps.sweep(first.store)
    assert first.states == ["queued"]


def test_a_job_that_waits_stays_when_the_one_before_it_is_cancelled_as_its_lease_lapses(
    scene: Scene, clock: Clock
) -> None:
    scene.append(*turns(7, 60))
    running = scene.claimed()
    scene.compact(instructions="the names")
    clock.advance(61)
    with scene.store.write() as tx:
        endings.cancel(tx, TENANT, running.job_id)
        with waiting(scene.store, lambda: sweeps.sweep(scene.store)):
            tx.connection.commit()
    assert scene.states == ["cancelled", "queued"]


@pytest.fixture
def two_scenes(new_scene: Callable[..., Scene]) -> list[Scene]:
    """Two sessions, each with a job that waits."""
    scenes = [new_scene(id=name) for name in ("first", "second")]
    for scene in scenes:
        scene.append(*turns(7, 60))
    return scenes
