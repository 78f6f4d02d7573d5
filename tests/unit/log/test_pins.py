"""Pins: what may be pinned, what it costs, and that it is in every view."""

from __future__ import annotations

import pytest

from foldline.engine.errors import FixedPartsDoNotFit
from foldline.log.errors import NotFound, PinTooLarge, UnknownEntry
from foldline.log.use_cases import pins
from foldline.log.use_cases.pins import Pin
from tests.support.log.scenes import NewScene
from tests.support.log.sessions import Scene, assistant, batch, calls, turns, user, words


def pin(scene: Scene, text: str | None = None, entry_id: str | None = None) -> Pin:
    with scene.store.write() as tx:
        return pins.add(tx, scene.tenant, scene.id, text=text, entry_id=entry_id)[0]


def remove(scene: Scene, pin_id: str) -> None:
    with scene.store.write() as tx:
        pins.remove(tx, scene.tenant, scene.id, pin_id)


def texts(scene: Scene) -> list[str]:
    with scene.store.read() as tx:
        return [found.text for found in pins.pins(tx, scene.tenant, scene.id)]


def test_pins_are_listed_oldest_first_and_shown_verbatim_before_everything_else(scene: Scene) -> None:
    scene.append(user(20))
    pin(scene, "Never push to main.")
    pin(scene, " \ud800 \x00 ")
    assert texts(scene) == ["Never push to main.", " \ud800 \x00 "]
    first, *_ = scene.wire()
    assert first["role"] == "user"
    assert "Never push to main." in str(first["content"])


def test_pinning_an_entry_copies_its_text(scene: Scene) -> None:
    said = scene.append(user(8), *batch("a", 12)).entry_ids
    pin(scene, entry_id=said[0])
    pin(scene, entry_id=said[2])
    assert texts(scene) == [words(8), words(12)]


def test_pinning_a_compaction_copies_its_summary(scene: Scene) -> None:
    scene.append(*turns(7, 60))
    scene.work(tokens=9)
    pin(scene, entry_id=scene.live[-1])
    assert texts(scene) == [words(9, " gist")]


def test_an_entry_without_a_text_cannot_be_pinned(scene: Scene) -> None:
    scene.append(*turns(7, 60))
    said = scene.append(calls("a")).entry_ids
    scene.work()
    for entry_id in (said[0], "e0-99", "e3-1", "nothing"):
        with pytest.raises(UnknownEntry):
            pin(scene, entry_id=entry_id)
    assert texts(scene) == []


def test_pins_take_at_most_a_tenth_of_the_budget_together(scene: Scene) -> None:
    pin(scene, words(50))
    with pytest.raises(PinTooLarge) as caught:
        pin(scene, words(50))
    assert caught.value.limit_tokens == 100
    assert caught.value.tokens > 100
    assert texts(scene) == [words(50)]


def test_a_pin_that_leaves_no_room_for_a_history_is_refused(new_scene: NewScene) -> None:
    scene = new_scene(system=words(380))
    with pytest.raises(FixedPartsDoNotFit):
        pin(scene, words(80))
    assert texts(scene) == []


def test_a_removed_pin_is_gone_and_costs_nothing(scene: Scene) -> None:
    scene.append(user(20))
    first, second = pin(scene, words(20)), pin(scene, words(30))
    both = scene.used
    remove(scene, first.id)
    assert texts(scene) == [words(30)]
    assert scene.used == both - 21, "its words, and the end of their line"
    remove(scene, second.id)
    assert scene.used == 24
    with pytest.raises(NotFound):
        remove(scene, second.id)


def test_a_pin_is_seen_on_every_branch(scene: Scene) -> None:
    said = scene.append(user(20), assistant(20), user(20)).entry_ids
    pin(scene, "Stay.")
    scene.move(said[0])
    assert "Stay." in str(scene.wire()[0])
