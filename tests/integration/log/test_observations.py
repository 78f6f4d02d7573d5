"""What operators are told of what happens in the log, once it was committed."""

from __future__ import annotations

import pytest

from foldline.log.compaction.enqueue import BACKGROUND
from foldline.log.jobs import sweeps
from foldline.log.storage.events import Compacted, JobEnded, LeaseLapsed, Observation, StageRan, Swept, Triggered
from foldline.log.storage.store import Store
from foldline.log.use_cases import lifecycle
from tests.support.log.sessions import Clock, Scene, batch, turns, user


@pytest.fixture
def observed(scene: Scene) -> list[Observation]:
    """What is told of from now on."""
    told: list[Observation] = []
    scene.store.observe = told.append
    return told


def saved(observed: list[Observation]) -> dict[str, int]:
    """Tokens that stages saved."""
    stages = [told for told in observed if isinstance(told, StageRan)]
    return {name: sum(told.tokens_saved for told in stages if told.stage == name) for name in {s.stage for s in stages}}


def test_an_append_under_the_trigger_is_nothing_to_tell_of(scene: Scene, observed: list[Observation]) -> None:
    scene.append(*turns(2, 60))
    assert observed == []


def test_an_append_over_the_trigger_tells_of_each_stage_and_what_it_saved(
    scene: Scene, observed: list[Observation]
) -> None:
    (first, *_) = scene.append(user(10), *batch("a", 700), *turns(1, 20), *batch("b", 200)).step.made
    assert observed[0] == Triggered("threshold", "foldline")
    assert Compacted("trigger", "foldline") in observed
    ran = [told for told in observed if isinstance(told, StageRan)]
    assert [told.stage for told in ran] == ["deduplicate", "prune", "summarize", "truncate"]
    assert all(told.seconds is not None and told.seconds > 0 for told in ran)
    assert sum(saved(observed).values()) == first.tokens_before - first.tokens_after


def test_a_plan_that_is_not_applied_saved_nothing(scene: Scene, observed: list[Observation]) -> None:
    scene.append(*turns(7, 60))
    assert Triggered("threshold", "foldline") in observed
    assert set(saved(observed).values()) == {0}
    assert [told for told in observed if isinstance(told, Compacted)] == []


def test_a_summary_that_is_published_tells_what_it_saved_and_how_its_job_ended(
    scene: Scene, observed: list[Observation]
) -> None:
    scene.append(*turns(7, 60))
    claim, before = scene.claimed(), scene.used
    observed.clear()
    assert scene.publish(claim) == "succeeded"
    assert Compacted("summary", "foldline") in observed
    assert JobEnded("summary", "succeeded") in observed
    assert saved(observed) == {"summarize": before - scene.used}


def test_what_is_asked_for_is_told_as_asked(scene: Scene, observed: list[Observation]) -> None:
    scene.append(*turns(4, 60))
    scene.compact(summarize=True)
    assert observed[0] == Triggered("asked", "foldline")


def test_a_lease_that_lapsed_is_told_with_its_queue(scene: Scene, clock: Clock, observed: list[Observation]) -> None:
    scene.append(*turns(7, 60))
    scene.claimed()
    clock.advance(61)
    sweeps.sweep(scene.store)
    assert LeaseLapsed(BACKGROUND) in observed


def test_jobs_of_a_session_that_is_deleted_end_as_cancelled(store: Store) -> None:
    told: list[Observation] = []
    scene = Scene(store)
    scene.append(*turns(7, 60))
    store.observe = told.append
    with store.write() as tx:
        lifecycle.delete(tx, scene.tenant, scene.id)
    assert told == [JobEnded("summary", "cancelled")]


def test_a_sweep_is_told(scene: Scene, observed: list[Observation]) -> None:
    sweeps.sweep(scene.store)
    assert observed == [Swept()]


def test_what_is_only_rehearsed_is_not_told(scene: Scene, observed: list[Observation]) -> None:
    with scene.store.rehearse() as tx:
        tx.observed.append(Triggered("asked", "foldline"))
    assert observed == []


def test_what_is_rolled_back_is_not_told(scene: Scene, observed: list[Observation]) -> None:
    def fail() -> None:
        with scene.store.write() as tx:
            tx.observed.append(Triggered("asked", "foldline"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert observed == []
