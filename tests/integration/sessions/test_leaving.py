"""Leaving a branch with a wish for a summary of it: what is read, where the summary goes, and which jobs there are."""

from __future__ import annotations

from typing import Any

import pytest

from compaction import wording
from compaction.extractive import summarize
from compaction.formats import rules
from compaction.summary import Draft
from sessions import entries, history, jobs, operating
from sessions.branches import Moved
from sessions.jobs import Claim
from sessions.requests import Request
from sessions.views import open_calls_of
from tests.support.log import Scene, Wire, assistant, calls, result, turns, user
from tests.support.scenes import NewScene

# The window of a scene: its budget of 1,000 tokens, and 100 for the answer.
WINDOW_TOKENS = 1_100


@pytest.fixture
def scene(new_scene: NewScene) -> Scene:
    """A session whose branches are read whole when they are left."""
    return reading(new_scene, WINDOW_TOKENS)


def reading(new_scene: NewScene, room_tokens: int) -> Scene:
    return new_scene(policy={"branch_reserve_tokens": WINDOW_TOKENS - room_tokens})


def span(claim: Claim) -> tuple[int, int]:
    return claim.wanted.covered.first, claim.wanted.covered.last


def roles(claim: Claim) -> list[str]:
    return [message.role for message in claim.request.messages]


def job_of(moved: Moved) -> str:
    assert moved.request is not None
    return moved.request.job_id


def touching(call_id: str, name: str, path: str) -> list[Wire]:
    """A call on a file, and its result."""
    return [calls(call_id, name=name, arguments=f'{{"path": "{path}"}}'), result(call_id, 20)]


def details(scene: Scene) -> list[dict[str, list[str]]]:
    """What is told of the compactions on the path that have a summary, oldest first."""
    with scene.store.read() as tx:
        listed = history.compactions(tx, scene.tenant, scene.id)
    return [compaction.told["details"] for compaction in listed if compaction.told]


# What is read.


def test_all_that_was_said_after_the_common_entry_is_read_and_its_summary_goes_to_the_new_leaf(scene: Scene) -> None:
    said = scene.append(*turns(3, 60)).entry_ids
    moved = scene.leave(said[1])
    assert (moved.placed, scene.layout) == (None, ["user 1", "batch 2"])
    claim = scene.claimed()
    assert (claim.job_id, claim.request.is_branch) == (job_of(moved), True)
    assert (span(claim), roles(claim)) == ((3, 6), ["user", "assistant"] * 2)
    assert claim.wanted.ends == ("e0-3", "e0-6")
    assert scene.publish(claim) == "succeeded"
    assert scene.layout == ["user 1", "batch 2", "note 3"]
    told = scene.wire()[-1]
    assert told["role"] == "user"
    assert wording.BRANCH in str(told["content"])
    assert "gist gist" in str(told["content"])


def test_nothing_is_summarized_where_all_of_the_old_path_is_on_the_new_one(scene: Scene) -> None:
    said = scene.append(*turns(2, 60)).entry_ids
    scene.move(said[1])
    for target in (said[1], said[-1], said[-1]):
        moved = scene.leave(target)
        assert (moved.request, moved.placed) == (None, None)
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
    assert (moved.request, moved.placed) == (None, None)


def test_a_move_without_a_wish_for_a_summary_asks_for_none(scene: Scene) -> None:
    said = scene.append(*turns(3, 60)).entry_ids
    scene.move(said[1])
    assert scene.jobs == []


@pytest.mark.parametrize(("room_tokens", "first"), [(WINDOW_TOKENS, 3), (192, 6), (191, 7), (64, 8), (63, 8), (0, 8)])
def test_of_much_the_newest_is_read_that_there_is_room_for(new_scene: NewScene, room_tokens: int, first: int) -> None:
    scene = reading(new_scene, room_tokens)
    said = scene.append(*turns(4, 60)).entry_ids
    scene.leave(said[1])
    assert span(scene.claimed()) == (first, 8)


def test_no_more_is_read_than_a_summarizer_takes(scene: Scene) -> None:
    scene.window(128)
    said = scene.append(*turns(4, 60)).entry_ids
    scene.leave(said[1])
    assert span(scene.claimed()) == (7, 8)


@pytest.mark.parametrize(("room_tokens", "read"), [(100, ["assistant", "tool", "assistant"]), (70, ["assistant"])])
def test_what_tools_answered_takes_no_room_and_is_read_with_the_calls_that_are(
    new_scene: NewScene, room_tokens: int, read: list[str]
) -> None:
    scene = reading(new_scene, room_tokens)
    said = scene.append(user(20), user(60), calls("a"), result("a", 500), assistant(60)).entry_ids
    scene.leave(said[0])
    assert roles(scene.claimed()) == read


