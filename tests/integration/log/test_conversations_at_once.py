"""Requests of agents that come at the same time: what they say is stored once, whichever is first."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from foldline_api.sent_views import SentViews
from sqlalchemy import func, select

from foldline.engine.gateway.dialects import DIALECTS, AgentRequest, understood
from foldline.log.gateway.beginnings import Beginnings
from foldline.log.gateway.turns import Defaults, Turn, take_turn
from foldline.log.storage.store import Store
from foldline.log.storage.tables import ENTRY
from tests.support.log.sessions import TENANT

AT_ONCE = 6
DEFAULTS = Defaults({"preset": "foldline"}, 32_000)


def asked(*texts: str) -> AgentRequest:
    roles = ("user", "assistant")
    said: list[dict[str, Any]] = [{"role": roles[at % 2], "content": text} for at, text in enumerate(texts)]
    return understood(DIALECTS[0], {"model": "nobody/nothing", "max_tokens": 100, "messages": said})


def entries_in(store: Store) -> int:
    with store.read() as tx:
        number: int = tx.execute(select(func.count()).select_from(ENTRY)).scalar_one()
        return number


def taken(
    store: Store, request: AgentRequest, defaults: Defaults = DEFAULTS, beginnings: Beginnings | None = None
) -> Turn:
    """The turn of a process that keeps these beginnings, or that knows nothing yet."""
    beginnings = beginnings or Beginnings(1 << 20)
    read_view = SentViews(1 << 20).messages_at
    return take_turn(store, TENANT, request, "", defaults, beginnings=beginnings, read_view=read_view)


def taken_at_once(store: Store, *requests: AgentRequest, beginnings: Beginnings | None = None) -> list[Turn]:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(lambda request: taken(store, request, beginnings=beginnings), requests))


def test_one_request_that_comes_several_times_is_stored_once(store: Store) -> None:
    for texts in (("Hello.",), ("Hello.", "Yes?", "Go on."), ("Hello.", "Yes?", "Go on.", "Done.", "Thanks.")):
        turns = taken_at_once(store, *[asked(*texts)] * AT_ONCE)
        assert len({turn.session_id for turn in turns}) == 1
        assert entries_in(store) == len(texts)


def test_different_ends_of_one_conversation_are_branches_that_are_each_known_again(store: Store) -> None:
    taken(store, asked("Hello.", "Yes?", "Go on."))
    ends = [asked("Hello.", "Yes?", "Go on.", "Done.", f"Now {number}.") for number in range(AT_ONCE)]
    turns = taken_at_once(store, *ends)
    number = entries_in(store)
    assert len({turn.session_id for turn in turns}) == 1
    assert {(turn.branch, turn.seq) for turn in turns} == {
        (again.branch, again.seq) for again in (taken(store, end) for end in ends)
    }
    assert entries_in(store) == number
