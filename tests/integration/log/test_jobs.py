"""Leases, single flight, failures and lapsed leases."""

from __future__ import annotations

import pytest
from sqlalchemy import update

from foldline.engine.wire import dumps, loads
from foldline.log.compaction.enqueue import BACKGROUND, INTERACTIVE
from foldline.log.compaction.summary_request import request_from_json
from foldline.log.errors import Conflict, NotFound
from foldline.log.events import JobWaits
from foldline.log.jobs import claims, endings, leases, sweeps
from foldline.log.storage.tables import JOB
from tests.support.log.scenes import NewScene
from tests.support.log.sessions import Clock, Scene, assistant, span, turns, user


def over_trigger(scene: Scene) -> None:
    scene.append(*turns(7, 60))


def test_a_lapsed_lease_merges_with_the_job_that_waits_behind_it(scene: Scene, clock: Clock) -> None:
    over_trigger(scene)
    scene.claimed()
    scene.compact(instructions="keep the names")
    assert scene.states == ["running", "queued"]
    clock.advance(61)
    assert INTERACTIVE in sweeps.sweep(scene.store)
    first, second = scene.jobs
    assert (first.state, second.state, second.superseded_by) == ("queued", "superseded", first.id)
    assert first.queue == INTERACTIVE
    assert scene.claimed().request.instructions == "keep the names"


def test_a_worker_whose_lease_lapsed_publishes_nothing(scene: Scene, clock: Clock) -> None:
    over_trigger(scene)
    late = scene.claimed()
    clock.advance(61)
    sweeps.sweep(scene.store)
    assert not leases.extend_leases(scene.store, {late.lease: 0.5})
    assert scene.publish(late) == "queued"
    assert scene.layout[0] == "user 1"
    current = scene.claimed()
    assert scene.publish(late) == "running"
    assert scene.publish(current) == "succeeded"
    assert scene.publish(late) == "succeeded"
    assert len(scene.live) == 1


def test_a_beat_extends_the_lease(scene: Scene, clock: Clock) -> None:
    over_trigger(scene)
    claim = scene.claimed()
    clock.advance(50)
    assert leases.extend_leases(scene.store, {claim.lease: 0.5})
    clock.advance(50)
    sweeps.sweep(scene.store)
    assert scene.states == ["running"]
    assert scene.jobs[0].progress == 0.5


def test_a_job_whose_workers_keep_dying_fails_visibly(scene: Scene, clock: Clock) -> None:
    over_trigger(scene)
    for _ in range(3):
        scene.claimed()
        clock.advance(61)
        sweeps.sweep(scene.store)
    assert scene.states == [f"failed: {endings.LEASE_LAPSED}"]
    assert scene.jobs[0].attempts == 3


def test_an_automatic_request_joins_the_running_job(scene: Scene) -> None:
    over_trigger(scene)
    claim = scene.claimed()
    request = scene.append(user(20)).step.request
    assert request is not None
    assert (request.job_id, request.is_joined) == (claim.job_id, True)
    assert scene.states == ["running"]


def test_an_equal_request_joins_the_running_job_and_another_waits_behind_it(scene: Scene) -> None:
    scene.append(*turns(5, 60))
    first = scene.compact(instructions="names").request
    claim = scene.claimed()
    again = scene.compact(instructions="names").request
    other = scene.compact(instructions="dates").request
    assert first is not None
    assert again is not None
    assert other is not None
    assert (again.job_id, again.is_joined) == (first.job_id, True)
    assert (other.job_id != first.job_id, other.is_joined) == (True, False)
    assert scene.claim() is None
    scene.publish(claim)
    assert scene.states[0] == "succeeded"


def test_a_request_equal_to_the_running_job_leaves_the_waiting_one_as_it_is(scene: Scene) -> None:
    scene.append(*turns(5, 60))
    scene.compact(instructions="names")
    running = scene.claimed()
    scene.compact(instructions="dates")
    again = scene.compact(instructions="names").request
    assert again is not None
    assert (again.job_id, again.is_joined) == (running.job_id, True)
    endings.fail(scene.store, running, "gone")
    assert scene.claimed().request.instructions == "dates"


def test_other_parameters_update_the_waiting_job_and_raise_its_class(scene: Scene) -> None:
    over_trigger(scene)
    (job,) = scene.jobs
    assert job.queue == BACKGROUND
    request = scene.compact(instructions="names").request
    assert request is not None
    assert (request.job_id, request.is_joined) == (job.id, True)
    assert claims.claim(scene.store, BACKGROUND) is None
    assert scene.claimed().request.instructions == "names"


def test_a_failure_holds_automatic_jobs_back_until_the_sweeper_runs_the_trigger(scene: Scene, clock: Clock) -> None:
    over_trigger(scene)
    endings.fail(scene.store, scene.claimed(), "the summarizer is down")
    scene.append(assistant(20))
    sweeps.sweep(scene.store)
    assert scene.states == ["failed: the summarizer is down"]
    clock.advance(31)
    assert sweeps.sweep(scene.store) == [BACKGROUND]
    assert scene.states == ["failed: the summarizer is down", "queued"]
    assert scene.work() == ["succeeded"]


def pause_seconds(scene: Scene) -> float:
    """How long automatic summaries are held back from now on."""
    return (scene.path.next_summary_at - scene.store.now) / 1000


