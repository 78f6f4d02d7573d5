"""What an agent asks once, such as a title, does not stay; a conversation does."""

from __future__ import annotations

from dataclasses import replace

from foldline_api.sent_views import SentViews

from foldline.engine.gateway.answers import Answer
from foldline.engine.overflow import verdict_of
from foldline.log.access import audit
from foldline.log.gateway.answers import keep_answer
from foldline.log.gateway.turns import relieved_turn
from foldline.log.jobs.sweeps import sweep
from foldline.log.storage.paths import open_head
from foldline.log.storage.store import Store
from foldline.log.use_cases.append import append, prepare
from foldline.log.use_cases.lifecycle import expiry, list_sessions
from tests.integration.log.test_conversations_at_once import DEFAULTS, asked, taken
from tests.support.log.sessions import TENANT, Clock

EXPIRING = replace(DEFAULTS, side_call_seconds=60)


def sessions_in(store: Store) -> set[str]:
    with store.read() as tx:
        return {path.session.id for path in list_sessions(tx, TENANT, 0, 100).items}


def test_a_side_call_is_deleted_in_time_and_what_goes_on_or_has_tools_is_not(store: Store, clock: Clock) -> None:
    side = taken(store, asked("Give it a title."), EXPIRING)
    talk = taken(store, asked("Hello."), EXPIRING)
    work = taken(store, replace(asked("Read all."), tools=[{"name": "read"}]), EXPIRING)
    clock.advance(59)
    sweep(store)
    assert sessions_in(store) == {side.session_id, talk.session_id, work.session_id}
    assert taken(store, asked("Hello.", "Yes?", "Go on."), EXPIRING).session_id == talk.session_id
    clock.advance(2)
    sweep(store)
    assert sessions_in(store) == {talk.session_id, work.session_id}
    with store.read() as tx:
        (line,) = audit.records(tx, TENANT, 0, 10)
    assert (line.actor, line.action, line.session_id) == ("retention", "deleted", side.session_id)
    assert taken(store, asked("Give it a title."), EXPIRING).session_id != side.session_id


def test_a_side_call_that_was_refused_is_one_still(store: Store) -> None:
    side = taken(store, asked("word " * 3_000, "Yes?", "Give it a title."), EXPIRING)
    verdict = verdict_of("prompt is too long: 3020 tokens > 2000 maximum")
    relieved = relieved_turn(store, TENANT, side, verdict, SentViews(1 << 20).messages_at)
    assert relieved.view_tokens < side.view_tokens
    with store.read() as tx:
        session = open_head(tx, TENANT, side.session_id).session
        assert expiry(tx, session.pk) == session.created_at + 60_000


def test_side_calls_may_be_kept(store: Store, clock: Clock) -> None:
    side = taken(store, asked("Give it a title."))
    clock.advance(1 << 20)
    sweep(store)
    assert sessions_in(store) == {side.session_id}


def test_what_another_caller_adds_to_a_side_call_stays(store: Store, clock: Clock) -> None:
    side = taken(store, asked("Give it a title."), EXPIRING)
    keep_answer(store, TENANT, side, Answer(asked("Hello.", "Foldline").messages(1), [], 0, 0), is_of_view=True)
    other = taken(store, asked("Name it."), EXPIRING)
    with store.write() as tx:
        append(tx, TENANT, other.session_id, prepare(asked("By the way.").messages()))
    clock.advance(61)
    sweep(store)
    assert sessions_in(store) == {other.session_id}
