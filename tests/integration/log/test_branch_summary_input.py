"""Branch summaries: which entries of the left branch a summarizer reads."""

from __future__ import annotations

import pytest

from foldline.engine import wording
from foldline.log.use_cases.branches import Moved
from tests.support.log.scenes import NewScene
from tests.support.log.sessions import (
    Scene,
    assistant,
    batch,
    calls,
    result,
    roles,
    span,
    touching,
    turns,
    user,
)

# The window of a scene: its budget of 1,000 tokens, and 100 for the answer.
WINDOW_TOKENS = 1_100


@pytest.fixture
def scene(new_scene: NewScene) -> Scene:
    """A session whose branches are read whole when they are left."""
    return new_scene(policy={"branch_reserve_tokens": 0})


def job_of(moved: Moved) -> str:
    assert moved.queued is not None
    return moved.queued.job_id


def test_all_that_was_said_after_the_common_entry_is_read_and_its_summary_goes_to_the_new_leaf(scene: Scene) -> None:
    said = scene.append(*turns(3, 60)).entry_ids
    moved = scene.leave(said[1])
    assert (moved.summary_entry_id, scene.layout) == (None, ["user 1", "batch 2"])
    claim = scene.claimed()
    assert (claim.job_id, claim.request.is_branch) == (job_of(moved), True)
    assert (span(claim), roles(claim)) == ((3, 6), ["user", "assistant"] * 2)
    assert claim.wanted.ends == ("e0-3", "e0-6")
    assert scene.publish(claim) == "succeeded"
    assert scene.layout == ["user 1", "batch 2", "note 3"]
    last = scene.wire()[-1]
    assert last["role"] == "user"
    assert wording.BRANCH in str(last["content"])
    assert "gist gist" in str(last["content"])


@pytest.mark.parametrize(
    ("start", "target", "ends"),
    [
        ("e2-5", "e0-4", ("e1-3", "e2-5")),
        ("e0-4", "e2-5", ("e0-3", "e0-4")),
        ("e2-5", "e1-5", ("e2-5", "e2-5")),
        ("e1-5", "e2-5", ("e1-5", "e1-5")),
        ("e2-5", "e0-1", ("e0-2", "e2-5")),
    ],
)
def test_what_is_left_goes_through_as_many_branches_as_its_path_does(
    scene: Scene, start: str, target: str, ends: tuple[str, str]
) -> None:
    scene.append(*turns(2, 60))
    scene.move("e0-2")
    scene.append(user(60), assistant(60), user(60))
    scene.move("e1-4")
    scene.append(user(60))
    scene.move(start)
    scene.leave(target)
    assert scene.claimed().wanted.ends == ends


def test_nothing_is_summarized_where_all_of_the_old_path_is_on_the_new_one(scene: Scene) -> None:
    said = scene.append(*turns(2, 60)).entry_ids
    scene.move(said[1])
    for target in (said[1], said[-1], said[-1]):
        moved = scene.leave(target)
        assert (moved.queued, moved.summary_entry_id) == (None, None)
    assert scene.jobs == []


def test_nothing_is_summarized_where_only_edits_are_left(scene: Scene) -> None:
    said = scene.append(*turns(5, 60)).entry_ids
    scene.leave(said[7])
    scene.work()
    note = scene.entries[-1]
    scene.compact()
    assert scene.work() == ["succeeded"]
    moved = scene.leave(note)
    assert scene.path.branch == 2
    assert (moved.queued, moved.summary_entry_id) == (None, None)


def test_a_move_without_a_summary_request_queues_no_job(scene: Scene) -> None:
    said = scene.append(*turns(3, 60)).entry_ids
    scene.move(said[1])
    assert scene.jobs == []


@pytest.mark.parametrize(
    ("reserve_tokens", "first"),
    [(WINDOW_TOKENS - 620, 2), (WINDOW_TOKENS - 619, 3), (WINDOW_TOKENS, 3), (16_384, 3)],
)
def test_of_much_the_newest_is_read_that_the_reserve_leaves_room_for_or_half_the_window(
    new_scene: NewScene, reserve_tokens: int, first: int
) -> None:
    scene = new_scene(policy={"branch_reserve_tokens": reserve_tokens})
    said = scene.append(*turns(3, 120)).entry_ids
    scene.leave(said[0])
    assert span(scene.claimed()) == (first, 6)


