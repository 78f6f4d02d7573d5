"""The operator's actions on jobs over all tenants: list, retry, cancel."""

from __future__ import annotations

import pytest
from sqlalchemy import update

from foldline.log.access import audit
from foldline.log.compaction.enqueue import BACKGROUND, INTERACTIVE, QueuedJob
from foldline.log.errors import Conflict, NotFound
from foldline.log.events import Event, JobWaits
from foldline.log.job_state import JobState
from foldline.log.jobs import admin, endings, leases, sweeps
from foldline.log.jobs.admin import Chosen
from foldline.log.storage.store import Store
from foldline.log.storage.tables import JOB
from foldline.log.use_cases import lifecycle
from tests.support.log.scenes import LIMITS, NewScene
from tests.support.log.sessions import Clock, Scene, turns


def over_trigger(scene: Scene) -> Scene:
    scene.append(*turns(7, 60))
    return scene


def fail_next(scene: Scene) -> str:
    """The id of the job that was claimed and failed."""
    claim = scene.claimed()
    endings.fail(scene.store, claim, "the endpoint is away")
    return claim.job_id


def retry(store: Store, job_id: str) -> QueuedJob:
    with store.write() as tx:
        return admin.retry(tx, job_id)


def cancel(store: Store, job_id: str) -> None:
    with store.write() as tx:
        admin.cancel(tx, job_id)


def ids(store: Store, chosen: Chosen, limit: int = 100) -> list[str]:
    with store.read() as tx:
        return [job.id for job in admin.newest(tx, chosen, limit)]


def failed(store: Store) -> list[str]:
    with store.read() as tx:
        return admin.failed(tx)


def test_jobs_of_all_tenants_are_found_newest_last(new_scene: NewScene) -> None:
    first = over_trigger(new_scene())
    second = over_trigger(new_scene(tenant="another"))
    fail_next(first)
    expected = [scene.jobs[0].id for scene in (first, second)]
    assert ids(first.store, Chosen()) == expected
    assert ids(first.store, Chosen(), limit=1) == expected[1:]
    with first.store.read() as tx:
        found = admin.newest(tx, Chosen(), 10)[0]
        assert admin.count_by_state(tx, Chosen()) == {"failed": 1, "queued": 1}
    assert (found.tenant, found.session_id, found.state, found.attempts) == (first.tenant, first.id, "failed", 1)
    assert found.error == "the endpoint is away"


def test_jobs_are_chosen_by_state_session_and_tenant(new_scene: NewScene) -> None:
    first, second = over_trigger(new_scene(id="a")), over_trigger(new_scene(id="b", tenant="another"))
    failed_id = fail_next(first)
    waiting_id = second.jobs[0].id
    assert ids(first.store, Chosen(states=("failed", "cancelled"))) == [failed_id]
    assert ids(first.store, Chosen(states=("failed", "queued"))) == [failed_id, waiting_id]
    assert ids(first.store, Chosen(session_id="b")) == [waiting_id]
    assert ids(first.store, Chosen(tenant="another", session_id="a")) == []
    with first.store.read() as tx:
        assert admin.count_by_state(tx, Chosen(tenant="another")) == {"queued": 1}


def test_a_failed_job_is_queued_again_at_once_and_notifies(scene: Scene, clock: Clock) -> None:
    over_trigger(scene)
    failed_id = fail_next(scene)
    assert scene.path.next_summary_at > scene.store.now
    heard: list[Event] = []
    scene.store.subscribe(heard.append)
    request = retry(scene.store, failed_id)
    assert (scene.states, request.is_joined) == ([scene.states[0], "queued"], False)
    assert scene.jobs[1].id == request.job_id
    assert scene.path.next_summary_at == 0
    assert {*heard} == {JobWaits(BACKGROUND)}
    assert scene.work() == ["succeeded"]


def test_what_is_held_back_in_deleted_sessions_holds_up_no_other(
    store: Store, new_scene: NewScene, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeps, "ITEMS_AT_ONCE", 1)
    deleted = over_trigger(Scene(store, id="a"))
    other = over_trigger(new_scene(id="b"))
    for scene in (deleted, other):
        fail_next(scene)
    with other.store.write() as tx:
        lifecycle.delete(tx, deleted.tenant, deleted.id)
    clock.advance(3_600)
    sweeps.sweep(other.store)
    assert other.path.next_summary_at == 0


def test_a_retried_job_keeps_the_request(scene: Scene) -> None:
    scene.append(*turns(5, 60))
    scene.compact(instructions="keep the names")
    failed_id = fail_next(scene)
    retry(scene.store, failed_id)
    assert scene.jobs[1].queue == INTERACTIVE
    assert scene.claimed().request.instructions == "keep the names"


