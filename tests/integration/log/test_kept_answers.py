"""An answer is stored once, where its request ended, whatever the agent did meanwhile."""

from __future__ import annotations

from typing import Any

import pytest
from foldline_api.sent_views import SentViews

from foldline.engine.gateway.answers import Answer, whole_answer
from foldline.engine.gateway.dialects import DIALECTS
from foldline.log.errors import Conflict
from foldline.log.gateway.answers import keep_answer
from foldline.log.gateway.beginnings import Beginnings
from foldline.log.gateway.turns import take_turn
from foldline.log.storage.paths import open_head
from foldline.log.storage.store import Store
from tests.integration.log.test_conversations_at_once import DEFAULTS, asked, entries_in, taken, taken_at_once
from tests.support.log.sessions import TENANT

YES = Answer(asked("Hello.", "Yes?").messages(1), [], 0, 0)


@pytest.mark.parametrize("meanwhile", [("Hello.", "Yes?", "Go on."), ("Hello.", "Yes!", "Go on.")])
def test_an_answer_that_came_back_already_or_otherwise_is_not_stored(store: Store, meanwhile: tuple[str, ...]) -> None:
    turn = taken(store, asked("Hello."))
    taken(store, asked(*meanwhile))
    keep_answer(store, TENANT, turn, YES, is_of_view=True)
    assert entries_in(store) == len(meanwhile)


def test_an_answer_is_stored_once_and_known_again(store: Store) -> None:
    turn = taken(store, asked("Hello."))
    for _ in range(2):
        keep_answer(store, TENANT, turn, YES, is_of_view=True)
    assert entries_in(store) == 2
    (again,) = {(turn.session_id, turn.branch) for turn in taken_at_once(store, asked("Hello.", "Yes?", "Go on."))}
    assert (again, entries_in(store)) == ((turn.session_id, turn.branch), 3)


def test_counts_are_believed_if_they_are_of_the_view(store: Store) -> None:
    long = "one two three four five six seven eight nine ten " * 500
    turn = taken(store, asked(long))
    counted = YES._replace(prompt_tokens=round(1.5 * turn.view_tokens))
    keep_answer(store, TENANT, turn, counted, is_of_view=False)
    assert taken(store, asked(long)).view_tokens == turn.view_tokens
    other = taken(store, asked("Not this. " + long))
    keep_answer(store, TENANT, other, counted, is_of_view=True)
    assert taken(store, asked("Not this. " + long)).view_tokens > 1.3 * other.view_tokens


def test_an_answer_that_says_nothing_is_not_stored(store: Store) -> None:
    turn = taken(store, asked("Hello."))
    for empty in ([], asked("Hello.", "").messages(1)):
        keep_answer(store, TENANT, turn, Answer(empty, [], 0, 0), is_of_view=True)
    assert entries_in(store) == 1


def test_nobody_moves_the_head_for_a_request_that_nobody_waits_for(store: Store) -> None:
    """Its agent has gone on: the next request was stored while this one waited for the lock."""
    first, second = asked("Hello."), asked("Hello.", "Yes?", "Go on.")
    taken(store, second)
    with pytest.raises(Conflict):
        take_turn(
            store,
            TENANT,
            first,
            "",
            DEFAULTS,
            beginnings=Beginnings(1 << 20),
            read_view=SentViews(1 << 20).messages_at,
            is_awaited=lambda: False,
        )
    assert taken(store, asked("Hello.", "Yes?", "Go on.", "Done.", "Thanks.")).branch == 0


def test_a_long_conversation_that_was_read_too_slowly_is_known_to_the_next_request(store: Store) -> None:
    said = [f"{number}." for number in range(31)]
    place: dict[str, Any] = {"beginnings": Beginnings(1 << 20), "read_view": SentViews(1 << 20).messages_at}
    take_turn(store, TENANT, asked(*said), "", DEFAULTS, is_awaited=lambda: False, **place)
    assert entries_in(store) == 31
    with pytest.raises(Conflict):
        take_turn(store, TENANT, asked(*said, "Yes?", "Go on."), "", DEFAULTS, is_awaited=lambda: False, **place)
    assert taken(store, asked(*said, "Yes?", "Go on.")).branch == 0
    assert entries_in(store) == 33


def test_what_is_learned_of_an_answer_changes_no_version(store: Store) -> None:
    call = {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}}
    answer = whole_answer(DIALECTS[0], {"content": [call], "usage": {"input_tokens": 9_000, "output_tokens": 9}})
    assert answer is not None
    turn = taken(store, asked("one two three four five six seven eight nine ten " * 500))
    keep_answer(store, TENANT, turn, answer, is_of_view=True)
    with store.read() as tx:
        session = open_head(tx, TENANT, turn.session_id).session
    assert (entries_in(store), session.version, session.multiplier > 1_200) == (1, turn.version, True)
