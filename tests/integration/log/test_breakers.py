"""Summarizers that fail too often are held back for all workers, and tried again by one job at a time."""

from __future__ import annotations

from foldline.log.jobs import breakers as breakers_module
from foldline.log.jobs import endings
from foldline.log.jobs.breakers import Admission, Breakers
from foldline.log.storage.store import Limits, Store
from tests.support.log.scenes import clock, new_scene, scene, store
from tests.support.log.sessions import Clock, Scene, turns

__all__ = ["clock", "new_scene", "scene", "store"]

MOST = Limits().summarizer_failures
PAUSE_SECONDS = 30


def admitted(breakers: Breakers, name: str = "fast") -> Admission:
    admission = breakers.admit(name)
    assert isinstance(admission, Admission)
    return admission


def fail(breakers: Breakers, times: int, retry_after_seconds: float | None = None) -> bool:
    """Whether the last of so many failures had the summarizer held back."""
    return [breakers.failed("fast", admitted(breakers), retry_after_seconds) for _ in range(times)][-1]


def test_a_summarizer_is_held_back_after_failures_in_a_row_for_every_worker(store: Store) -> None:
    breakers = Breakers(store)
    assert not fail(breakers, MOST - 1)
    assert admitted(breakers) == Admission(MOST - 1)
    assert fail(breakers, 1)
    held_back = Breakers(store).admit("fast")
    assert isinstance(held_back, float)
    assert PAUSE_SECONDS <= held_back <= PAUSE_SECONDS * (1 + endings.JITTER)
    assert admitted(breakers, "spare") == Admission(0)


def test_a_claim_says_whether_any_summarizer_failed_when_last_called(scene: Scene) -> None:
    breakers = Breakers(scene.store)
    scene.append(*turns(6, 200))
    scene.compact(target_tokens=900)
    claim = scene.claimed()
    assert claim.request.are_writers_well
    fail(breakers, 1)
    endings.release(scene.store, claim)
    assert not scene.claimed().request.are_writers_well


def test_a_success_forgets_the_failures(store: Store) -> None:
    breakers = Breakers(store)
    fail(breakers, MOST - 1)
    breakers.succeeded("fast", admitted(breakers))
    assert not fail(breakers, MOST - 1)


def test_one_worker_tries_again_after_the_pause_and_its_failure_doubles_it(store: Store, clock: Clock) -> None:
    breakers = Breakers(store)
    fail(breakers, MOST)
    clock.advance(PAUSE_SECONDS * 2)
    probe = admitted(breakers)
    assert probe.is_probe
    assert isinstance(Breakers(store).admit("fast"), float)
    assert breakers.failed("fast", probe)
    held_back = breakers.admit("fast")
    assert isinstance(held_back, float)
    assert 2 * PAUSE_SECONDS <= held_back <= 2 * PAUSE_SECONDS * (1 + endings.JITTER)


def test_a_probe_that_never_reports_makes_way_for_another(store: Store, clock: Clock) -> None:
    breakers = Breakers(store)
    fail(breakers, MOST)
    clock.advance(PAUSE_SECONDS * 2)
    assert admitted(breakers).is_probe
    clock.advance(61)
    assert admitted(breakers).is_probe


def test_what_began_before_it_was_held_back_does_not_make_the_pause_longer(store: Store) -> None:
    breakers = Breakers(store)
    begun = [admitted(breakers) for _ in range(MOST + 10)]
    assert [breakers.failed("fast", admission) for admission in begun] == [*[False] * (MOST - 1), True, *[False] * 10]
    held_back = breakers.admit("fast")
    assert isinstance(held_back, float)
    assert held_back <= PAUSE_SECONDS * (1 + endings.JITTER)


def test_a_success_of_a_call_that_began_before_it_was_held_back_changes_nothing(store: Store) -> None:
    breakers = Breakers(store)
    fail(breakers, 1)
    early = admitted(breakers)
    fail(breakers, MOST - 1, retry_after_seconds=300)
    breakers.succeeded("fast", early)
    assert isinstance(breakers.admit("fast"), float)


def test_a_success_between_failures_begins_the_row_anew_whenever_it_began(store: Store) -> None:
    breakers = Breakers(store)
    early = admitted(breakers)
    fail(breakers, MOST - 1)
    breakers.succeeded("fast", early)
    assert not fail(breakers, MOST - 1)


def test_a_job_does_not_wait_for_a_summarizer_that_is_used_again(scene: Scene) -> None:
    breakers = Breakers(scene.store)
    scene.append(*turns(6, 200))
    scene.compact(target_tokens=900)
    claim = scene.claimed()
    fail(breakers, MOST - 1)
    breakers_module.hold_back(scene.store, claim, "fast", 600)
    (job,) = scene.jobs
    assert (job.state, job.waits_for, job.error) == ("queued", None, None)
    assert scene.claimed().job_id == job.id


def test_a_job_that_is_cancelled_waits_for_nobody(scene: Scene) -> None:
    scene.append(*turns(6, 200))
    scene.compact(target_tokens=900)
    fail(Breakers(scene.store), MOST)
    breakers_module.hold_back(scene.store, scene.claimed(), "fast", 600)
    (job,) = scene.jobs
    assert job.waits_for == "fast"
    with scene.store.write() as tx:
        endings.cancel(tx, scene.tenant, job.id)
    assert scene.jobs[0].waits_for is None


def test_the_pause_is_as_long_as_the_summarizer_demands(store: Store) -> None:
    breakers = Breakers(store)
    assert fail(breakers, MOST, retry_after_seconds=300)
    held_back = breakers.admit("fast")
    assert isinstance(held_back, float)
    assert held_back >= 300


def test_the_first_success_wakes_the_jobs_that_wait_for_this_summarizer(scene: Scene, clock: Clock) -> None:
    breakers = Breakers(scene.store)
    scene.append(*turns(6, 200))
    scene.compact(target_tokens=900)
    fail(breakers, MOST)
    for _ in range(MOST):
        breakers.failed("spare", admitted(breakers, "spare"))
    breakers_module.hold_back(scene.store, scene.claimed(), "fast", 3_000)
    (job,) = scene.jobs
    assert (job.state, job.waits_for, job.attempts) == ("queued", "fast", 0)
    assert "fast" in str(job.error)
    clock.advance(PAUSE_SECONDS * 2)
    breakers.succeeded("spare", admitted(breakers, "spare"))
    assert scene.claim() is None
    breakers.succeeded("fast", admitted(breakers))
    (job,) = scene.jobs
    assert (job.waits_for, job.error) == (None, None)
    assert scene.claimed().job_id == job.id
