"""When a summarizer that is the session's own model gets the beginning of the view that this model answered last."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from foldline.engine.summaries.cached_beginning import CachedBeginning
from foldline.log.jobs.writing.cached_beginnings import CACHE_SECONDS
from foldline.log.storage.store import RidingModel, Store
from foldline.log.use_cases import lifecycle
from tests.support.log.sessions import TENANT, Clock, Scene, assistant, batch, turns, user

OWN = "openai/gpt-4o"


@pytest.fixture
def rider(store: Store) -> Scene:
    """A session whose model is that of the first summarizer, which rides."""
    riding = {"own": RidingModel(OWN, "openai"), "claude": RidingModel(OWN, "anthropic")}
    names = frozenset({"own", "claude", "extractive"})
    store.limits = replace(store.limits, summarizers=names, usual=("own", "extractive"), riding=riding)
    return Scene(store, 6_000)


def beginning(scene: Scene) -> CachedBeginning | None:
    scene.compact(target_tokens=900)
    return scene.claimed().request.beginning


def talked(scene: Scene) -> None:
    """Six turns, of which the newest stay in view."""
    scene.append(*turns(5, 200), user(20))
    scene.append(assistant(20))
    scene.append(user(20))


def test_a_summary_by_the_sessions_model_gets_the_beginning_of_its_last_view(rider: Scene) -> None:
    scene = rider
    scene.append(*turns(5, 200), user(20))
    read = scene.wire()
    scene.append(assistant(20))
    scene.append(user(20))

    found = beginning(scene)

    assert found is not None
    assert found.writer == "own"
    assert list(found.messages) == read[: len(found.messages)]
    assert 0 < len(found.messages) < len(read)
    assert found.tokens > 200
    assert found.stays == 0


def test_messages_before_the_range_are_counted_as_what_stays(rider: Scene) -> None:
    scene = rider
    scene.append(user(20))
    for _ in range(10):
        scene.append(assistant(200))

    found = beginning(scene)

    assert found is not None
    assert found.stays == 1
    assert found.messages[0]["role"] == "user"
    assert {message["role"] for message in found.messages[1:]} == {"assistant"}


def other_writer(scene: Scene) -> None:
    scene.store.limits = replace(scene.store.limits, usual=("extractive", "own"))


def other_model(scene: Scene) -> None:
    with scene.store.write() as tx:
        lifecycle.change(tx, TENANT, scene.id, {"model": "openai/gpt-4.1"})


def other_fixed_parts(scene: Scene) -> None:
    with scene.store.write() as tx:
        lifecycle.change(tx, TENANT, scene.id, {"system": "Be brief from now on."})


def pins(scene: Scene) -> None:
    scene.pin(10)


def nobody_rides(scene: Scene) -> None:
    scene.store.limits = replace(scene.store.limits, riding={})


def test_a_model_of_the_same_name_at_another_provider_is_sent_nothing(rider: Scene) -> None:
    with rider.store.write() as tx:
        lifecycle.change(tx, TENANT, rider.id, {"model": "openrouter/openai/gpt-4o"})
    talked(rider)
    assert beginning(rider) is None


@pytest.mark.parametrize("changes", [other_writer, other_model, other_fixed_parts, pins, nobody_rides])
def test_there_is_no_beginning_where_the_cache_is_of_no_use(rider: Scene, changes: Callable[[Scene], None]) -> None:
    talked(rider)
    changes(rider)
    assert beginning(rider) is None


@pytest.mark.parametrize(("seconds", "has_one"), [(CACHE_SECONDS - 1, True), (CACHE_SECONDS, False)])
def test_a_cache_has_its_time(rider: Scene, clock: Clock, *, seconds: float, has_one: bool) -> None:
    talked(rider)
    clock.advance(seconds)
    assert (beginning(rider) is not None) is has_one


def test_a_provider_that_finds_ends_alone_needs_a_young_end_near_that_of_the_range(rider: Scene, clock: Clock) -> None:
    rider.store.limits = replace(rider.store.limits, usual=("claude",))
    rider.append(*turns(5, 200), user(20))
    clock.advance(CACHE_SECONDS)
    rider.append(assistant(20))
    rider.append(user(20))
    assert beginning(rider) is None


def test_what_the_view_showed_in_another_form_is_sent_as_a_transcript(rider: Scene) -> None:
    scene = rider
    scene.append(user(20))
    for number in range(8):
        scene.append(*batch(f"c{number}", 400))
    scene.compact(stages=["prune"], target_tokens=2_000, summarize=False)
    scene.append(assistant(20))
    scene.append(user(20))
    assert beginning(scene) is None


def test_a_view_from_before_the_summarizer_rode_is_not_known(rider: Scene) -> None:
    riding = rider.store.limits.riding
    nobody_rides(rider)
    talked(rider)
    rider.store.limits = replace(rider.store.limits, riding=riding)
    assert beginning(rider) is None


def test_the_next_summary_gets_the_view_with_the_one_that_it_replaces(rider: Scene) -> None:
    scene = rider
    talked(scene)
    scene.compact(target_tokens=900)
    scene.publish(scene.claimed())
    scene.append(*turns(5, 200), user(20))
    read = scene.wire()
    scene.append(assistant(20))
    scene.append(user(20))
    scene.compact(target_tokens=900)
    request = scene.claimed().request
    assert request.previous
    assert request.beginning is not None
    assert list(request.beginning.messages) == read[: len(request.beginning.messages)]


def test_a_range_that_goes_beyond_what_the_model_has_answered_was_in_no_view(rider: Scene) -> None:
    rider.append(*turns(1, 200))
    rider.append(*(user(200) for _ in range(10)))
    assert beginning(rider) is None
