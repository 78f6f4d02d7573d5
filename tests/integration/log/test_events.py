"""The events that metrics count, after the commit."""

from __future__ import annotations

import pytest

from foldline.engine.wording import marker_tokens
from foldline.log.compaction.enqueue import BACKGROUND
from foldline.log.events import (
    CompactionMade,
    Event,
    JobEnded,
    JobWaits,
    LeaseLapsed,
    StageRan,
    SweepDone,
    TriggerRan,
)
from foldline.log.jobs import sweeps
from foldline.log.storage.store import Store
from foldline.log.use_cases import lifecycle
from tests.support.log.sessions import Clock, Scene, batch, turns, user


@pytest.fixture
def observed(scene: Scene) -> list[Event]:
    """The events from now on, without those that a job waits."""
    events: list[Event] = []
    scene.store.subscribe(lambda event: None if isinstance(event, JobWaits) else events.append(event))
    return events


def made(observed: list[Event]) -> list[tuple[str, str]]:
    """Reason and preset of each compaction that was made."""
    return [(event.reason, event.preset) for event in observed if isinstance(event, CompactionMade)]


def saved(observed: list[Event]) -> dict[str, int]:
    """Tokens that stages saved."""
    stages = [event for event in observed if isinstance(event, StageRan)]
    return {
        name: sum(event.tokens_saved for event in stages if event.stage == name) for name in {s.stage for s in stages}
    }


def test_an_append_under_the_trigger_has_no_event(scene: Scene, observed: list[Event]) -> None:
    scene.append(*turns(2, 60))
    assert observed == []


def test_an_append_over_the_trigger_has_an_event_for_each_stage_with_what_it_saved(
    scene: Scene, observed: list[Event]
) -> None:
    (first, *_) = scene.append(user(10), *batch("a", 700), *turns(1, 20), *batch("b", 200)).step.made
    assert observed[0] == TriggerRan("threshold", "foldline")
    assert ("trigger", "foldline") in made(observed)
    ran = [event for event in observed if isinstance(event, StageRan)]
    assert [event.stage for event in ran] == ["deduplicate", "prune", "summarize", "truncate"]
    assert all(event.seconds is not None and event.seconds > 0 for event in ran)
    added = scene.interim_tokens - marker_tokens()
    assert sum(saved(observed).values()) == first.tokens_before - first.tokens_after + added


def test_a_plan_that_is_not_applied_saved_nothing(scene: Scene, observed: list[Event]) -> None:
    scene.append(*turns(7, 60))
    assert TriggerRan("threshold", "foldline") in observed
    assert set(saved(observed).values()) == {0}
    assert made(observed) == []


def test_a_summary_that_is_published_says_what_it_saved_and_how_its_job_ended(
    scene: Scene, observed: list[Event]
) -> None:
    scene.append(*turns(7, 60))
    claim, before = scene.claimed(), scene.used
    observed.clear()
    assert scene.publish(claim) == "succeeded"
    assert ("summary", "foldline") in made(observed)
    assert JobEnded("summary", "succeeded", scene.id, claim.job_id) in observed
    assert saved(observed) == {"summarize": before - scene.used}


def test_a_compaction_on_request_is_counted_as_asked(scene: Scene, observed: list[Event]) -> None:
    scene.append(*turns(4, 60))
    scene.compact(summarize=True)
    assert observed[0] == TriggerRan("asked", "foldline")


def test_a_lease_that_lapsed_is_an_event_with_its_queue(scene: Scene, clock: Clock, observed: list[Event]) -> None:
    scene.append(*turns(7, 60))
    scene.claimed()
    clock.advance(61)
    sweeps.sweep(scene.store)
    assert LeaseLapsed(BACKGROUND) in observed


def test_jobs_of_a_session_that_is_deleted_end_as_cancelled(store: Store) -> None:
    events: list[Event] = []
    scene = Scene(store)
    scene.append(*turns(7, 60))
    store.subscribe(events.append)
    job_id = scene.jobs[0].id
    with store.write() as tx:
        lifecycle.delete(tx, scene.tenant, scene.id)
    assert events == [JobEnded("summary", "cancelled", scene.id, job_id)]


def test_a_sweep_is_an_event(scene: Scene, observed: list[Event]) -> None:
    sweeps.sweep(scene.store)
    assert observed == [SweepDone()]


def test_a_rehearsal_has_no_events(scene: Scene, observed: list[Event]) -> None:
    with scene.store.rehearse() as tx:
        tx.events.append(TriggerRan("asked", "foldline"))
    assert observed == []


def test_a_rollback_has_no_events(scene: Scene, observed: list[Event]) -> None:
    def fail() -> None:
        with scene.store.write() as tx:
            tx.events.append(TriggerRan("asked", "foldline"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert observed == []
