"""Jobs for branch summaries, and when none is needed: the same entries are summarized once."""

from __future__ import annotations

import pytest

from foldline.engine.summaries.prompt import SummaryDraft
from foldline.log.compaction.enqueue import QueuedJob
from foldline.log.jobs import admin, endings, publish, sweeps
from tests.support.log.scenes import LIMITS, NewScene
from tests.support.log.sessions import Clock, Scene, assistant, turns, user


@pytest.fixture
def scene(new_scene: NewScene) -> Scene:
    """A session whose branches are read whole when they are left."""
    return new_scene(policy={"branch_reserve_tokens": 0})


def test_what_was_left_twice_is_summarized_once(scene: Scene) -> None:
    said = scene.append(*turns(3, 60)).entry_ids
    scene.leave(said[1])
    scene.publish(scene.claimed(), word=" kept")
    scene.move(said[-1])
    moved = scene.leave(said[1])
    assert (moved.queued, moved.summary_entry_id) == (None, "e2-3")
    assert (scene.layout, scene.states) == (["user 1", "batch 2", "note 3"], ["succeeded"])
    assert " kept kept" in str(scene.wire()[-1]["content"])


def test_the_same_summary_is_never_twice_on_a_path(scene: Scene) -> None:
    said = scene.append(*turns(3, 60)).entry_ids
    scene.leave(said[1])
    scene.work()
    leaf = scene.append(user(20)).entry_ids[0]
    scene.move(said[-1])
    moved = scene.leave(leaf)
    assert (moved.queued, moved.summary_entry_id) == (None, "e1-3")
    assert scene.layout == ["user 1", "batch 2", "note 3", "user 4"]


def test_a_summary_is_not_said_again_where_another_covers_it(scene: Scene) -> None:
    said = scene.append(*turns(6, 60)).entry_ids
    scene.leave(said[-5])
    scene.work()
    leaf = scene.append(*turns(3, 60)).entry_ids[-1]
    scene.compact()
    scene.work()
    assert scene.layout[0] == "summary 1-10"
    scene.move(said[-1])
    moved = scene.leave(leaf)
    assert (moved.queued, moved.summary_entry_id) == (None, "e1-9")
    assert scene.layout[0] == "summary 1-10"


def test_other_instructions_make_another_summary(scene: Scene) -> None:
    said = scene.append(*turns(3, 60)).entry_ids
    scene.leave(said[1])
    scene.work()
    leaf = scene.entries[-1]
    scene.move(said[-1])
    scene.leave(leaf, "mind the dates")
    assert scene.work() == ["succeeded"]
    assert scene.layout == ["user 1", "batch 2", "note 3", "note 4"]


def test_a_kept_summary_of_a_branch_that_has_no_room_is_visible(scene: Scene) -> None:
    said = scene.append(user(20), assistant(400), *turns(1, 60)).entry_ids
    scene.leave(said[0])
    scene.work(tokens=200)
    scene.move(said[0])
    full = scene.append(user(960)).entry_ids[0]
    scene.move(said[-1])
    before = scene.states
    moved = scene.leave(full)
    assert (moved.queued, moved.summary_entry_id) == (None, None)
    assert scene.states == [*before, "failed: no-room"]
    assert scene.jobs[-1].subject == "e0-4"


def three_leaves(scene: Scene) -> list[str]:
    """The last entries of three branches that part after the first turn."""
    leaves = [scene.append(*turns(2, 60)).entry_ids[-1]]
    for word in (" other", " third"):
        scene.move("e0-2")
        leaves.append(scene.append(user(60, word), assistant(60)).entry_ids[-1])
    return leaves


def leave_for(scene: Scene, start: str, target: str, instructions: str | None = None) -> QueuedJob:
    scene.move(start)
    request = scene.leave(target, instructions).queued
    assert request is not None
    return request


def test_jobs_for_branches_that_were_left_for_one_target_wait_side_by_side(scene: Scene) -> None:
    first, second, target = three_leaves(scene)
    requests = [leave_for(scene, start, target) for start in (first, second)]
    assert [request.is_joined for request in requests] == [False, False]
    assert (scene.states, [job.subject for job in scene.jobs]) == (["queued"] * 2, [first, second])
    assert scene.work() == ["succeeded"] * 2
    assert scene.layout[-2:] == ["note 5", "note 6"]


def test_jobs_for_branches_that_were_left_for_one_target_run_side_by_side(scene: Scene) -> None:
    first, second, target = three_leaves(scene)
    requests = [leave_for(scene, start, target) for start in (first, second)]
    claims = [scene.claimed() for _ in requests]
    assert [claim.job_id for claim in claims] == [request.job_id for request in requests]
    assert [scene.publish(claim) for claim in claims] == ["succeeded"] * 2


def test_a_request_for_a_branch_whose_job_waits_joins_it_with_its_instructions(scene: Scene) -> None:
    first, _, target = three_leaves(scene)
    waiting = leave_for(scene, first, target, "mind the names")
    assert leave_for(scene, first, target, "mind the dates") == QueuedJob(waiting.job_id, is_joined=True)
    claim = scene.claimed()
    assert (claim.job_id, claim.request.instructions) == (waiting.job_id, "mind the dates")
    assert scene.claim() is None


