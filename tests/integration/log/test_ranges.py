"""Which entries a summary covers, and that no range is requested twice or forever."""

from __future__ import annotations

import pytest

from foldline.log.jobs import endings
from tests.support.log.scenes import NewScene
from tests.support.log.sessions import Scene, assistant, calls, result, turns, user


def test_a_job_that_waited_covers_what_came_meanwhile(scene: Scene) -> None:
    scene.append(*turns(7, 60))
    assert scene.states == ["queued"]
    scene.append(*turns(1, 40))
    covered = scene.claimed().wanted.covered
    assert (covered.first, covered.last) == (1, 10)


def test_a_job_is_not_stale_for_what_happened_while_it_waited(scene: Scene) -> None:
    scene.append(*turns(5, 60))
    hidden = scene.compact(target_tokens=300).made[0]
    assert hidden is not None
    assert scene.states == ["queued"]
    scene.undo(hidden.id)
    assert scene.work() == ["succeeded"]
    assert scene.layout[0].startswith("summary 1-")


def test_a_job_whose_work_is_done_meanwhile_ends_without_a_summary(scene: Scene) -> None:
    scene.append(*turns(3, 60))
    hidden = scene.compact(summarize=False, target_tokens=200).made[0]
    assert hidden is not None
    scene.undo(hidden.id)
    assert scene.claim() is None
    assert scene.states == ["superseded"]


def test_a_message_larger_than_the_summarizers_window_is_summarized_all_the_same(scene: Scene) -> None:
    scene.window(100)
    scene.append(user(80), assistant(400), user(60), assistant(60), user(700))
    assert scene.layout == ["hidden 1-4", "user 5"]
    assert scene.work() == ["succeeded"] * 4
    assert scene.layout == ["summary 1-4", "user 5"]
    assert scene.pending == 0


def test_a_range_never_ends_inside_a_batch(scene: Scene) -> None:
    scene.window(100)
    scene.append(user(60), calls("a", "b"), result("b", 90), result("a", 90), user(60), assistant(60), user(700))
    first = scene.claimed()
    assert (first.wanted.covered.first, first.wanted.covered.last) == (1, 1)
    scene.publish(first)
    second = scene.claimed()
    assert (second.wanted.covered.first, second.wanted.covered.last) == (1, 4)


def test_a_summary_shows_where_it_covers_part_of_what_one_edit_hid(scene: Scene) -> None:
    scene.window(130)
    scene.append(*turns(3, 60), user(700))
    assert scene.layout == ["hidden 1-6", "user 7"]
    scene.publish(scene.claimed())
    assert scene.layout == ["summary 1-2", "hidden 3-6", "user 7"]
    assert scene.pending == 4 * 64


def test_a_requested_range_larger_than_one_window_is_summarized_to_its_end(scene: Scene) -> None:
    scene.window(130)
    scene.append(*turns(5, 60))
    scene.compact()
    states = scene.work()
    assert len(states) > 1
    assert set(states) == {"succeeded"}
    assert scene.layout[0] == "summary 1-5"


def test_compacting_again_queues_no_job(scene: Scene) -> None:
    scene.append(*turns(5, 60))
    scene.compact()
    scene.work()
    before = scene.layout, scene.wire()
    again = scene.compact()
    assert (again.made, again.request) == ([], None)
    assert (scene.layout, scene.wire()) == before


def test_an_undone_range_is_not_summarized_again_by_itself(scene: Scene) -> None:
    scene.append(*turns(7, 60))
    scene.work()
    (summary,) = scene.live
    scene.undo(summary)
    scene.append(user(8))
    assert scene.used > 800
    assert scene.states == ["succeeded"]
    assert not scene.layout[0].startswith("summary")


def test_an_undone_range_is_summarized_again_on_request(scene: Scene) -> None:
    scene.append(*turns(7, 60))
    scene.work()
    scene.undo(scene.live[0])
    step = scene.compact()
    assert [made.reason for made in step.made] == ["summary"]
    assert step.request is None
    assert scene.layout[0] == "summary 1-9"


def test_an_undone_range_that_had_to_be_hidden_is_summarized_again(scene: Scene) -> None:
    scene.append(*turns(7, 60))
    scene.work()
    scene.undo(scene.live[0])
    scene.append(user(300))
    scene.work()
    assert scene.layout[0].startswith("summary 1-")
    assert scene.pending == 0


@pytest.mark.parametrize(
    ("chunks", "whole", "half"),
    [({}, (None, "exact"), (50_000, "exact")), ({"chunk_tokens": 2_000}, (2_000, "codebuddy"), (1_000, "codebuddy"))],
)
def test_only_a_policys_own_chunks_bound_the_prompts_of_all_summarizers(
    new_scene: NewScene, chunks: dict[str, int], whole: tuple[int | None, str], half: tuple[int, str]
) -> None:
    """How much one call reads is else a matter of each summarizer, until a model refused it."""
    summarize = {"name": "summarize", "falls_back": True, **chunks}
    scene = new_scene(2_000, policy={"counter": "codebuddy", "stages": [summarize]})
    scene.append(*turns(12, 60))
    scene.compact()

    claim = scene.claimed()
    assert (claim.request.call_tokens, claim.request.call_counter) == whole

    endings.try_less(scene.store, claim, "it is too long")
    claim = scene.claimed()
    assert (claim.request.call_tokens, claim.request.call_counter) == half