def test_the_newest_item_is_read_whatever_there_is_room_for(new_scene: NewScene) -> None:
    scene = reading(new_scene, 0)
    said = scene.append(user(20), user(60), calls("a"), result("a", 500)).entry_ids
    scene.leave(said[0])
    assert roles(scene.claimed()) == ["assistant", "tool"]


def test_a_live_summary_is_read_in_the_place_of_what_it_covers_also_of_common_entries(scene: Scene) -> None:
    said = scene.append(*turns(5, 60)).entry_ids
    scene.compact()
    scene.publish(scene.claimed(), word=" old")
    assert scene.layout[0] == "summary 1-5"
    scene.leave(said[1])
    claim = scene.claimed()
    assert claim.request.previous == (" old" * 40,)
    assert (span(claim), roles(claim)) == ((6, 10), ["assistant", *["user", "assistant"] * 2])
    assert len(claim.wanted.covered.replaces) == 1


def test_a_live_summary_that_there_is_no_room_for_is_not_read(new_scene: NewScene) -> None:
    scene = reading(new_scene, 130)
    said = scene.append(*turns(5, 60)).entry_ids
    scene.compact()
    scene.work()
    scene.leave(said[1])
    claim = scene.claimed()
    assert (span(claim), claim.request.previous, claim.wanted.covered.replaces) == ((9, 10), (), ())


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


def test_files_are_told_of_all_that_was_left_also_of_what_is_not_read(new_scene: NewScene) -> None:
    scene = reading(new_scene, 70)
    said = scene.append(user(20), *touching("a", "read_file", "common.py")).entry_ids
    scene.append(*touching("b", "write_file", "old.py"), *touching("c", "read_file", "seen.py"), assistant(60))
    scene.leave(said[-1])
    claim = scene.claimed()
    assert roles(claim) == ["assistant"]
    assert claim.preparation.details == {"read_files": ["seen.py"], "modified_files": ["old.py"]}


# Where it goes.


def test_a_summary_goes_behind_what_was_said_in_the_meantime(scene: Scene) -> None:
    said = scene.append(*turns(3, 60)).entry_ids
    scene.leave(said[1])
    claim = scene.claimed()
    scene.append(user(20), assistant(20))
    before = scene.wire()
    assert scene.publish(claim) == "succeeded"
    assert scene.layout == ["user 1", "batch 2", "user 3", "batch 4", "note 5"]
    assert scene.wire()[:-1] == before


def test_a_summary_of_a_branch_left_into_a_batch_stays_behind_that_batch(scene: Scene) -> None:
    said = scene.append(user(20), calls("a", "b"), result("a", 20), result("b", 30), assistant(60)).entry_ids
    scene.leave(said[2])
    claim = scene.claimed()
    assert (span(claim), roles(claim)) == ((5, 5), ["assistant"])
    assert scene.publish(claim) == "succeeded"
    assert (scene.layout, open_calls_of(scene.path)) == (["user 1", "batch 2-4"], ["b"])
    scene.append(result("b", 20))
    assert (scene.layout, open_calls_of(scene.path)) == (["user 1", "batch 2-5"], [])
    shown = scene.wire()
    assert [message["role"] for message in shown] == ["user", "assistant", "tool", "tool", "user"]
    assert wording.BRANCH in str(shown[-1]["content"])
    assert rules.check("openai", shown, None) == []


def test_a_result_that_alone_was_left_is_read(scene: Scene) -> None:
    said = scene.append(user(20), calls("a", "b"), result("a", 20), result("b", 30)).entry_ids
    scene.leave(said[2])
    claim = scene.claimed()
    assert (span(claim), roles(claim)) == ((4, 4), ["tool"])


def test_leaving_a_branch_from_before_a_compaction_leaves_that_alone(scene: Scene) -> None:
    said = scene.append(*turns(5, 60)).entry_ids
    scene.compact()
    scene.work()
    shown = scene.layout
    scene.move(said[3])
    scene.append(user(20))
    scene.leave(said[-1])
    claim = scene.claimed()
    assert (span(claim), claim.wanted.ends) == ((5, 5), ("e1-5", "e1-5"))
    scene.publish(claim)
    assert scene.layout == [*shown, "note 12"]


def test_going_to_another_branch_and_back_has_a_summary_of_each_on_the_other(scene: Scene) -> None:
    said = scene.append(*turns(2, 60)).entry_ids
    scene.leave(said[1])
    scene.work()
    scene.append(user(20))
    scene.leave(said[-1])
    claim = scene.claimed()
    assert claim.wanted.ends == ("e1-3", "e1-4")
    assert roles(claim) == ["developer", "user"]
    scene.publish(claim)
    assert (scene.path.branch, scene.layout) == (0, ["user 1", "batch 2", "user 3", "batch 4", "note 5"])


