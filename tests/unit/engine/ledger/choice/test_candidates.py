"""Of very many items an interim summary reads so many: the task, what the user decided, and the newest."""

from __future__ import annotations

from collections.abc import Sequence

from foldline.engine.ledger.choice.candidates import MOST, candidates
from foldline.engine.ledger.find import found_in
from foldline.engine.ledger.items import ItemAt, ItemKind
from foldline.engine.messages import Message, Text, user
from foldline.engine.planning.interim import InterimDue, interim_of

RULE = "Never touch the folder vendor without asking me."
TASK = "Please move the service to the new cluster."


def long_conversation(turns: int) -> Sequence[ItemAt]:
    said = [user(TASK), user(RULE)]
    for number in range(turns):
        answer = Text(f"Part {number} is copied to disk {number % 7}.")
        said += [user(f"And what of part {number} then?"), Message("assistant", (answer,))]
    return found_in((), said)


def test_what_is_not_too_much_is_all_of_it() -> None:
    items = long_conversation(20)
    assert candidates(items) == ([*items], {})


def test_of_very_many_the_task_the_rules_and_the_newest_stay_in_order() -> None:
    items = long_conversation(2 * MOST)
    found, left_out = candidates(items)
    assert len(found) == MOST
    assert [place for place, _ in found] == sorted(place for place, _ in found)
    assert set(found) <= set(items)
    assert sum(left_out.values()) == len(items) - MOST
    assert [item.text for _, item in found if item.kind is ItemKind.RULE] == [RULE]
    assert next(item for _, item in found if item.kind is ItemKind.REQUEST).text == TASK
    assert found[-1] == items[-1]


def test_an_interim_summary_of_very_many_messages_has_the_rules() -> None:
    items = long_conversation(2 * MOST)
    made = interim_of(items, InterimDue(1, 16_002, 16_002, 200_000, 2_000, 120), "foldline")
    assert RULE in made.text
    assert TASK.removeprefix("Please ") in made.text
    assert made.provenance is not None
    # A line may stand for several items.
    assert len(items) - MOST < sum(made.provenance.recallable.values()) < len(items)
