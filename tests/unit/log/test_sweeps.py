"""The sweep of deleted sessions: which rows remain, and when they are removed."""

from __future__ import annotations

import pytest
from sqlalchemy import func, select, update

from foldline.log.access import audit
from foldline.log.access.audit import AuditedAction
from foldline.log.compaction.enqueue import BACKGROUND
from foldline.log.jobs import claims, deletion, leases, sweeps
from foldline.log.storage.store import Store
from foldline.log.storage.tables import BRANCH, ENTRY, JOB, PIN, SESSION, SUMMARY
from foldline.log.use_cases import lifecycle
from tests.support.log.sessions import Clock, Scene, turns, user


@pytest.fixture
def doomed(store: Store) -> Scene:
    """A session with something in every table. Nothing of it is left to be checked in the end."""
    scene = Scene(store)
    scene.append(*turns(7, 60))
    scene.work()
    scene.pin(10)
    scene.append(user(250))
    return scene


def rows(store: Store) -> int:
    with store.read() as tx:
        return sum(
            tx.execute(select(func.count()).select_from(table)).scalar_one()
            for table in (SESSION, BRANCH, ENTRY, JOB, SUMMARY, PIN)
        )


def delete(scene: Scene) -> None:
    with scene.store.write() as tx:
        lifecycle.delete(tx, scene.tenant, scene.id)


def test_deleting_cancels_the_jobs(doomed: Scene) -> None:
    claim = doomed.claim()
    delete(doomed)
    with doomed.store.read() as tx:
        states = set(tx.execute(select(JOB.c.state)).scalars())
    assert states <= {"cancelled", "succeeded"}
    if claim is not None:
        assert doomed.publish(claim) == "cancelled"
        assert not leases.extend_leases(doomed.store, {claim.lease: 0.5})
    assert doomed.claim() is None


def test_the_sweeper_removes_every_row_of_a_deleted_session(doomed: Scene) -> None:
    other = Scene(doomed.store, id="other")
    other.append(user(20))
    alone = rows(doomed.store)
    delete(doomed)
    sweeps.sweep(doomed.store)
    left = rows(doomed.store)
    assert left == 3
    assert alone > left
    assert other.layout == ["user 1"]


def test_rows_stay_while_a_worker_may_still_read_them(doomed: Scene, clock: Clock) -> None:
    doomed.compact(instructions="again")
    claim = doomed.claimed()
    delete(doomed)
    sweeps.sweep(doomed.store)
    assert rows(doomed.store) > 0
    assert doomed.publish(claim) == "cancelled"
    clock.advance(61)
    sweeps.sweep(doomed.store)
    assert rows(doomed.store) == 0


def test_a_large_session_goes_batch_by_batch_in_one_sweep(store: Store) -> None:
    scene = Scene(store, 100_000)
    scene.append(*turns(deletion.PURGE_ROWS // 2 + 10, 1))
    delete(scene)
    assert rows(store) > deletion.PURGE_ROWS
    sweeps.sweep(store)
    assert rows(store) == 0


def small_sessions(store: Store, number: int) -> None:
    """Delete so many sessions of one message each."""
    for name in range(number):
        scene = Scene(store, id=f"s{name}")
        scene.append(user(1))
        delete(scene)


def sessions_left(store: Store) -> tuple[int, int]:
    """The sessions whose messages are not removed yet, and those that the index has not forgotten."""
    with store.read() as tx:
        counts = (func.count(ENTRY.c.session_pk.distinct()), func.count(SESSION.c.pk.distinct()))
        joined = SESSION.outerjoin(ENTRY, ENTRY.c.session_pk == SESSION.c.pk)
        waiting, kept = tx.execute(select(*counts).select_from(joined)).one()
    return waiting, kept


def test_sessions_are_removed_in_one_transaction_up_to_its_rows(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deletion, "BATCHES_AT_ONCE", 1)
    # A message, its branch: two rows of each.
    monkeypatch.setattr(deletion, "PURGE_ROWS", 50)
    small_sessions(store, 30)
    sweeps.sweep(store)
    assert sessions_left(store) == (0, 30)
    sweeps.sweep(store)
    assert sessions_left(store) == (0, 0)


def test_the_index_is_written_anew_once_no_session_waits_or_an_hour_later(
    store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deletion, "BATCHES_AT_ONCE", 1)
    monkeypatch.setattr(deletion, "SESSIONS_AT_ONCE", 1)
    small_sessions(store, 4)
    steps = []
    for seconds in (0, 3599, 1, 0, 0):
        clock.advance(seconds)
        sweeps.sweep(store)
        steps.append(sessions_left(store))
    assert steps == [(3, 4), (2, 4), (1, 1), (0, 1), (0, 0)]


def test_a_sweep_removes_for_some_seconds_and_the_next_goes_on(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deletion, "SESSIONS_AT_ONCE", 1)
    small_sessions(store, 5)
    seconds = 0.0

    def rest(_seconds: float) -> None:
        nonlocal seconds
        seconds += deletion.SECONDS_AT_ONCE / 2

    store.stopwatch = lambda: seconds
    sweeps.sweep(store, rest)
    assert sessions_left(store) == (2, 5)
    sweeps.sweep(store, rest)
    assert sessions_left(store) == (0, 0)


def test_a_job_of_a_session_deleted_meanwhile_is_not_taken_back(doomed: Scene, clock: Clock) -> None:
    doomed.claim()
    delete(doomed)
    clock.advance(61)
    assert sweeps.sweep(doomed.store) == []


def test_a_session_that_cannot_be_worked_with_does_not_stop_the_others(store: Store) -> None:
    for name in ("broken", "sound"):
        Scene(store, 1_000, name).append(*turns(9, 60))
    with store.write() as tx:
        tx.execute(update(SESSION).where(SESSION.c.id == "broken").values(policy=b'{"preset": "gone"}'))
    claimed = claims.claim(store, BACKGROUND)
    assert claimed is not None
    with store.read() as tx:
        states = dict(
            tx.execute(
                select(SESSION.c.id, JOB.c.state).join_from(JOB, SESSION, SESSION.c.pk == JOB.c.session_pk)
            ).all()
        )
    assert states == {"broken": "failed", "sound": "running"}


def test_the_audit_trail_is_removed_when_it_is_too_old(store: Store, clock: Clock) -> None:
    def lines() -> list[str]:
        with store.read() as tx:
            return [line.actor for line in audit.records(tx, "t", 0, 10)]

    for actor in ("older", "newer"):
        with store.write() as tx:
            audit.record(tx, "t", actor, AuditedAction.DELETED, session_id="s")
        clock.advance(store.limits.audit_seconds)
    sweeps.sweep(store)
    assert lines() == ["newer"]
    clock.advance(1)
    sweeps.sweep(store)
    assert lines() == []