def test_an_undo_and_a_redo_around_a_summary_of_a_branch_keep_it(scene: Scene) -> None:
    said = scene.append(*turns(6, 60)).entry_ids
    scene.leave(said[-3])
    late = scene.claimed()
    scene.compact()
    scene.work()
    scene.publish(late)
    shown, view = scene.layout, scene.wire()
    assert (shown[0], shown[-1]) == ("summary 1-5", "note 12")
    (compaction,) = scene.live
    scene.undo(compaction)
    assert (scene.layout[0], scene.layout[-1]) == ("user 1", "note 12")
    scene.redo()
    assert (scene.layout, scene.wire()) == (shown, view)


def test_a_summary_of_a_branch_is_published_however_its_path_was_edited_meanwhile(scene: Scene) -> None:
    said = scene.append(*turns(6, 60)).entry_ids
    scene.leave(said[-3])
    claim = scene.claimed()
    scene.compact()
    scene.work()
    scene.undo(scene.live[0])
    assert scene.publish(claim) == "succeeded"
    assert scene.layout[-1].startswith("note")


def test_a_summary_of_a_branch_does_not_disturb_one_of_its_path_that_is_being_written(scene: Scene) -> None:
    said = scene.append(*turns(6, 60)).entry_ids
    scene.leave(said[-3])
    of_branch = scene.claimed()
    scene.compact()
    of_path = scene.claimed()
    assert scene.publish(of_branch) == "succeeded"
    assert scene.publish(of_path) == "succeeded"
    assert scene.layout[0] == "summary 1-5"


def test_a_summary_of_a_branch_that_makes_the_view_too_large_compacts_it_inline(scene: Scene) -> None:
    said = scene.append(*turns(4, 60), *turns(4, 60)).entry_ids
    scene.move(said[7])
    scene.append(user(400))
    target = scene.entries[-1]
    scene.move(said[-1])
    scene.leave(target)
    while (claim := scene.claimed()).preparation.kind != "branch":
        scene.publish(claim)
    scene.append(user(1))
    before = len(scene.records)
    assert scene.publish(claim, tokens=400) == "succeeded"
    assert scene.used <= scene.limit
    assert [record.body["reason"] for record in scene.records[before:]] == ["branch"]


# Once, and without a job where it is there already.


def test_what_was_left_twice_is_summarized_once(scene: Scene) -> None:
    said = scene.append(*turns(3, 60)).entry_ids
    scene.leave(said[1])
    scene.publish(scene.claimed(), word=" kept")
    scene.move(said[-1])
    moved = scene.leave(said[1])
    assert (moved.request, moved.placed) == (None, "e2-3")
    assert (scene.layout, scene.states) == (["user 1", "batch 2", "note 3"], ["succeeded"])
    assert " kept kept" in str(scene.wire()[-1]["content"])


def test_the_same_summary_is_never_twice_on_a_path(scene: Scene) -> None:
    said = scene.append(*turns(3, 60)).entry_ids
    scene.leave(said[1])
    scene.work()
    leaf = scene.append(user(20)).entry_ids[0]
    scene.move(said[-1])
    moved = scene.leave(leaf)
    assert (moved.request, moved.placed) == (None, "e1-3")
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
    assert (moved.request, moved.placed) == (None, "e1-9")
    assert scene.layout[0] == "summary 1-10"


def test_what_other_instructions_asked_for_is_another_summary(scene: Scene) -> None:
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
    assert (moved.request, moved.placed) == (None, None)
    assert scene.states == [*before, "failed: no-room"]
    assert scene.jobs[-1].subject == "e0-4"


# Jobs.


def three_leaves(scene: Scene) -> list[str]:
    """The last entries of three branches that part after the first turn."""
    leaves = [scene.append(*turns(2, 60)).entry_ids[-1]]
    for word in (" other", " third"):
        scene.move("e0-2")
        leaves.append(scene.append(user(60, word), assistant(60)).entry_ids[-1])
    return leaves


def leave_for(scene: Scene, start: str, target: str, instructions: str | None = None) -> Request:
    scene.move(start)
    request = scene.leave(target, instructions).request
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


def test_a_wish_for_a_branch_whose_job_waits_joins_it_with_its_instructions(scene: Scene) -> None:
    first, _, target = three_leaves(scene)
    waiting = leave_for(scene, first, target, "mind the names")
    assert leave_for(scene, first, target, "mind the dates") == Request(waiting.job_id, is_joined=True)
    claim = scene.claimed()
    assert (claim.job_id, claim.request.instructions) == (waiting.job_id, "mind the dates")
    assert scene.claim() is None


