"""Branches: which compactions they see, and where an append may go."""

from __future__ import annotations

import pytest

from foldline.log.errors import StaleVersion, UnknownEntry, UnknownParent
from foldline.log.storage.store import Store
from foldline.log.use_cases import append, entries
from tests.support.log.sessions import Scene, assistant, calls, result, turns, user


def test_moving_to_the_last_message_of_a_branch_brings_back_its_compactions(scene: Scene) -> None:
    said = scene.append(*turns(5, 60)).entry_ids
    scene.compact()
    scene.work()
    layout, live = scene.layout, scene.live
    scene.move(said[3])
    assert scene.layout == ["user 1", "batch 2", "user 3", "batch 4"]
    scene.move(said[-1])
    assert scene.path.branch == 0
    assert (scene.layout, scene.live) == (layout, live)


def test_a_branch_from_before_a_compaction_does_not_have_it(scene: Scene) -> None:
    said = scene.append(*turns(5, 60)).entry_ids
    scene.compact()
    scene.work()
    scene.move(said[7])
    assert scene.layout == ["user 1", "batch 2", "user 3", "batch 4", "user 5", "batch 6", "user 7", "batch 8"]
    assert scene.live == []


def test_no_branch_sees_a_later_edit_of_another(scene: Scene) -> None:
    said = scene.append(*turns(5, 60)).entry_ids
    scene.move(said[8])
    scene.append(user(60))
    scene.compact()
    scene.work()
    assert scene.layout[0].startswith("summary")
    scene.move(said[-1])
    assert scene.layout[0] == "user 1"


def test_moving_twice_to_the_same_entry_makes_one_branch(scene: Scene) -> None:
    said = scene.append(*turns(3, 20)).entry_ids
    scene.move(said[2])
    scene.move(said[-1])
    scene.move(said[2])
    assert scene.path.branch == 1
    assert scene.path.session.branches == 2


def test_moving_into_a_batch_opens_its_calls_again(scene: Scene) -> None:
    said = scene.append(user(20), calls("a", "b"), result("a", 20), result("b", 20), user(20)).entry_ids
    assert scene.path.open_calls == []
    scene.move(said[2])
    assert scene.path.open_calls == ["b"]
    scene.append(result("b", 30))
    assert scene.path.open_calls == []
    assert scene.layout == ["user 1", "batch 2-4"]


def test_moving_to_an_entry_that_is_not_there_is_refused(scene: Scene) -> None:
    scene.append(user(20))
    for name in ("e0-9", "e7-1", "", "e", "e0", "e0-x", "x0-1", "e0-1e9"):
        with pytest.raises(UnknownEntry):
            scene.move(name)


def test_a_parent_is_not_stale_for_compactions_after_it(scene: Scene) -> None:
    newest = scene.append(*turns(7, 60)).entry_ids[-1]
    scene.work()
    (compaction,) = scene.live
    scene.append(user(20), parent=newest)
    assert scene.layout[-1] == "user 16"
    assert compaction == "e0-15"


def test_a_compaction_after_the_newest_message_may_be_the_parent(scene: Scene) -> None:
    scene.append(*turns(7, 60))
    scene.work()
    scene.append(user(20), parent=scene.live[0])
    assert scene.layout[-1] == "user 16"


def test_a_parent_that_is_older_or_elsewhere_is_refused_and_nothing_is_appended(scene: Scene) -> None:
    said = scene.append(*turns(2, 20)).entry_ids
    scene.move(said[1])
    own = scene.append(user(20)).entry_ids[0]
    before = scene.path.session.version, scene.layout
    for parent in (said[0], said[1], said[3], "e0-99", "nothing", "e9-1"):
        with pytest.raises(UnknownParent) as caught:
            scene.append(user(20), parent=parent)
        assert caught.value.newest == own
    assert (scene.path.session.version, scene.layout) == before


def test_a_parent_is_unknown_while_nothing_was_said(scene: Scene) -> None:
    with pytest.raises(UnknownParent):
        scene.append(user(20), parent="e0-1")
    with pytest.raises(UnknownParent):
        scene.append(user(20), parent="e0-0")


def test_another_version_than_the_present_one_is_refused(scene: Scene) -> None:
    scene.append(user(20))
    version = scene.path.session.version
    with scene.store.write() as tx, pytest.raises(StaleVersion) as caught:
        append.append(tx, scene.tenant, scene.id, [], if_match=version - 1)
    assert caught.value.current == version


def test_every_write_moves_the_version_on_by_one(scene: Scene) -> None:
    versions = [scene.path.session.version]
    for act in (
        lambda: scene.append(*turns(7, 60)),
        lambda: scene.publish(scene.claimed()),
        lambda: scene.undo(scene.live[0]),
        scene.redo,
        lambda: scene.pin(8),
        lambda: scene.move("e0-1"),
        lambda: scene.append(assistant(8)),
    ):
        act()
        versions.append(scene.path.session.version)
    # Claiming takes a lease and changes no view.
    assert versions == list(range(versions[0], versions[0] + 8))


def test_a_session_that_was_rewound_a_thousand_times_can_still_be_read(store: Store) -> None:
    """Each rewind adds a run to the path, and SQLite refuses expressions of more than a thousand parts."""
    scene = Scene(store, 100_000)
    scene.append(user(4), user(4))
    for number in range(1_010):
        scene.move(f"e{number}-{number + 1}")
        scene.append(user(4), user(4))
    assert len(scene.wire()) == 1_012
    with scene.store.read() as tx:
        page = entries.entries(tx, scene.tenant, scene.id, 990, 30).items
    assert [entry.seq for entry in page] == list(range(991, 1_013))
