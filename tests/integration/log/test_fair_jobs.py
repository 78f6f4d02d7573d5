"""Tenants share the workers, and a session that is close to overflow goes before the tenant's others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import count

import pytest
from sqlalchemy import update

from foldline.log.compaction.enqueue import BACKGROUND, INTERACTIVE
from foldline.log.compaction.summary_request import SummaryRequest
from foldline.log.jobs import claims, endings
from foldline.log.storage.store import Store
from foldline.log.storage.tables import JOB
from foldline.log.use_cases import compact
from tests.support.log.sessions import Scene, turns, user

Queued = Callable[[str, int], list[str]]


@pytest.fixture
def queued(store: Store) -> Queued:
    """Queues so many jobs of a tenant, each of a session of its own; the ids of these."""
    numbers = count()

    def queue(tenant: str, jobs: int) -> list[str]:
        scenes = [Scene(store, id=f"{tenant}-{next(numbers)}", tenant=tenant) for _ in range(jobs)]
        for scene in scenes:
            scene.append(*turns(3, 60))
            with store.write() as tx:
                compact.compact(tx, tenant, scene.id, SummaryRequest(is_asked=True), summarize=True)
        return [scene.id for scene in scenes]

    return queue


def tenants_of(store: Store, jobs: int) -> list[str]:
    """The tenants of the next jobs, in their order; each job ends before the next one begins."""
    found = []
    for _ in range(jobs):
        claim = claims.claim(store, INTERACTIVE)
        assert claim is not None
        found.append(claim.preparation.session_id.partition("-")[0])
        endings.cancel_held(store, claim, "done")
    return found


@pytest.mark.parametrize("many", [12, pytest.param(2_000, marks=pytest.mark.thorough)])
def test_a_tenant_with_one_job_does_not_wait_for_another_with_many(store: Store, queued: Queued, many: int) -> None:
    queued("a", many)
    assert tenants_of(store, 3) == ["a"] * 3
    running = [claims.claim(store, INTERACTIVE) for _ in range(2)]
    assert all(running)
    queued("b", 1)
    assert tenants_of(store, 2) in (["b", "a"], ["a", "b"])


@pytest.mark.parametrize(("tenants", "each"), [("abcd", 3), pytest.param("abcdefghij", 40, marks=pytest.mark.thorough)])
def test_equal_tenants_get_equal_shares_whoever_came_first(
    store: Store, queued: Queued, tenants: str, each: int
) -> None:
    for tenant in tenants:
        queued(tenant, 2 * each)
    assert Counter(tenants_of(store, len(tenants) * each)) == dict.fromkeys(tenants, each)


def test_a_tenants_own_jobs_keep_their_order(store: Store, queued: Queued) -> None:
    names = queued("a", 3)
    found = [claims.claim(store, INTERACTIVE) for _ in names]
    assert [claim.preparation.session_id for claim in found if claim] == names


def test_a_session_that_is_close_to_overflow_goes_before_the_tenants_others(store: Store) -> None:
    scenes = [Scene(store, id=name) for name in ("first", "second", "close", "last")]
    for scene in scenes:
        scene.append(*turns(7, 60))
    assert scenes[2].states == ["queued"]
    scenes[2].append(user(60))
    found = [claims.claim(store, BACKGROUND) for _ in scenes]
    assert [claim.preparation.session_id for claim in found if claim] == ["close", "first", "second", "last"]


def test_it_does_so_too_if_its_summary_is_asked_for_later(store: Store) -> None:
    scenes = [Scene(store, id=name) for name in ("first", "close")]
    for scene in scenes:
        scene.append(*turns(7, 60))
    scenes[1].append(user(60))
    for scene in scenes:
        with store.write() as tx:
            compact.compact(tx, scene.tenant, scene.id, SummaryRequest(is_asked=True), summarize=True)
    found = [claims.claim(store, INTERACTIVE) for _ in scenes]
    assert [claim.preparation.session_id for claim in found if claim] == ["close", "first"]


def test_nobody_stands_behind_a_job_that_no_worker_could_do(store: Store, queued: Queued) -> None:
    queued("a", 20)
    with store.write() as tx:
        # As those are whose summarizer is held back.
        tx.execute(update(JOB).values(not_before=tx.now + 3_600_000))
    queued("b", 15)
    queued("a", 1)
    assert "a" in tenants_of(store, 2)
