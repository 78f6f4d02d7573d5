"""Tool results that arrive in time, late, twice, or for no call at all."""

from __future__ import annotations

import pytest

from foldline.engine.formats import FORMATS, rules
from foldline.log.errors import CallsOpen
from foldline.log.use_cases import views
from tests.support.log.scenes import NewScene
from tests.support.log.sessions import Scene, Wire, assistant, calls, result, user


def assert_valid(scene: Scene) -> None:
    for name in FORMATS:
        assert rules.check(name, scene.wire(name), None) == []


def test_a_late_result_closes_no_call_that_still_waits(scene: Scene) -> None:
    scene.append(user(20), calls("a", "b"), user(20), calls("c", "d"))
    scene.append(result("a", 10))
    assert scene.path.open_calls == ["c", "d"]
    scene.append(result("c", 10))
    scene.append(result("c", 10))
    assert scene.path.open_calls == ["d"]
    scene.append(result("d", 10))
    assert scene.path.open_calls == []
    assert scene.layout == ["user 1", "batch 2", "user 3", "batch 4-8"]
    assert_valid(scene)


def test_a_late_result_is_quoted_after_the_batch_it_came_into(scene: Scene) -> None:
    scene.append(user(20), calls("a", "b"), result("a", 10), result("z", 10), result("b", 10))
    roles = [message["role"] for message in scene.wire()]
    assert roles == ["user", "assistant", "tool", "tool", "user"]
    assert_valid(scene)


def test_a_result_for_no_call_is_kept_and_quoted(scene: Scene) -> None:
    scene.append(result("nobody", 10), user(20))
    assert [message["role"] for message in scene.wire()] == ["user", "user"]
    assert_valid(scene)


@pytest.mark.parametrize("closing", [user(10), assistant(10)])
def test_a_user_or_assistant_message_closes_what_is_open(scene: Scene, closing: Wire) -> None:
    scene.append(user(20), calls("a", "b"), result("b", 10))
    with scene.store.read() as tx, pytest.raises(CallsOpen) as caught:
        views.view(tx, scene.tenant, scene.id)
    assert caught.value.calls == ["a"]
    scene.append(closing)
    assert scene.path.open_calls == []
    assert_valid(scene)


def test_a_hundred_parallel_calls_are_answered_in_any_order(new_scene: NewScene) -> None:
    scene = new_scene(100_000)
    names = [f"c{number}" for number in range(100)]
    scene.append(user(20), calls(*names))
    scene.append(*(result(name, 4) for name in reversed(names)))
    assert scene.path.open_calls == []
    assert_valid(scene)
