"""Trigger runs that lead to nothing: the answer says why, and appends do not repeat them until something changes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from foldline.log.compaction.not_compacted import CHANGE_SHARE
from foldline.log.events import TriggerRan
from foldline.log.jobs import endings
from foldline.log.storage.store import Store
from foldline.log.use_cases import lifecycle, pins
from tests.support.log.scenes import NewScene
from tests.support.log.sessions import Clock, Scene, calls, result, user

LIMIT = 4_000
CHANGE_TOKENS = int(LIMIT * CHANGE_SHARE)


@pytest.fixture
def barred(new_scene: NewScene) -> Scene:
    """A long session over its trigger whose summary was undone."""
    scene = new_scene(LIMIT)
    scene.append(*[user(8)] * 300)
    assert scene.work() == ["succeeded"]
    scene.undo(scene.live[0])
    assert reason_after(scene, user(1)) == "barred"
    return scene


def reason_after(scene: Scene, *messages: dict[str, object]) -> str | None:
    """The reason in the answer to an append."""
    run = scene.append(*messages).step.not_compacted
    return run and run.reason


def runs(scene: Scene, work: Callable[[], object]) -> int:
    """How often the trigger planned in some work."""
    heard: list[object] = []
    scene.store.subscribe(heard.append)
    work()
    scene.store.unsubscribe(heard.append)
    return sum(isinstance(event, TriggerRan) for event in heard)


def appends(scene: Scene, *messages: dict[str, object]) -> int:
    return runs(scene, lambda: scene.append(*messages))


def test_a_run_that_led_to_nothing_is_not_repeated_until_the_history_has_grown(barred: Scene) -> None:
    assert appends(barred, user(1)) == 0
    assert reason_after(barred, user(1)) == "barred"
    assert appends(barred, user(CHANGE_TOKENS)) == 1
    assert appends(barred, user(1)) == 0


def test_a_view_that_does_not_fit_is_always_planned(barred: Scene) -> None:
    barred.append(user(LIMIT - barred.used + 10))
    assert barred.used <= LIMIT
    assert barred.live


def test_a_request_and_a_redo_are_not_held_back(barred: Scene) -> None:
    assert barred.redo()
    assert barred.append(user(1)).step.not_compacted is None
    barred.undo(barred.live[0])
    barred.append(user(1))
    assert barred.compact().request is not None
    assert appends(barred, user(1)) == 0, "the job is awaited"
    assert barred.append(user(1)).step.not_compacted is None


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda scene: scene.resize(LIMIT - 50), id="window"),
        pytest.param(lambda scene: scene.pin(10), id="pin"),
        pytest.param(lambda scene: scene.move(scene.entries[-2]), id="branch"),
    ],
)
def test_a_change_of_the_session_runs_the_trigger(barred: Scene, change: Callable[[Scene], object]) -> None:
    assert runs(barred, lambda: change(barred)) == 1


def test_an_append_plans_after_a_pin_was_removed(barred: Scene) -> None:
    barred.pin(10)
    assert appends(barred, user(1)) == 0
    with barred.store.write() as tx:
        pin = pins.pins(tx, barred.tenant, barred.id)[0]
        pins.remove(tx, barred.tenant, barred.id, pin.id)
    assert appends(barred, user(1)) == 1


def test_an_append_plans_after_the_batch_that_was_open(new_scene: NewScene) -> None:
    scene = new_scene(10 * LIMIT)
    scene.append(*[user(1)] * 260)
    scene.append(calls("a", "b"))
    assert reason_after(scene, result("a", 9 * LIMIT)) == "open_calls"
    assert appends(scene, result("b", 1)) == 1


def test_a_short_view_is_planned_each_time(new_scene: NewScene) -> None:
    scene = new_scene()
    assert reason_after(scene, user(990)) == "recent"
    assert appends(scene, user(1)) == 1


def test_a_failed_summary_holds_back_until_its_time(new_scene: NewScene, clock: Clock) -> None:
    scene = new_scene(LIMIT)
    scene.append(*[user(8)] * 300)
    endings.fail(scene.store, scene.claimed(), "no")
    run = scene.append(user(1)).step.not_compacted
    assert run is not None
    assert (run.reason, run.until) == ("held_back", scene.path.next_summary_at)
    assert appends(scene, user(1)) == 0
    clock.advance(60)
    assert scene.append(user(1)).step.request is not None


def test_a_session_without_automatic_compaction_says_so(barred: Scene, store: Store) -> None:
    with store.write() as tx:
        lifecycle.change(tx, barred.tenant, barred.id, {"auto_compact": False})
    assert reason_after(barred, user(1)) == "switched_off"
    with store.write() as tx:
        step = lifecycle.change(tx, barred.tenant, barred.id, {"auto_compact": True})[1]
    assert step.not_compacted is not None
    assert step.not_compacted.reason == "barred"


def test_under_the_trigger_there_is_no_reason(new_scene: NewScene) -> None:
    assert reason_after(new_scene(), user(100)) is None


def test_a_request_that_led_to_nothing_says_why(new_scene: NewScene) -> None:
    scene = new_scene()
    scene.append(user(100))
    step = scene.compact()
    assert (step.made, step.request) == ([], None)
    assert step.not_compacted is not None
    assert step.not_compacted.reason == "recent"
