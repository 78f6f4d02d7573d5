"""Stored responses, written together with the effects of their requests."""

from __future__ import annotations

from dataclasses import replace

import pytest

from foldline.log.errors import IdempotencyMismatch
from foldline.log.jobs import sweeps
from foldline.log.storage import idempotency
from foldline.log.storage.idempotency import Key, StoredResponse
from foldline.log.storage.store import Store
from tests.support.log.sessions import Clock

KEY = Key("acme", "POST /sessions", "k1", "hash-1")
ANSWER = StoredResponse(201, {"ETag": '"1-openai"'}, b'{"id":"s"}')


def recall(store: Store, key: Key = KEY) -> StoredResponse | None:
    with store.read() as tx:
        return idempotency.recall(tx, key)


def remember(store: Store, key: Key = KEY) -> None:
    with store.write() as tx:
        idempotency.remember(tx, key, ANSWER)


def test_an_answer_is_given_again_to_the_same_request(store: Store) -> None:
    assert recall(store) is None
    remember(store)
    assert recall(store) == ANSWER


def test_a_key_belongs_to_its_tenant_and_its_route(store: Store) -> None:
    remember(store)
    assert recall(store, replace(KEY, tenant="another")) is None
    assert recall(store, replace(KEY, route="POST /sessions/s/messages")) is None
    assert recall(store, replace(KEY, key="k2")) is None


def test_another_body_under_the_same_key_is_refused(store: Store) -> None:
    remember(store)
    with pytest.raises(IdempotencyMismatch):
        recall(store, replace(KEY, request_hash="hash-2"))


class Refused(Exception):
    """The effect could not be had."""


def remember_and_fail(store: Store) -> None:
    with store.write() as tx:
        idempotency.remember(tx, KEY, ANSWER)
        raise Refused


def test_a_request_that_fails_is_not_remembered(store: Store) -> None:
    with pytest.raises(Refused):
        remember_and_fail(store)
    assert recall(store) is None


def test_an_answer_is_forgotten_after_a_day_and_the_key_may_be_used_again(store: Store, clock: Clock) -> None:
    remember(store)
    clock.advance(24 * 3600 + 1)
    assert recall(store) is None
    remember(store)
    assert recall(store) == ANSWER


@pytest.mark.parametrize(
    ("tenant", "route", "place", "is_kept"),
    [
        ("acme", "POST /sessions/a_b/messages", "", False),
        ("acme", "POST /sessions/a_b/compactions/e0-1/undo", "", False),
        ("acme", "POST /sessions", "/sessions/a_b", False),
        ("acme", "POST /import", "/sessions/a_b", False),
        ("acme", "POST /sessions", "/sessions/a_bc", True),
        ("acme", "POST /sessions/axb/messages", "", True),
        ("acme", "POST /sessions/A_B/messages", "", True),
        ("acme", "POST /sessions/a_bc/messages", "", True),
        ("another", "POST /sessions/a_b/messages", "", True),
    ],
)
def test_the_answers_of_one_session_are_forgotten_and_no_others(
    store: Store, tenant: str, route: str, place: str, *, is_kept: bool
) -> None:
    key, answer = Key(tenant, route, "k1", "hash-1"), StoredResponse(201, {"Location": place}, b"{}")
    with store.write() as tx:
        idempotency.remember(tx, key, answer)
        idempotency.forget(tx, "acme", ["other", "a_b"])
    assert (recall(store, key) == answer) is is_kept


def test_the_sweeper_removes_old_answers_only(store: Store, clock: Clock) -> None:
    remember(store)
    clock.advance(24 * 3600 - 10)
    sweeps.sweep(store)
    assert recall(store) == ANSWER
    clock.advance(11)
    sweeps.sweep(store)
    remember(store)
