"""Views as they are read: what they take, what is refused, and what they are made of."""

from __future__ import annotations

import pytest

from foldline.engine.errors import ViewDoesNotFit
from foldline.engine.tokens.counter import count_system
from foldline.log.errors import CallsOpen
from foldline.log.use_cases import views
from tests.support.log.scenes import NewScene
from tests.support.log.sessions import Scene, calls, result, turns, user, words


def test_an_empty_session_has_an_empty_view(scene: Scene) -> None:
    assert (scene.wire(), scene.used) == ([], 0)


def test_reading_changes_nothing(scene: Scene) -> None:
    scene.append(*turns(7, 60))
    before = scene.path
    scene.wire()
    scene.wire("anthropic")
    assert scene.path == before


def test_a_view_that_does_not_fit_names_its_largest_entries(scene: Scene) -> None:
    said = scene.append(user(20), user(1_200)).entry_ids
    with pytest.raises(ViewDoesNotFit) as caught:
        scene.wire()
    assert caught.value.entries[0] == (said[1], 1_204)
    assert caught.value.limit_tokens == 1_000
    assert len(scene.wire(must_fit=False)) == 2


def test_stubs_of_open_calls_count_when_they_are_requested(scene: Scene) -> None:
    scene.append(user(20), calls("a", "b"))
    with scene.store.read() as tx:
        stubbed = views.view(tx, scene.tenant, scene.id, stub_open=True)
    assert stubbed.used > scene.used
    assert stubbed.open_calls == ["a", "b"]


def test_a_view_with_open_calls_is_refused_unless_stubs_are_requested(scene: Scene) -> None:
    scene.append(user(20), calls("a"))
    with scene.store.read() as tx, pytest.raises(CallsOpen):
        views.view(tx, scene.tenant, scene.id)
    scene.append(result("a", 4))
    with scene.store.read() as tx:
        assert views.view(tx, scene.tenant, scene.id).open_calls == []


def test_a_breakdown_says_what_the_view_is_made_of(new_scene: NewScene) -> None:
    scene = new_scene(system=words(20))
    scene.append(user(30))
    scene.pin(10)
    parts = scene.path.breakdown()
    assert (parts["system"], parts["tools"], parts["history"]) == (count_system(words(20)), 0, 34)
    assert parts["pins"] > 10
    assert sum(parts.values()) == scene.used


def test_an_assistant_message_that_says_nothing_is_left_out_of_fitted_views_only(scene: Scene) -> None:
    scene.append(user(8), {"role": "assistant", "content": ""}, user(8))
    assert [message["role"] for message in scene.wire()] == ["user", "user"]
    assert [message["role"] for message in scene.wire(must_fit=False)] == ["user", "assistant", "user"]