def test_each_failure_in_a_row_holds_back_for_twice_as_long_until_one_succeeds(scene: Scene, clock: Clock) -> None:
    over_trigger(scene)
    pauses = []
    for _ in range(6):
        endings.fail(scene.store, scene.claimed(), "the summarizer is down")
        pauses.append(pause_seconds(scene))
        clock.advance(pauses[-1] + 1)
        sweeps.sweep(scene.store)
    assert pauses == [30, 60, 120, 240, 480, 600]

    assert scene.publish(scene.claimed()) == "succeeded"
    over_trigger(scene)
    endings.fail(scene.store, scene.claimed(), "the summarizer is down")
    assert pause_seconds(scene) == 30


def test_a_summarizers_longer_retry_after_is_respected(scene: Scene) -> None:
    over_trigger(scene)
    endings.fail(scene.store, scene.claimed(), "HTTP 429", retry_after_seconds=95.5)
    assert pause_seconds(scene) == 95.5


def test_a_pause_is_never_longer_than_the_longest_but_for_chance(scene: Scene) -> None:
    scene.store.chance = lambda: 1.0
    over_trigger(scene)
    endings.fail(scene.store, scene.claimed(), "HTTP 429", retry_after_seconds=86_400)
    assert pause_seconds(scene) == 600 * 1.25


def test_a_failure_does_not_hold_back_a_requested_job(scene: Scene) -> None:
    over_trigger(scene)
    running = scene.claimed()
    scene.compact()
    endings.fail(scene.store, running, "the summarizer is down")
    assert scene.states == ["failed: the summarizer is down", "queued"]
    assert scene.work() == ["succeeded"]


def test_a_compact_request_does_not_wait_for_a_failure_to_pass(scene: Scene) -> None:
    over_trigger(scene)
    endings.fail(scene.store, scene.claimed(), "the summarizer is down")
    assert scene.compact().request is not None
    assert scene.work() == ["succeeded"]


def test_a_released_job_waits_again_at_once(scene: Scene) -> None:
    over_trigger(scene)
    claim = scene.claimed()
    endings.release(scene.store, claim)
    assert scene.states == ["queued"]
    assert scene.work() == ["succeeded"]
    assert scene.publish(claim) == "succeeded"


def test_a_cancelled_job_is_lost_to_its_worker_and_publishes_nothing(scene: Scene) -> None:
    over_trigger(scene)
    claim = scene.claimed()
    with scene.store.write() as tx:
        endings.cancel(tx, scene.tenant, claim.job_id)
    assert not leases.extend_leases(scene.store, {claim.lease: 0.1})
    assert scene.publish(claim) == "cancelled"
    endings.fail(scene.store, claim, "too late")
    assert scene.states == ["cancelled"]


def test_a_job_that_has_ended_cannot_be_cancelled(scene: Scene) -> None:
    over_trigger(scene)
    scene.work()
    with scene.store.write() as tx, pytest.raises(Conflict):
        endings.cancel(tx, scene.tenant, scene.jobs[0].id)
    with scene.store.write() as tx, pytest.raises(NotFound):
        endings.cancel(tx, "someone else", scene.jobs[0].id)


def test_jobs_are_claimed_in_the_order_of_the_database(scene: Scene) -> None:
    others = [Scene(scene.store, id=f"s{number}") for number in range(3)]
    for other in others:
        over_trigger(other)
    assert [scene.claimed().job_id for _ in others] == [other.jobs[0].id for other in others]


def test_a_commit_that_queues_a_job_notifies_of_its_queue(scene: Scene) -> None:
    queues: list[str] = []
    scene.store.subscribe(lambda event: queues.append(event.queue) if isinstance(event, JobWaits) else None)
    scene.append(user(8))
    assert queues == []
    over_trigger(scene)
    assert queues == [BACKGROUND]
    scene.compact()
    assert queues == [BACKGROUND, INTERACTIVE]


def test_a_newer_versions_fields_of_a_request_do_not_stop_this_one(scene: Scene) -> None:
    over_trigger(scene)
    asked = {**loads(scene.jobs[0].parameters), "depth": 3}
    with scene.store.write() as tx:
        tx.execute(update(JOB).values(parameters=dumps(asked)))
    assert scene.work() == ["succeeded"]


def test_an_error_that_quotes_what_no_column_takes_is_still_stored(scene: Scene) -> None:
    over_trigger(scene)
    endings.fail(scene.store, scene.claimed(), "it said \0 and \ud800")
    assert scene.states == ["failed: it said  and ?"]


def test_a_request_that_waits_is_not_halved_by_the_refusal_of_the_one_before_it(new_scene: NewScene) -> None:
    scene = new_scene(policy={"stages": [{"name": "summarize", "falls_back": True}]})
    over_trigger(scene)
    whole = scene.claimed()
    for instructions in ("keep the names", "keep the dates"):
        scene.compact(instructions=instructions)
        endings.try_less(scene.store, whole, "the model refused")
        whole, before = scene.claimed(), whole
        assert (whole.request.instructions, span(whole)) == (instructions, span(before))
    endings.try_less(scene.store, whole, "the model refused")
    half = scene.claimed()
    assert (half.request.instructions, span(half) < span(whole)) == ("keep the dates", True)
    scene.compact(instructions="keep the places")
    endings.try_less(scene.store, half, "the model refused this too")
    other = scene.claimed()
    assert (other.request.instructions, other.request.is_plain) == ("keep the places", False)
    assert span(other) == span(whole)
    assert other.request.if_refused == whole.request.if_refused != half.request.if_refused


def test_a_request_that_waits_is_not_sent_to_a_provider_that_declined_the_one_before_it(scene: Scene) -> None:
    over_trigger(scene)
    claim = scene.claimed()
    scene.compact(instructions="keep the names")
    endings.decline(scene.store, claim, "HTTP 400")
    scene.claimed()
    request = request_from_json(scene.jobs[0].parameters)
    assert (request.instructions, request.declined) == ("keep the names", "HTTP 400")
