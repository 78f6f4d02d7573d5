"""Undo and redo among appends, inline compactions and summaries."""

from __future__ import annotations

import pytest

from foldline.log.errors import Conflict, NotFound, RedoSuperseded
from foldline.log.jobs import endings
from foldline.log.use_cases import history
from tests.support.log.sessions import Scene, turns, user


def hide(scene: Scene, target_tokens: int = 300) -> str:
    compaction = scene.compact(summarize=False, target_tokens=target_tokens).made[0]
    assert compaction is not None
    return compaction.id


def cancel_all(scene: Scene) -> None:
    with scene.store.write() as tx:
        for job in [job for job in scene.jobs if job.state == "queued"]:
            endings.cancel(tx, scene.tenant, job.id)


def test_undo_then_redo_is_the_identity(scene: Scene) -> None:
    scene.append(*turns(7, 60))
    scene.work()
    before = scene.layout, scene.wire()
    undone = scene.undo(scene.live[0])
    assert scene.layout[0] == "user 1"
    assert scene.redo() == undone
    assert (scene.layout, scene.wire()) == before


def test_a_redo_takes_back_the_inline_compactions_made_since_the_undo(scene: Scene) -> None:
    scene.append(*turns(5, 60))
    first = hide(scene)
    shown = scene.layout
    scene.undo(first)
    scene.append(user(400))
    assert scene.live
    assert first not in scene.live
    scene.redo()
    assert scene.live == [first]
    assert scene.layout == [*shown, "user 13"]


def test_a_redo_is_refused_once_another_summary_was_published(scene: Scene) -> None:
    scene.append(*turns(7, 60))
    scene.work()
    scene.undo(scene.live[0])
    scene.append(*turns(1, 60))
    scene.compact(instructions="anew")
    assert scene.work() == ["succeeded"]
    with pytest.raises(RedoSuperseded):
        scene.redo()


def test_undos_are_redone_last_first(scene: Scene) -> None:
    scene.append(*turns(6, 60))
    first = hide(scene, 600)
    second = hide(scene, 300)
    scene.undo(second)
    scene.undo(first)
    assert scene.live == []
    scene.redo()
    assert scene.live == [first]
    scene.redo()
    assert scene.live == [first, second]
    with pytest.raises(Conflict):
        scene.redo()


def test_an_undo_takes_back_all_later_compactions_too(scene: Scene) -> None:
    scene.append(*turns(6, 60))
    first, second = hide(scene, 600), hide(scene, 300)
    assert scene.undo(first) == [first, second]
    assert scene.layout[0] == "user 1"


def test_what_was_said_since_a_compaction_stays_when_it_is_undone(scene: Scene) -> None:
    scene.append(*turns(6, 60))
    hidden = hide(scene)
    scene.append(*turns(1, 60))
    scene.undo(hidden)
    assert scene.layout[-2:] == ["user 14", "batch 15"]
    assert scene.used == 14 * 64


def test_undoing_a_summary_takes_back_the_hides_it_absorbed(scene: Scene) -> None:
    scene.append(*turns(6, 60))
    hidden = hide(scene)
    scene.work()
    summary = scene.live[-1]
    assert scene.undo(summary) == [hidden, summary]
    assert scene.layout[0] == "user 1"
    assert scene.pending == 0


def test_an_undo_queues_what_it_leaves_pending(scene: Scene) -> None:
    scene.append(*turns(6, 60))
    hide(scene, 600)
    second = hide(scene, 300)
    cancel_all(scene)
    scene.undo(second)
    assert scene.pending > 0
    assert scene.states[-1] == "queued"


def test_a_redo_queues_what_it_makes_pending_again(scene: Scene) -> None:
    scene.append(*turns(3, 60))
    hidden = hide(scene, 200)
    scene.undo(hidden)
    assert scene.claim() is None
    assert scene.states == ["superseded"]
    scene.redo()
    assert scene.pending > 0
    assert scene.states == ["superseded", "queued"]
    assert scene.work() == ["succeeded"]
    assert scene.pending == 0


def test_an_undo_edits_nothing_even_if_the_view_then_does_not_fit(scene: Scene) -> None:
    scene.append(*turns(9, 60))
    scene.undo(scene.live[0])
    assert scene.used > 1_000
    assert scene.live == []


def test_compactions_are_listed_with_those_that_were_undone(scene: Scene) -> None:
    scene.append(*turns(6, 60))
    first, second = hide(scene, 600), hide(scene, 300)
    scene.undo(second)
    with scene.store.read() as tx:
        listed = history.compactions(tx, scene.tenant, scene.id)
    assert [(item.id, item.is_live) for item in listed] == [(first, True), (second, False)]
    assert listed[0].tokens_before == 12 * 64
    assert listed[1].tokens_before == listed[0].tokens_after
    assert {item.reason for item in listed} == {"asked"}
    assert listed[0].stages_used == ["truncate"]


def test_what_is_undone_already_cannot_be_undone_again(scene: Scene) -> None:
    scene.append(*turns(6, 60))
    first = hide(scene)
    scene.undo(first)
    with pytest.raises(Conflict):
        scene.undo(first)
    with pytest.raises(NotFound):
        scene.undo("e0-1")
    with pytest.raises(NotFound):
        scene.undo("nothing")


def test_there_is_nothing_to_redo_without_an_undo(scene: Scene) -> None:
    scene.append(*turns(6, 60))
    hide(scene)
    with pytest.raises(Conflict):
        scene.redo()