@pytest.mark.parametrize("state", [JobState.CANCELLED, JobState.SUPERSEDED])
def test_a_job_that_ended_without_a_summary_is_queued_again(scene: Scene, state: JobState) -> None:
    over_trigger(scene)
    ended = scene.jobs[0].id
    with scene.store.write() as tx:
        endings.end(tx, ended, state)
    assert not retry(scene.store, ended).is_joined
    assert scene.states == [state, "queued"]


def test_a_job_retried_twice_is_queued_once(scene: Scene) -> None:
    over_trigger(scene)
    failed_id = fail_next(scene)
    first, second = retry(scene.store, failed_id), retry(scene.store, failed_id)
    assert second == QueuedJob(first.job_id, is_joined=True)
    assert len(scene.jobs) == 2


def test_a_retried_job_joins_a_later_request_and_leaves_its_instructions(scene: Scene) -> None:
    scene.append(*turns(5, 60))
    scene.compact(instructions="names")
    failed_id = fail_next(scene)
    since = scene.compact(instructions="dates").request
    assert since is not None
    assert retry(scene.store, failed_id) == QueuedJob(since.job_id, is_joined=True)
    assert scene.claimed().request.instructions == "dates"


def test_a_retried_automatic_job_joins_the_running_one(scene: Scene) -> None:
    over_trigger(scene)
    failed_id = fail_next(scene)
    scene.compact(summarize=True)
    running = scene.claimed()
    assert retry(scene.store, failed_id) == QueuedJob(running.job_id, is_joined=True)
    assert scene.publish(running) == "succeeded"


def test_a_job_that_is_held_back_may_run_at_once(scene: Scene) -> None:
    over_trigger(scene)
    job_id = scene.jobs[0].id
    with scene.store.write() as tx:
        tx.execute(update(JOB).where(JOB.c.id == job_id).values(not_before=tx.now + 10_000))
    assert scene.claim() is None
    assert retry(scene.store, job_id) == QueuedJob(job_id, is_joined=True)
    assert scene.claimed().job_id == job_id


def test_a_running_job_is_not_tried_again(scene: Scene) -> None:
    over_trigger(scene)
    claim = scene.claimed()
    with pytest.raises(Conflict, match="running; cancel it first"):
        retry(scene.store, claim.job_id)
    assert scene.publish(claim) == "succeeded"
    with pytest.raises(Conflict, match="succeeded"):
        retry(scene.store, claim.job_id)


def test_what_failed_and_was_tried_again_is_not_failed_any_more(new_scene: NewScene, clock: Clock) -> None:
    first, second = over_trigger(new_scene(id="a")), over_trigger(new_scene(id="b"))
    expected = [fail_next(first), fail_next(second)]
    assert failed(first.store) == expected
    retry(first.store, expected[0])
    assert failed(first.store) == expected[1:]
    again = fail_next(first)
    assert failed(first.store) == [expected[1], again]


def test_nothing_is_found_of_a_session_that_was_deleted(store: Store) -> None:
    scene = over_trigger(Scene(store))
    failed_id = fail_next(scene)
    with store.write() as tx:
        lifecycle.delete(tx, scene.tenant, scene.id)
    assert (ids(store, Chosen()), failed(store)) == ([], [])
    with pytest.raises(NotFound):
        retry(store, failed_id)


def test_a_cancelled_job_is_lost_to_its_worker_at_the_next_beat(scene: Scene, clock: Clock) -> None:
    over_trigger(scene)
    claim = scene.claimed()
    clock.advance(LIMITS.lease_seconds / 2)
    cancel(scene.store, claim.job_id)
    assert not leases.extend_leases(scene.store, {claim.lease: 0.5})
    assert scene.publish(claim) == "cancelled"
    with pytest.raises(Conflict, match="cancelled"):
        cancel(scene.store, claim.job_id)


def test_a_waiting_job_is_cancelled(scene: Scene) -> None:
    over_trigger(scene)
    cancel(scene.store, scene.jobs[0].id)
    assert scene.states == ["cancelled"]
    assert scene.claim() is None


def test_a_job_that_does_not_exist_is_not_found(store: Store) -> None:
    for act in (retry, cancel):
        with pytest.raises(NotFound, match="job_none"):
            act(store, "job_none")


def test_a_cancelled_job_is_in_the_trail_of_its_tenant(new_scene: NewScene) -> None:
    scene = over_trigger(new_scene(tenant="another"))
    (job,) = scene.jobs
    cancel(scene.store, job.id)
    with scene.store.read() as tx:
        (line,) = audit.records(tx, "another", 0, 10)
    assert (line.actor, line.action, line.session_id, line.object_id) == ("command", "cancelled-job", scene.id, job.id)
