"""How many jobs of each class run at the same time."""

from __future__ import annotations

import pytest
from foldline_worker.tasks import Slots

from foldline.log.compaction.enqueue import BACKGROUND, INTERACTIVE


def taken(slots: Slots, *queues: str) -> list[bool]:
    return [slots.take(queue) for queue in queues]


def test_one_slot_serves_either_class() -> None:
    for queue in (INTERACTIVE, BACKGROUND):
        assert taken(Slots(1), queue, INTERACTIVE, BACKGROUND) == [True, False, False]


def test_the_last_slot_is_reserved_for_interactive_jobs() -> None:
    assert taken(Slots(3), BACKGROUND, BACKGROUND, BACKGROUND, INTERACTIVE) == [True, True, False, True]


def test_interactive_jobs_may_take_every_slot() -> None:
    assert taken(Slots(2), INTERACTIVE, INTERACTIVE, INTERACTIVE, BACKGROUND) == [True, True, False, False]


def test_a_slot_given_back_is_free_again() -> None:
    slots = Slots(1)
    assert taken(slots, BACKGROUND) == [True]
    slots.give_back(BACKGROUND)
    assert taken(slots, INTERACTIVE) == [True]


def test_a_class_that_is_unknown_has_no_slots() -> None:
    with pytest.raises(KeyError):
        Slots(1).take("unheard of")
