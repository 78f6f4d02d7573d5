"""Originals stay readable, and their tags name the edit that covers them."""

from __future__ import annotations

import pytest

from foldline.log.errors import NotFound
from foldline.log.use_cases import entries
from foldline.log.use_cases.entries import Entry
from tests.support.log.sessions import Scene, assistant, turns, user, words


def page(scene: Scene, after: int = 0, limit: int = 100) -> list[Entry]:
    with scene.store.read() as tx:
        return entries.entries(tx, scene.tenant, scene.id, after, limit).items


def one(scene: Scene, entry_id: str) -> Entry:
    with scene.store.read() as tx:
        return entries.entry(tx, scene.tenant, scene.id, entry_id)


def test_entries_are_read_in_pages_oldest_first(scene: Scene) -> None:
    scene.append(*turns(3, 20))
    assert [entry.seq for entry in page(scene, limit=4)] == [1, 2, 3, 4]
    assert [entry.seq for entry in page(scene, after=4, limit=4)] == [5, 6]
    assert page(scene, after=6) == []


def test_an_entry_is_what_was_appended_whatever_happened_to_it(scene: Scene) -> None:
    message = {"role": "user", "content": words(300), "x_trace": {"n": 1}}
    scene.append(message, assistant(300), user(600))
    scene.work()
    assert scene.layout[0].startswith("summary")
    first = page(scene)[0]
    assert (first.id, first.kind, first.format, first.body) == ("e0-1", "message", "openai", message)
    assert one(scene, "e0-1") == first


def test_hidden_and_summarized_entries_say_under_what(scene: Scene) -> None:
    scene.append(*turns(5, 60))
    hidden = scene.compact(summarize=False, target_tokens=300).made[0]
    assert hidden is not None
    tagged = page(scene)
    marker = one(scene, hidden.id)
    assert marker.tags["is_truncation_marker"]
    assert tagged[0].tags == {"truncation_parent": marker.tags["truncation_id"]}
    assert tagged[9].tags == {}
    scene.work()
    tagged = page(scene)
    summary = tagged[-1]
    assert summary.kind == "compaction"
    assert summary.tags["is_summary"]
    assert tagged[0].tags == {"condense_parent": summary.tags["condense_id"]}


def test_undo_takes_the_tags_away(scene: Scene) -> None:
    scene.append(*turns(7, 60))
    scene.work()
    scene.undo(scene.live[0])
    assert page(scene)[0].tags == {}
    assert [entry.kind for entry in page(scene)[-2:]] == ["compaction", "undo"]


def test_an_entry_of_another_branch_is_readable_and_has_no_tags_of_this_one(scene: Scene) -> None:
    said = scene.append(*turns(5, 60)).entry_ids
    scene.move(said[1])
    scene.append(*turns(4, 60))
    scene.compact()
    scene.work()
    assert scene.layout[0] == "summary 1-5"
    assert one(scene, said[1]).tags
    assert one(scene, said[3]).tags == {}
    assert one(scene, "e1-4").tags
    assert [entry.id for entry in page(scene)[:4]] == ["e0-1", "e0-2", "e1-3", "e1-4"]


def test_an_entry_that_is_not_there_is_not_found(scene: Scene) -> None:
    scene.append(user(8))
    for name in ("e0-2", "e1-1", "e0-0", "x"):
        with pytest.raises(NotFound):
            one(scene, name)