def test_a_wish_for_a_branch_whose_job_runs_joins_it_or_waits_behind_it(scene: Scene) -> None:
    first, _, target = three_leaves(scene)
    running = leave_for(scene, first, target)
    claim = scene.claimed()
    assert leave_for(scene, first, target) == Request(running.job_id, is_joined=True)
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
    jobs.fail(scene.store, claim, "the endpoint is away")
    assert scene.states == ["failed: the endpoint is away", "queued"]
    assert scene.path.next_summary_at == 0
    assert scene.claimed().preparation.kind == "compact"


def test_a_summary_of_nothing_fails_visibly(scene: Scene) -> None:
    said = scene.append(*turns(3, 60)).entry_ids
    scene.leave(said[1])
    jobs.publish(scene.store, scene.claimed(), Draft(" \n", degraded=False, summarizer="scripted"))
    assert scene.states[0].startswith("failed: the summary")
    assert scene.layout == ["user 1", "batch 2"]


def test_a_failed_job_for_one_branch_is_tried_again_beside_a_job_for_another(scene: Scene) -> None:
    first, second, target = three_leaves(scene)
    failed = leave_for(scene, first, target).job_id
    jobs.fail(scene.store, scene.claimed(), "the endpoint is away")
    waiting = leave_for(scene, second, target).job_id
    with scene.store.read() as tx:
        assert operating.failed(tx) == [failed]
    with scene.store.write() as tx:
        again = operating.retry(tx, failed)
    assert again.job_id != waiting
    assert [job.subject for job in scene.jobs if job.state == "queued"] == [second, first]


def test_what_is_told_of_a_branch_names_an_entry_that_there_is(scene: Scene) -> None:
    """Also if nothing was said on the branch that was left: its last entry is another branch's."""
    said = scene.append(*turns(3, 60)).entry_ids
    scene.move(said[3])
    scene.leave(said[1])
    scene.work()
    assert body_of(scene, scene.entries[-1])["from"] == said[3]


# What takes it up.


def body_of(scene: Scene, entry_id: str) -> dict[str, Any]:
    with scene.store.read() as tx:
        body: dict[str, Any] = entries.entry(tx, scene.tenant, scene.id, entry_id).body
    return body


def left_with_files(scene: Scene) -> None:
    """A branch that was left for another one with files of its own, which was left for a third, at its start."""
    said = scene.append(user(60), *touching("a", "read_file", "first.py"), assistant(60)).entry_ids
    scene.leave(said[0])
    scene.publish(scene.claimed(), word=" one")
    second = scene.append(*touching("b", "write_file", "second.py"), assistant(60)).entry_ids[-1]
    scene.move(said[0])
    third = scene.append(user(60, " third")).entry_ids[0]
    scene.move(second)
    scene.leave(third)
    scene.publish(scene.claimed(), word=" two")


def test_a_summary_of_a_branch_tells_of_the_files_of_those_it_was_made_of(scene: Scene) -> None:
    left_with_files(scene)
    assert scene.layout == ["user 1", "user 2", "note 3"]
    told = body_of(scene, scene.entries[-1])
    assert told["details"] == {"read_files": ["first.py"], "modified_files": ["second.py"]}
    assert (told["from"], told["from_hook"]) == ("e1-5", None)
    assert told["summary"] == " two" * 40


def test_a_compaction_that_covers_a_summary_of_a_branch_tells_of_its_files(scene: Scene) -> None:
    left_with_files(scene)
    scene.append(*touching("c", "write_file", "first.py"), *turns(3, 60))
    scene.compact()
    scene.publish(scene.claimed())
    assert scene.layout[0] == "summary 1-6"
    assert details(scene) == [{"read_files": [], "modified_files": ["first.py", "second.py"]}]


def test_a_summarizer_gets_a_summary_of_a_branch_as_a_developer_message(scene: Scene) -> None:
    said = scene.append(*turns(3, 60)).entry_ids
    scene.leave(said[1])
    scene.publish(scene.claimed(), word=" other")
    scene.append(*turns(3, 60))
    scene.compact()
    claim = scene.claimed()
    told = next(message for message in claim.request.messages if message.role == "developer")
    assert told.text.endswith(" other" * 40)
    assert wording.BRANCH in told.text


def test_the_extractive_summarizer_keeps_what_a_summary_of_a_branch_says(scene: Scene) -> None:
    said = scene.append(*turns(3, 60)).entry_ids
    scene.leave(said[1])
    text = "Decided: the parser stays in src/parser/legacy.py because of the frozen grammar."
    jobs.publish(scene.store, scene.claimed(), Draft(text, degraded=False, summarizer="scripted"))
    scene.append(*turns(3, 60))
    scene.compact()
    assert "src/parser/legacy.py" in summarize(scene.claimed().request)
