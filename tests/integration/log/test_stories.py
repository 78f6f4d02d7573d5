"""Who may write a story, and what becomes of it when nobody writes the next one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from foldline.engine.errors import InvalidPolicy
from foldline.engine.summaries import extractive
from foldline.engine.summaries.composed import composed
from foldline.engine.summaries.prompt import SummaryDraft
from foldline.log.compaction.summary_request import SummaryRequest
from foldline.log.jobs import publish
from foldline.log.storage.store import Store
from foldline.log.use_cases.compact import compact
from tests.support.log.scenes import clock, new_scene, scene, store
from tests.support.log.sessions import TENANT, Scene, turns, user

__all__ = ["clock", "new_scene", "scene", "store"]

LINE = "The parser moved to src/reader.py first, as the tests import it."


def publish_story(scene: Scene, text: str | None) -> None:
    """Publish the waiting summary with this story, or with none."""
    claim = scene.claimed()
    if text is None:
        made = extractive.extracted(claim.request)
        draft = SummaryDraft(made.text, degraded=True, summarizer="extractive", model="m", provenance=made.provenance)
    else:
        written = composed(claim.request, text)
        draft = SummaryDraft(written.text, degraded=False, summarizer="fast", model="m", provenance=written.provenance)
    assert publish.publish(scene.store, claim, draft) == "succeeded"


def test_an_earlier_story_stays_where_no_new_one_takes_its_place(scene: Scene) -> None:
    scene.resize(6_000)
    scene.append(*turns(4, 200))
    scene.compact(target_tokens=900)
    publish_story(scene, f"## Decided\n- {LINE}")
    assert LINE in str(scene.wire())
    scene.append(*turns(4, 200), user(20))
    scene.compact(target_tokens=900)
    publish_story(scene, None)
    assert str(scene.wire()).count(LINE) == 1
    scene.append(*turns(4, 200), user(20))
    scene.compact(target_tokens=900)
    publish_story(scene, "## Decided\n- The reader is done, and its tests pass now in src/reader.py.")
    said = str(scene.wire())
    assert LINE not in said
    assert "The reader is done" in said


def test_a_policy_may_name_the_summarizers_that_the_service_has(store: Store) -> None:
    store.limits = replace(store.limits, summarizers=frozenset({"extractive", "fast", "spare"}))
    with pytest.raises(InvalidPolicy) as caught:
        Scene(store, policy={"summarizer": "fast,oracle"})
    message = "there is no summarizer 'oracle'; available: extractive, fast, spare; service and provider stand alone"
    assert message in str(caught.value)
    scene = Scene(store, 6_000, policy={"summarizer": "fast,spare"})
    scene.append(*turns(4, 200))
    scene.compact(target_tokens=900)
    assert scene.claimed().request.writers == ("fast", "spare")
    oracle = SummaryRequest(is_asked=True, policy={"summarizer": "oracle"})
    with pytest.raises(InvalidPolicy, match="oracle"), store.write() as tx:
        compact(tx, TENANT, scene.id, oracle)
