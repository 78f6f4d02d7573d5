"""What an interim summary carries on for the next one."""

from __future__ import annotations

import pytest

from foldline.engine.ledger.find import found_in
from foldline.engine.messages import user
from foldline.engine.planning.interim import InterimDue, interim_of


@pytest.mark.parametrize("room", [-5, 24, 100])
def test_however_little_room_there_is_the_next_summary_can_have_everything(room: int) -> None:
    rules = [f"Never touch the folder part{number} without asking me." for number in range(5)]
    facts = [f"The service s-{number} listens on port {4000 + number}." for number in range(50)]
    items = found_in((), [user("\n".join((*rules, *facts)))])

    first = interim_of(items, InterimDue(1, 60, 50, 5_000, room, 120), "foldline")
    later = interim_of(first.items, InterimDue(1, 60, 50, 5_000, 2_000, 120), "foldline")

    assert all(text in later.text for text in (*rules, *facts))
