"""Conversations whose models become known, or are refused by their provider in two ways at the same time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from foldline.engine.overflow import verdict_of
from foldline.log.gateway.turns import BOUNDLESS, Defaults
from foldline.log.storage.paths import open_head
from foldline.log.storage.store import Store
from foldline.log.use_cases.overflow import is_relieved
from tests.integration.log.test_conversations_at_once import asked, taken
from tests.support.log.sessions import TENANT, Scene, user

UNKNOWN = Defaults({"preset": "foldline"}, first_window=BOUNDLESS)
SAID = ["Hello.", "Yes?", "Go on."]


def window_of(store: Store, session_id: str) -> int | None:
    with store.read() as tx:
        return open_head(tx, TENANT, session_id).session.context_window


def test_a_model_that_is_known_by_now_has_its_own_window(store: Store) -> None:
    unknown = taken(store, asked("Hello."), UNKNOWN)
    assert taken(store, asked("Hello.", "Yes?", "Go on."), Defaults(UNKNOWN.policy)).session_id == unknown.session_id
    assert window_of(store, unknown.session_id) == BOUNDLESS
    first, *more = (replace(asked(*SAID[:number]), model="gpt-4o") for number in (1, 3))
    known = taken(store, first, UNKNOWN)
    assert window_of(store, known.session_id) == BOUNDLESS
    for request in more:
        taken(store, request, Defaults(UNKNOWN.policy))
    assert window_of(store, known.session_id) is None


@pytest.mark.parametrize(
    ("refusal", "is_small"),
    [
        ("prompt is too long", True),
        ("prompt is too long: 3000 tokens > 2000 maximum", True),
        ("prompt is too long: 3000 tokens > 1000 maximum", False),
        ("request exceeds the maximum size", False),
    ],
)
def test_a_view_that_is_small_by_now_is_sent_as_it_is(scene: Scene, refusal: str, *, is_small: bool) -> None:
    scene.append(user(500))
    assert is_relieved(scene.path, verdict_of(refusal, "anthropic"), 1_500) is is_small
