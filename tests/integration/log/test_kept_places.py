"""Where a conversation was stored last is kept in the process: what others did since is seen all the same."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from foldline.engine.gateway.dialects import DIALECTS, AgentRequest, understood
from foldline.log.gateway import known, turns
from foldline.log.gateway.answers import keep_answer
from foldline.log.gateway.beginnings import Beginnings
from foldline.log.storage import paths
from foldline.log.storage.store import Store, Transaction
from foldline.log.use_cases import lifecycle
from foldline.log.use_cases.lifecycle import NewSession
from tests.integration.log.test_conversations_at_once import AT_ONCE, asked, entries_in, taken, taken_at_once
from tests.integration.log.test_kept_answers import YES
from tests.support.log.sessions import TENANT

SAID = ("Hello.", "Yes?", "Go on.", "Done.", "Thanks.")


def test_a_conversation_that_goes_on_is_looked_for_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_for: list[int] = []

    def known_part(tx: Transaction, tenant: str, fingerprints: Sequence[bytes | None]) -> known.KnownPart | None:
        looked_for.append(len(fingerprints))
        return known.known_part(tx, tenant, fingerprints)

    monkeypatch.setattr(turns, "known_part", known_part)
    beginnings = Beginnings(1 << 20)
    for length in (1, 3, 5):
        taken(store, asked(*SAID[:length]), beginnings=beginnings)
    # Before and after the lock.
    assert looked_for == [1, 1]
    assert entries_in(store) == len(SAID)


def test_what_another_process_stored_meanwhile_is_not_stored_again(store: Store) -> None:
    beginnings = Beginnings(1 << 20)
    first = taken(store, asked(*SAID[:1]), beginnings=beginnings)
    taken(store, asked(*SAID[:3]))
    again = taken(store, asked(*SAID), beginnings=beginnings)
    assert (again.session_id, again.branch, entries_in(store)) == (first.session_id, first.branch, len(SAID))


def test_an_answer_that_was_stored_meanwhile_is_not_stored_again(store: Store) -> None:
    beginnings = Beginnings(1 << 20)
    first = taken(store, asked(*SAID[:1]), beginnings=beginnings)
    keep_answer(store, TENANT, first, YES, is_of_view=True)
    again = taken(store, asked(*SAID[:3]), beginnings=beginnings)
    assert (again.session_id, again.branch, entries_in(store)) == (first.session_id, first.branch, 3)


def test_another_line_that_was_stored_meanwhile_stays(store: Store) -> None:
    beginnings = Beginnings(1 << 20)
    first = taken(store, asked(*SAID[:3]), beginnings=beginnings)
    other = taken(store, asked(*SAID[:3], "Not done.", "Why?"))
    again = taken(store, asked(*SAID), beginnings=beginnings)
    assert {first.session_id} == {other.session_id, again.session_id}
    assert (other.branch == again.branch, entries_in(store)) == (False, len(SAID) + 2)


def test_a_call_that_another_process_stored_meanwhile_with_another_id_is_a_branch(store: Store) -> None:
    def asked_with(call_id: str, output: str) -> AgentRequest:
        call = {"type": "tool_use", "id": call_id, "name": "read", "input": {"path": "a.py"}}
        result = {"type": "tool_result", "tool_use_id": call_id, "content": output}
        said = [("user", SAID[0]), ("assistant", [call]), ("user", [result])]
        messages = [{"role": role, "content": content} for role, content in said]
        return understood(DIALECTS[0], {"model": "nobody/nothing", "max_tokens": 100, "messages": messages})

    beginnings = Beginnings(1 << 20)
    taken(store, asked(*SAID[:1]), beginnings=beginnings)
    first = taken(store, asked_with("a", "one"))
    again = taken(store, asked_with("b", "two"), beginnings=beginnings)
    assert (again.session_id == first.session_id, again.branch == first.branch) == (True, False)
    with store.read() as tx:
        assert paths.open_head(tx, TENANT, again.session_id).open_calls == []


def test_a_conversation_whose_session_was_deleted_begins_anew(store: Store) -> None:
    """Also if another session has that one's id."""
    beginnings = Beginnings(1 << 20)
    first = taken(store, asked(*SAID[:1]), beginnings=beginnings)
    with store.write() as tx:
        lifecycle.delete(tx, TENANT, first.session_id)
    again = taken(store, asked(*SAID[:3]), beginnings=beginnings)
    assert again.session_id != first.session_id
    with store.write() as tx:
        lifecycle.delete(tx, TENANT, again.session_id)
    with store.write() as tx:
        lifecycle.create(tx, TENANT, NewSession("nobody/nothing", id=again.session_id, context_window=32_000))
    assert taken(store, asked(*SAID), beginnings=beginnings).session_id not in {first.session_id, again.session_id}


def test_requests_at_once_of_a_kept_place_are_each_stored_once(store: Store) -> None:
    beginnings = Beginnings(1 << 20)
    taken(store, asked(*SAID[:1]), beginnings=beginnings)
    found = taken_at_once(store, *[asked(*SAID)] * AT_ONCE, beginnings=beginnings)
    assert len({(turn.session_id, turn.branch) for turn in found}) == 1
    assert entries_in(store) == len(SAID)
