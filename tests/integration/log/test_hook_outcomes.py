"""The outcomes of compactions and jobs that hooks get, after the commit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from foldline_worker.hooks.outcomes import Outcome, outcome_of

from foldline.log.compaction.summary_request import SummaryRequest
from foldline.log.events import CompactionMade, Event
from foldline.log.jobs import admin, endings
from foldline.log.use_cases.compact import compact
from tests.support.log.scenes import NewScene
from tests.support.log.sessions import TENANT, Scene, turns, user


@pytest.fixture
def outcomes(scene: Scene) -> Iterator[list[Outcome]]:
    """All outcomes of the session; each must be committed when a subscriber gets it."""
    heard: list[Outcome] = []

    def hear(event: Event) -> None:
        outcome = outcome_of(event)
        if outcome is None:
            return
        assert outcome.session_id == scene.id
        assert outcome.entry_id is None or outcome.entry_id in scene.entries, "heard of before it was there"
        assert outcome.job_id is None or outcome.state in {job.state for job in scene.jobs}
        heard.append(outcome)

    scene.store.subscribe(hear)
    yield heard
    scene.store.unsubscribe(hear)


def summary(outcome: Outcome) -> tuple[Any, ...]:
    return outcome.kind, outcome.state, outcome.entry_id, outcome.error


def test_a_compaction_is_an_outcome_inline_or_by_a_summary(scene: Scene, outcomes: list[Outcome]) -> None:
    scene.append(*turns(5, 60))
    assert outcomes == []
    scene.compact(summarize=False, target_tokens=300)
    scene.work()
    assert [summary(outcome) for outcome in outcomes] == [("compact", "succeeded", name, None) for name in scene.live]
    inline, by_summary = (outcome.facts for outcome in outcomes)
    assert inline.keys() == {"reason", "stages_used", "tokens_before", "tokens_after", "is_inline"}
    assert (inline["reason"], inline["tokens_before"], inline["is_inline"]) == ("asked", 640, True)
    assert by_summary.keys() == inline.keys() | {"first_kept_entry_id", "details", "from_hook"}
    assert (by_summary["reason"], by_summary["tokens_after"], by_summary["is_inline"]) == ("summary", scene.used, False)


def test_the_figures_of_a_policy_are_facts_too(new_scene: NewScene) -> None:
    scene = new_scene(2_000, policy={"preset": "codebuddy"})
    heard: list[Event] = []
    scene.store.subscribe(heard.append)
    scene.append(*turns(20, 60))
    scene.work()
    scene.store.unsubscribe(heard.append)
    made = [event for event in heard if isinstance(event, CompactionMade)]
    assert made
    assert all("tier" in event.facts for event in made)


def test_a_summary_of_a_branch_is_an_outcome(new_scene: NewScene) -> None:
    scene = new_scene(policy={"branch_reserve_tokens": 0})
    said = scene.append(*turns(3, 60)).entry_ids
    events: list[Event] = []
    scene.store.subscribe(events.append)
    scene.leave(said[1])
    assert [*filter(None, map(outcome_of, events))] == []
    scene.work()
    (outcome,) = filter(None, map(outcome_of, events))
    assert summary(outcome) == ("branch", "succeeded", "e1-3", None)
    assert (outcome.facts["summary"], outcome.facts["from"]) == (" gist" * 40, said[-1])
    scene.leave(said[-1])
    endings.fail(scene.store, scene.claimed(), "away")
    assert summary([*filter(None, map(outcome_of, events))][-1]) == ("branch", "failed", None, "away")


def test_a_job_that_fails_is_an_outcome_with_its_error(scene: Scene, outcomes: list[Outcome]) -> None:
    scene.append(*turns(7, 60))
    claim = scene.claimed()
    endings.fail(scene.store, claim, "the endpoint is away")
    endings.fail(scene.store, claim, "again")
    (outcome,) = outcomes
    assert (summary(outcome), outcome.job_id) == (("compact", "failed", None, "the endpoint is away"), claim.job_id)


def test_a_job_that_is_cancelled_is_one_outcome(scene: Scene, outcomes: list[Outcome]) -> None:
    scene.append(*turns(7, 60))
    claim = scene.claimed()
    with scene.store.write() as tx:
        admin.cancel(tx, claim.job_id)
    endings.cancel_held(scene.store, claim, "a hook said so")
    assert [(outcome.state, outcome.job_id) for outcome in outcomes] == [("cancelled", claim.job_id)]


def test_a_job_that_a_hook_cancels_is_an_outcome_with_its_reason(scene: Scene, outcomes: list[Outcome]) -> None:
    scene.append(*turns(7, 60))
    endings.cancel_held(scene.store, scene.claimed(), "not now")
    assert [summary(outcome) for outcome in outcomes] == [("compact", "cancelled", None, "not now")]


def test_a_job_that_is_not_needed_any_more_is_an_outcome(scene: Scene, outcomes: list[Outcome]) -> None:
    scene.append(*turns(3, 60))
    scene.compact(summarize=False, target_tokens=200)
    scene.undo(scene.live[0])
    assert scene.claim() is None
    assert [outcome.state for outcome in outcomes] == ["succeeded", "superseded"]
    assert outcomes[1].job_id == scene.jobs[0].id


def test_a_summary_without_room_is_a_failure(scene: Scene, outcomes: list[Outcome]) -> None:
    scene.append(*turns(1, 60), user(900))
    scene.work(tokens=200)
    assert [summary(outcome)[1:] for outcome in outcomes][-1] == ("failed", None, "no-room")


def test_a_kept_summary_without_room_is_a_failure(scene: Scene, outcomes: list[Outcome]) -> None:
    shared = scene.append(*turns(1, 60)).entry_ids[-1]
    scene.append(user(900))
    scene.work(tokens=60)
    scene.move(shared)
    scene.append(user(955))
    assert scene.states == ["succeeded", "failed: no-room"]
    assert (outcomes[-1].state, outcomes[-1].error) == ("failed", "no-room")


def test_a_rehearsal_has_no_outcome(scene: Scene, outcomes: list[Outcome]) -> None:
    scene.append(*turns(5, 60))
    with scene.store.rehearse() as tx:
        compact(tx, TENANT, scene.id, SummaryRequest(is_asked=True, target_tokens=300))
        assert len([*filter(None, map(outcome_of, tx.events))]) == 1
    assert (outcomes, scene.live) == ([], [])


def test_a_rollback_has_no_outcome(scene: Scene, outcomes: list[Outcome]) -> None:
    scene.append(*turns(5, 60))

    def give_up() -> None:
        with scene.store.write() as tx:
            compact(tx, TENANT, scene.id, SummaryRequest(is_asked=True, target_tokens=300))
            raise InterruptedError

    with pytest.raises(InterruptedError):
        give_up()
    assert (outcomes, scene.live) == ([], [])
