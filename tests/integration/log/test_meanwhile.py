"""What is used while a summary is written shows what it needs: lines of the ledger that it lacks are added to it."""

from __future__ import annotations

from typing import Any

import pytest

from foldline.engine.summaries.prompt import SummaryDraft
from foldline.log.events import CompactionMade, Event, SummaryPatched
from foldline.log.jobs import publish
from foldline.log.use_cases.finding import ledger
from tests.support.log.scenes import NewScene, clock, new_scene, scene, store
from tests.support.log.sessions import TENANT, Scene, calls, turns, user

__all__ = ["clock", "new_scene", "scene", "store"]

SAID = "The old uploads were read in src/chunks.py, 4,321 megabytes each."
STORY = "## Decided\n- The work went on, and all of it went well."
USING = {"role": "assistant", "content": "Next I change src/chunks.py."}
CALLING = calls("c9", name="read_file", arguments='{"path": "/repo/src/chunks.py"}')
IDLE = {"role": "assistant", "content": "Next I have another look at it."}
RESULT = {"role": "tool", "tool_call_id": "c9", "content": "src/chunks.py"}


def published(scene: Scene, *meanwhile: dict[str, Any]) -> dict[str, Any]:
    """The details of the summary of a poor story, while whose writing these messages were appended."""
    scene.resize(6_000)
    scene.append({"role": "user", "content": SAID}, *turns(4, 200))
    scene.compact(target_tokens=900)
    claim = scene.claimed()
    scene.append(*meanwhile)
    observed: list[Event] = []
    scene.store.subscribe(observed.append)
    draft = SummaryDraft(STORY, degraded=False, summarizer="hook notes")
    assert publish.publish(scene.store, claim, draft) == "succeeded"
    return next(dict(event.facts["details"]) for event in observed if isinstance(event, CompactionMade))


@pytest.mark.parametrize("said", [USING, CALLING])
def test_a_fact_that_was_used_meanwhile_is_added_to_a_summary_without_it(scene: Scene, said: dict[str, Any]) -> None:
    observed: list[Event] = []
    scene.store.subscribe(observed.append)
    assert published(scene, said)["patched_by_use"] == 1
    summary = str(scene.wire()[0])
    assert SAID in summary
    assert "all of it went well" in summary
    assert SummaryPatched(1) in observed


@pytest.mark.parametrize("said", [(), (IDLE,), (calls("c9"), RESULT)])
def test_nothing_is_added_to_a_summary_if_nothing_was_used(scene: Scene, said: tuple[dict[str, Any], ...]) -> None:
    assert "patched_by_use" not in published(scene, *said)
    assert SAID not in str(scene.wire()[0])


def test_what_was_said_before_the_claim_adds_nothing(scene: Scene) -> None:
    scene.resize(6_000)
    scene.append({"role": "user", "content": SAID}, *turns(4, 200), USING)
    scene.compact(target_tokens=900)
    claim = scene.claimed()
    publish.publish(scene.store, claim, SummaryDraft(STORY, degraded=False, summarizer="hook notes"))
    assert SAID not in str(scene.wire()[0])


def test_a_fact_that_the_user_dismissed_is_not_added(scene: Scene) -> None:
    scene.resize(6_000)
    scene.append({"role": "user", "content": SAID}, *turns(4, 200))
    with scene.store.write() as tx:
        items = ledger.items(tx, TENANT, scene.id, 0, 50).items
        ledger.dismiss(tx, TENANT, scene.id, next(item.id for item in items if item.item.text == SAID))
    scene.compact(target_tokens=900)
    claim = scene.claimed()
    scene.append(USING)
    publish.publish(scene.store, claim, SummaryDraft(STORY, degraded=False, summarizer="hook notes"))
    assert "4,321" not in str(scene.wire()[0])


def test_a_fact_of_a_branch_that_was_left_is_added_if_the_new_one_uses_it(new_scene: NewScene) -> None:
    scene = new_scene(policy={"branch_reserve_tokens": 0})
    begun = scene.append(user(20)).entry_ids[0]
    scene.append({"role": "user", "content": SAID}, *turns(2, 60))
    scene.leave(begun)
    claim = scene.claimed()
    scene.append(USING)
    draft = SummaryDraft("It went well.", degraded=False, summarizer="hook notes")
    assert publish.publish(scene.store, claim, draft) == "succeeded"
    assert SAID in str(scene.wire())
