"""Texts of chunks: kept for a session until its summary is published, or the session is gone."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import func, select

from foldline.engine.summaries.prompt import SummaryDraft
from foldline.log.jobs import publish
from foldline.log.jobs.sweeps import sweep
from foldline.log.jobs.writing.chunk_texts import KeptChunkTexts
from foldline.log.storage.store import Store
from foldline.log.storage.tables import CHUNK_TEXT
from foldline.log.use_cases import lifecycle
from tests.support.log.scenes import clock, new_scene, scene, store
from tests.support.log.sessions import TENANT, Clock, Scene, turns

__all__ = ["clock", "new_scene", "scene", "store"]


def kept(store: Store) -> Mapping[int, int]:
    with store.read() as tx:
        rows = tx.execute(select(CHUNK_TEXT.c.session_pk, func.count()).group_by(CHUNK_TEXT.c.session_pk)).all()
    return {row[0]: row[1] for row in rows}


def test_what_is_kept_is_found_again_by_its_key_until_the_summary_is_published(scene: Scene) -> None:
    scene.append(*turns(6, 200))
    scene.compact(target_tokens=900)
    claim = scene.claimed()
    texts = KeptChunkTexts(scene.store, claim)
    assert texts.find("a") is None
    texts.keep("a", "They \ud800 talked.")
    texts.keep("a", "another worker's")
    assert KeptChunkTexts(scene.store, claim).find("a") == "They \ud800 talked."
    assert texts.find("b") is None
    draft = SummaryDraft("## Asked\n- They talked.", degraded=False, summarizer="openai", model="m")
    assert publish.publish(scene.store, claim, draft) == "succeeded"
    assert not kept(scene.store)


def test_a_session_that_is_deleted_keeps_nothing(store: Store, clock: Clock) -> None:
    scene = Scene(store, 1_000)
    scene.append(*turns(6, 200))
    scene.compact(target_tokens=900)
    KeptChunkTexts(scene.store, scene.claimed()).keep("a", "They talked.")
    assert kept(store)
    with scene.store.write() as tx:
        lifecycle.delete(tx, TENANT, scene.id)
    clock.advance(1_000)
    sweep(store)
    assert not kept(store)


def test_nothing_is_kept_for_a_session_that_was_deleted_meanwhile(store: Store, clock: Clock) -> None:
    scene = Scene(store, 1_000)
    scene.append(*turns(6, 200))
    scene.compact(target_tokens=900)
    texts = KeptChunkTexts(scene.store, scene.claimed())
    with scene.store.write() as tx:
        lifecycle.delete(tx, TENANT, scene.id)
    texts.keep("a", "They talked.")
    clock.advance(1_000)
    sweep(store)
    texts.keep("b", "They talked.")
    assert not kept(store)
