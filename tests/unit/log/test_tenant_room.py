"""The room of a tenant: counted now and then, exactly near the limit, and never at each request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from foldline.log.errors import Conflict
from foldline.log.events import Event, TenantLimited
from foldline.log.jobs import admin, endings
from foldline.log.jobs.sweeps import sweep
from foldline.log.storage.store import Limits, Store
from foldline.log.tenant_room import FULL_MILLISECONDS, TenantRoom
from tests.support.log.sessions import Clock, Scene, open_store, user

MOST = 10_000
NAME = ("sessions", "ann")
RETRY_SECONDS = 30


def test_a_tenant_is_counted_seldom_and_its_limit_is_exact_in_one_process() -> None:
    room, taken, counts = TenantRoom(), 0, 0

    def count() -> int:
        nonlocal counts
        counts += 1
        return taken

    while room.take(NAME, MOST, count, 0):
        taken += 1
    assert taken == MOST
    assert counts < MOST // 50
    before = counts
    assert not room.take(NAME, MOST, count, FULL_MILLISECONDS - 1)
    assert counts == before
    taken -= 1
    assert room.take(NAME, MOST, count, FULL_MILLISECONDS)


def test_processes_that_fill_the_same_room_go_little_above_it() -> None:
    rooms, taken = [TenantRoom() for _ in range(4)], Counter[str]()
    while any(_take(room, taken) for room in rooms):
        pass
    assert MOST <= taken.total() <= MOST * 1.02


def _take(room: TenantRoom, taken: Counter[str]) -> bool:
    has_room = room.take(NAME, MOST, taken.total, 0)
    taken["ann"] += has_room
    return has_room


@pytest.fixture
def crowded(database: str, clock: Clock) -> Iterator[Store]:
    """A store whose tenants have one live job at most."""
    with open_store(database, limits=Limits(tenant_jobs=1, retry_seconds=RETRY_SECONDS), clock=clock) as store:
        yield store


def test_what_had_no_room_is_queued_by_a_sweep_once_there_is_some(clock: Clock, crowded: Store) -> None:
    heard: list[Event] = []
    crowded.subscribe(heard.append)
    first, second = Scene(crowded, id="first"), Scene(crowded, id="second")
    first.append(*[user(50)] * 18)
    second.append(*[user(50)] * 18)
    assert (len(first.jobs), len(second.jobs)) == (1, 0)
    assert TenantLimited("tenant_jobs") in heard
    first.work()
    clock.advance(RETRY_SECONDS)
    sweep(crowded)
    assert len(second.jobs) == 1


def test_an_operator_retries_no_job_above_the_limit(clock: Clock, crowded: Store) -> None:
    first, second = Scene(crowded, id="first"), Scene(crowded, id="second")
    first.append(*[user(50)] * 18)
    claim = first.claimed()
    endings.fail(crowded, claim, "the endpoint is away")
    second.append(*[user(50)] * 18)
    assert len(second.jobs) == 1
    with pytest.raises(Conflict, match="FOLDLINE_TENANT_JOBS"), crowded.write() as tx:
        admin.retry(tx, claim.job_id)
    second.work()
    clock.advance(FULL_MILLISECONDS / 1000)
    with crowded.write() as tx:
        assert not admin.retry(tx, claim.job_id).is_joined