@pytest.mark.parametrize(("room_tokens", "first"), [(192, 6), (191, 7), (64, 8)])
def test_no_more_is_read_than_a_summarizer_takes(scene: Scene, room_tokens: int, first: int) -> None:
    scene.window(room_tokens)
    said = scene.append(*turns(4, 60)).entry_ids
    scene.leave(said[1])
    assert span(scene.claimed()) == (first, 8)


@pytest.mark.parametrize(("room_tokens", "read"), [(620, ["assistant", "tool", "assistant"]), (100, ["assistant"])])
def test_a_batch_is_read_with_what_tools_answered_or_not_at_all(
    scene: Scene, room_tokens: int, read: list[str]
) -> None:
    scene.window(room_tokens)
    said = scene.append(user(20), user(60), calls("a"), result("a", 500), assistant(60)).entry_ids
    scene.leave(said[0])
    assert roles(scene.claimed()) == read


def test_the_newest_item_is_read_whatever_there_is_room_for(scene: Scene) -> None:
    scene.window(1)
    said = scene.append(user(20), user(60), calls("a"), result("a", 500)).entry_ids
    scene.leave(said[0])
    assert roles(scene.claimed()) == ["assistant", "tool"]


def test_originals_are_read_in_place_of_a_summary_that_covers_entries_that_were_not_left(scene: Scene) -> None:
    said = scene.append(*turns(5, 60)).entry_ids
    scene.compact()
    scene.work()
    assert scene.layout[0] == "summary 1-5"
    scene.leave(said[1])
    claim = scene.claimed()
    assert (claim.request.previous, claim.wanted.covered.replaces) == ((), ())
    assert (span(claim), roles(claim)) == ((3, 10), ["user", "assistant"] * 4)


def test_a_live_summary_is_read_in_the_place_of_what_it_covers(scene: Scene) -> None:
    said = scene.append(user(60), *(message for n in range(6) for message in batch(f"c{n}", 60))).entry_ids
    scene.compact()
    scene.publish(scene.claimed(), word=" old")
    summary = scene.outline.live.condensed[0]
    scene.leave(said[0])
    claim = scene.claimed()
    assert (claim.request.previous, claim.wanted.covered.replaces) == ((" old" * 40,), (summary.summary,))
    assert span(claim) == (summary.last + 1, 13)


def test_a_live_summary_without_room_is_not_read_and_its_files_are_listed(scene: Scene) -> None:
    said = scene.append(user(60), *touching("a", "write_file", "a.py"), *turns(4, 60)).entry_ids
    scene.compact()
    scene.work()
    scene.window(130)
    scene.leave(said[0])
    claim = scene.claimed()
    assert (span(claim), claim.request.previous, claim.wanted.covered.replaces) == ((10, 11), (), ())
    assert claim.preparation.details == {"read_files": [], "modified_files": ["a.py"]}


def test_a_branch_is_read_as_it_was_when_it_was_left(scene: Scene) -> None:
    """What was compacted and said there since is not what was left."""
    said = scene.append(*turns(5, 60)).entry_ids
    scene.compact()
    scene.work()
    scene.undo(scene.live[0])
    scene.leave(said[1])
    scene.move(said[-1])
    scene.compact()
    scene.append(user(20))
    assert scene.layout[0] == "summary 1-5"
    claim = scene.claimed()
    assert (span(claim), claim.wanted.covered.replaces) == ((3, 10), ())


def test_files_of_all_left_entries_are_listed_also_of_those_not_read(scene: Scene) -> None:
    scene.window(70)
    said = scene.append(user(20), *touching("a", "read_file", "common.py")).entry_ids
    scene.append(*touching("b", "write_file", "old.py"), *touching("c", "read_file", "seen.py"), assistant(60))
    scene.leave(said[-1])
    claim = scene.claimed()
    assert roles(claim) == ["assistant"]
    assert claim.preparation.details == {"read_files": ["seen.py"], "modified_files": ["old.py"]}