def test_a_request_for_a_branch_whose_job_runs_joins_it_or_waits_behind_it(scene: Scene) -> None:
    first, _, target = three_leaves(scene)
    running = leave_for(scene, first, target)
    claim = scene.claimed()
    assert leave_for(scene, first, target) == QueuedJob(running.job_id, is_joined=True)
    behind = leave_for(scene, first, target, "mind the dates")
    assert (behind.is_joined, scene.states) == (False, ["running", "queued"])
    assert scene.claim() is None
    scene.publish(claim)
    assert scene.claimed().job_id == behind.job_id


def test_the_same_entries_are_summarized_once_for_a_target_however_they_were_left(scene: Scene) -> None:
    """The branch that starts at an entry and has nothing of its own is another way to leave the same."""
    said = scene.append(user(60), assistant(60), user(60)).entry_ids
    scene.move(said[0])
    target = scene.append(user(60, " other")).entry_ids[0]
    leave_for(scene, said[-1], target)
    scene.move(said[-1])
    scene.append(assistant(60))
    leave_for(scene, said[-1], target)
    assert set(scene.work()) == {"succeeded"}
    assert scene.layout == ["user 1", "user 2", "note 3"]


@pytest.mark.parametrize("taken_tokens", [990, 960])
def test_a_summary_of_a_branch_that_has_no_room_is_not_placed_and_says_so(scene: Scene, taken_tokens: int) -> None:
    """It is not hidden either as soon as it is there: a marker says less than nothing."""
    said = scene.append(user(taken_tokens), assistant(30)).entry_ids
    scene.leave(said[0])
    claim = scene.claimed()
    before = scene.layout, scene.wire(), scene.entries
    assert scene.publish(claim) == "failed"
    assert scene.states == ["failed: no-room"]
    assert (scene.layout, scene.wire(), scene.entries) == before


def test_a_failed_summary_of_a_branch_holds_back_no_automatic_one(scene: Scene) -> None:
    said = scene.append(*turns(6, 60)).entry_ids
    scene.leave(said[-3])
    claim = scene.claimed()
    scene.append(*turns(2, 60))
    assert scene.states == ["running", "queued"]
    endings.fail(scene.store, claim, "the endpoint is away")
    assert scene.states == ["failed: the endpoint is away", "queued"]
    assert scene.path.next_summary_at == 0
    assert scene.claimed().preparation.kind == "compact"


def test_a_summary_of_nothing_fails_visibly(scene: Scene) -> None:
    said = scene.append(*turns(3, 60)).entry_ids
    scene.leave(said[1])
    publish.publish(scene.store, scene.claimed(), SummaryDraft(" \n", degraded=False, summarizer="scripted"))
    assert scene.states[0].startswith("failed: the summary")
    assert scene.layout == ["user 1", "batch 2"]


def one_failed_and_one_waiting(scene: Scene) -> tuple[str, str, str]:
    """The branch whose job failed, that job, and one that waits for another branch."""
    first, second, target = three_leaves(scene)
    failed = leave_for(scene, first, target).job_id
    endings.fail(scene.store, scene.claimed(), "the endpoint is away")
    return first, failed, leave_for(scene, second, target).job_id


def test_a_job_that_failed_for_one_branch_is_not_made_good_by_one_for_another(scene: Scene) -> None:
    _, failed, _ = one_failed_and_one_waiting(scene)
    with scene.store.read() as tx:
        assert admin.failed(tx) == [failed]


def test_a_job_that_failed_for_one_branch_is_tried_again_beside_one_for_another(scene: Scene) -> None:
    first, failed, waiting = one_failed_and_one_waiting(scene)
    with scene.store.write() as tx:
        again = admin.retry(tx, failed)
    assert again.job_id != waiting
    assert [job.subject for job in scene.jobs if job.id == again.job_id] == [first]


def test_a_job_that_failed_for_a_branch_is_tried_again_in_its_own_words(scene: Scene) -> None:
    first, _, target = three_leaves(scene)
    failed = leave_for(scene, first, target, "mind the names").job_id
    endings.fail(scene.store, scene.claimed(), "the endpoint is away")
    with scene.store.write() as tx:
        assert not admin.retry(tx, failed).is_joined
    claim = scene.claimed()
    assert (claim.request.instructions, claim.wanted.ends[1]) == ("mind the names", first)


def test_each_kept_summary_without_room_is_visible(scene: Scene) -> None:
    first, second, target = three_leaves(scene)
    for start in (first, second):
        leave_for(scene, start, target)
    scene.work(tokens=60)
    scene.move("e0-2")
    full = scene.append(user(960)).entry_ids[0]
    for start in (first, second):
        scene.move(start)
        moved = scene.leave(full)
        assert (moved.queued, moved.summary_entry_id) == (None, None)
    assert [job.subject for job in scene.jobs if job.state == "failed"] == [first, second]


def test_a_lapsed_branch_job_merges_with_the_request_that_waits_behind_it(scene: Scene, clock: Clock) -> None:
    first, second, target = three_leaves(scene)
    running = leave_for(scene, second, target).job_id
    scene.claimed()
    leave_for(scene, first, target)
    leave_for(scene, second, target, "mind the dates")
    clock.advance(LIMITS.lease_seconds + 1)
    sweeps.sweep(scene.store)
    assert scene.states == ["queued", "queued", "superseded"]
    claim = scene.claimed()
    assert (claim.job_id, claim.request.instructions) == (running, "mind the dates")
