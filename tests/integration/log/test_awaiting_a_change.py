"""A policy may have a summary wait, where an interim one stands in its place, until the view changes anyway."""

from __future__ import annotations

import pytest

from foldline.log.compaction.enqueue import FOR_A_CHANGE, IN_TOOL_LOOP
from tests.integration.log.test_tool_loops import found, thinking
from tests.support.log.scenes import NewScene, clock, new_scene, scene, store
from tests.support.log.sessions import Clock, Scene, assistant, turns, user

__all__ = ["clock", "new_scene", "scene", "store"]

CACHED_SECONDS = 300


@pytest.fixture
def hiding(new_scene: NewScene) -> Scene:
    """A session that was over its budget at once: an interim summary stands for what was hidden."""
    scene = new_scene(1_000, policy={"awaits_change": True})
    scene.append(*turns(8, 100))
    assert scene.outline.live.interims
    return scene


def ready(scene: Scene) -> None:
    """The summary is written, and waits."""
    assert scene.publish(scene.claimed()) == "queued"
    (job,) = scene.jobs
    assert job.error == FOR_A_CHANGE


def test_it_waits_while_the_view_is_in_a_cache_and_does_not_change(hiding: Scene, clock: Clock) -> None:
    ready(hiding)
    before = hiding.used
    hiding.append(user(10))
    assert hiding.used > before
    assert hiding.states == ["queued"]
    clock.advance(CACHED_SECONDS - 1)
    hiding.append(assistant(10))
    clock.advance(2)
    assert hiding.claim() is None, "its time has not come: the last message is new"
    assert hiding.outline.live.interims


def test_it_is_published_when_no_cache_has_the_view_any_more(hiding: Scene, clock: Clock) -> None:
    ready(hiding)
    clock.advance(CACHED_SECONDS + 1)
    assert hiding.claim() is None, "no second call"
    assert hiding.states == ["succeeded"]
    assert hiding.outline.live.condensed
    assert not hiding.outline.live.interims


def test_however_old_it_is_it_is_published_five_minutes_after_the_last_message(hiding: Scene, clock: Clock) -> None:
    ready(hiding)
    for _ in range(12):
        clock.advance(CACHED_SECONDS - 10)
        hiding.append(user(1))
        hiding.claim()
    assert hiding.states == ["queued"]
    clock.advance(CACHED_SECONDS + 1)
    hiding.claim()
    assert hiding.states == ["succeeded"]


def test_the_next_compaction_publishes_it_in_its_own_transaction(hiding: Scene) -> None:
    ready(hiding)
    made = hiding.append(user(40), assistant(40)).step.made
    while not hiding.outline.live.condensed:
        made = hiding.append(user(40), assistant(40)).step.made
        assert hiding.used <= hiding.limit
    assert made[0].reason == "summary"
    hiding.work()
    assert {*hiding.states} <= {"succeeded", "superseded"}


def test_a_requested_compaction_publishes_it_too(hiding: Scene) -> None:
    ready(hiding)
    made = hiding.compact(summarize=False).made
    assert [compaction.reason for compaction in made][:1] == ["summary"]


def test_other_policies_publish_at_once(new_scene: NewScene) -> None:
    scene = new_scene(1_000)
    scene.append(*turns(8, 100))
    assert scene.outline.live.interims
    assert scene.publish(scene.claimed()) == "succeeded"


def test_it_is_not_published_into_a_tool_loop_whose_reasoning_it_would_strip(hiding: Scene) -> None:
    ready(hiding)
    for number in range(8):
        call, answer = thinking(f"c{number}"), found(f"c{number}", 60)
        hiding.append(call, format_name="anthropic")
        hiding.append(answer, format_name="anthropic")
        if hiding.path.counted > hiding.path.goals().trigger:
            break
    assert hiding.used <= hiding.limit
    (job,) = hiding.jobs
    assert (job.state, job.error) == ("queued", IN_TOOL_LOOP)
    assert not hiding.outline.live.condensed
    hiding.append(thinking(None), format_name="anthropic")
    hiding.work()
    assert hiding.outline.live.condensed
