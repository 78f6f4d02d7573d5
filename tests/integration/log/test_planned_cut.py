"""What a job is about to summarize: the beginning of a split turn, the planned cut, and the preparation for hooks."""

from __future__ import annotations

from typing import Any

import pytest

from foldline.engine.files import Files
from foldline.engine.tokens.estimates import ESTIMATES
from foldline.log.compaction.planned_cut import PlannedCut, cut_of
from foldline.log.compaction.summary_request import SummaryRequest
from foldline.log.compaction.usage import Usage
from foldline.log.storage import entry_log, paths
from foldline.log.use_cases.compact import compact
from tests.support.log.scenes import NewScene
from tests.support.log.sessions import TENANT, Scene, assistant, touching, turns, user, words
from tests.support.processes.databases import only_sqlite

# What is planned does not depend on where it is stored.
database_kind = only_sqlite


@pytest.fixture
def pi(new_scene: NewScene) -> Scene:
    return new_scene(2_000, policy={"preset": "pi"})


def split(scene: Scene, *, before: int) -> None:
    """So many turns, one of ten answers, and the next, so that what is kept begins within the long one."""
    scene.append(*turns(before, 60), user(60), *[assistant(60)] * 10, user(60))
    scene.compact(summarize=True)


def test_the_beginning_of_a_turn_that_is_split_is_a_part_of_its_own(pi: Scene) -> None:
    split(pi, before=2)
    claim = pi.claimed()
    assert claim.wanted.covered.first == 1
    assert [message.role for message in claim.request.messages] == ["user", "assistant"] * 2
    prefix = [message.role for message in claim.request.turn_prefix]
    assert prefix == ["user", *["assistant"] * (claim.wanted.covered.last - 5)]
    assert 1 < len(prefix) < 11


def test_a_turn_with_nothing_before_it_is_all_prefix(pi: Scene) -> None:
    split(pi, before=0)
    request = pi.claimed().request
    assert (request.messages, request.turn_prefix[0].role) == ((), "user")


def test_a_cut_between_two_turns_splits_none(pi: Scene) -> None:
    pi.append(*turns(8, 60))
    pi.compact()
    claim = pi.claimed()
    assert claim.wanted.covered.last % 2 == 0
    assert claim.request.turn_prefix == ()


def test_a_summary_before_the_beginning_of_a_turn_is_taken_up_with_it(pi: Scene) -> None:
    pi.append(*turns(2, 60), user(60), *[assistant(60)] * 7)
    pi.compact()
    pi.publish(pi.claimed(), word=" old")
    assert pi.layout[:2] == ["summary 1-4", "user 5"]
    pi.append(*[assistant(60)] * 5, user(60))
    pi.compact()
    claim = pi.claimed()
    assert claim.request.previous == (" old" * 40,)
    assert [message.role for message in claim.request.messages][:2] == ["user", "assistant"]
    assert (len(claim.request.messages), claim.request.turn_prefix) == (claim.wanted.covered.last - 4, ())


@pytest.mark.parametrize("preset", ["foldline", "neurolink", "agent-code", "codebuddy"])
def test_other_presets_never_split_a_turn(new_scene: NewScene, preset: str) -> None:
    scene = new_scene(2_000, policy={"preset": preset})
    split(scene, before=2)
    request = scene.claimed().request
    assert (len(request.messages) > 4, request.turn_prefix) == (True, ())


def test_a_summary_with_a_split_turn_is_another_than_one_without(pi: Scene) -> None:
    split(pi, before=2)
    pi.work()
    pi.undo(pi.live[-1])
    with pi.store.write() as tx:
        request = SummaryRequest(is_asked=True, policy={"splits_turns": False})
        compact(tx, TENANT, pi.id, request, summarize=True)
    assert pi.claimed().request.turn_prefix == ()


# The cut.


def cut(scene: Scene, **values: Any) -> PlannedCut:
    with scene.store.read() as tx:
        path = paths.open_head(tx, TENANT, scene.id)
        return cut_of(tx, path, entry_log.outline(tx, path), SummaryRequest(is_asked=True, **values))


def test_a_cut_names_what_is_covered_and_what_stays(scene: Scene) -> None:
    said = scene.append(*turns(5, 60)).entry_ids
    found = cut(scene)
    assert (found.first, found.first_kept, found.messages) == (said[0], said[5], 5)
    assert (found.turn_start, found.turn_prefix, found.replaces) == (None, 0, ())
    assert found.as_json == {
        "first_entry_id": said[0],
        "first_kept_entry_id": said[5],
        "turn_start_entry_id": None,
        "is_split_turn": False,
        "messages": 5,
        "turn_prefix_messages": 0,
        "summaries": [{"first_entry_id": said[0], "last_entry_id": said[4], "messages": 5}],
        "replaces": (),
        "context_tokens": 640,
        "read_files": [],
        "modified_files": [],
    }


def test_a_cut_is_what_the_requested_summary_covers(pi: Scene) -> None:
    split(pi, before=2)
    found, claim = cut(pi), pi.claimed()
    assert (found.first, found.turn_start) == ("e0-1", "e0-5")
    assert found.first_kept == claim.preparation.first_kept_entry_id == f"e0-{claim.wanted.covered.last + 1}"
    assert (found.messages, found.turn_prefix) == (len(claim.request.messages), len(claim.request.turn_prefix))
    assert found.as_json["is_split_turn"]
    assert claim.preparation.is_split_turn


def test_a_cut_inside_the_current_turn_leads_to_two_summaries_around_its_request(pi: Scene) -> None:
    pi.append(*turns(4, 60), user(60), *[assistant(60)] * 10)
    found = cut(pi)
    before, after = found.summaries
    assert (before.first_entry_id, before.last_entry_id, before.messages) == ("e0-1", "e0-8", 8)
    assert (after.first_entry_id, found.turn_start, found.turn_prefix) == ("e0-10", "e0-9", after.messages)
    assert (found.messages, int(after.last_entry_id[3:]) + 1) == (8, int((found.first_kept or "")[3:]))

    pi.compact(summarize=True)
    for planned in found.summaries:
        claim = pi.claimed()
        assert claim.wanted.ends == (planned.first_entry_id, planned.last_entry_id)
        pi.publish(claim)
    assert pi.claim() is None
    assert [line.partition(" ")[0] for line in pi.layout[:4]] == ["summary", "user", "summary", "batch"]


def test_a_cut_between_turns_has_no_prefix(pi: Scene) -> None:
    pi.append(*turns(8, 60))
    found = cut(pi)
    assert (found.first_kept, found.turn_start, found.turn_prefix) == ("e0-9", None, 0)


def test_a_batch_is_counted_by_its_messages(scene: Scene) -> None:
    scene.append(*touching("a", "read_file", "a.py"), *turns(5, 60))
    assert (cut(scene).first_kept, cut(scene).messages) == ("e0-8", 7)


def test_where_nothing_is_old_enough_nothing_is_covered(scene: Scene) -> None:
    assert (cut(scene).first, cut(scene).first_kept, cut(scene).messages) == (None, None, 0)
    said = scene.append(*touching("a", "read_file", "a.py")).entry_ids
    found = cut(scene)
    assert (found.first, found.first_kept, found.messages, found.files) == (None, said[0], 0, Files())


def test_where_all_is_old_enough_nothing_is_kept(new_scene: NewScene) -> None:
    scene = new_scene(policy={"preset": "pi", "stages": [{"name": "summarize", "keep_tokens": 0}]})
    scene.append(*turns(1, 60))
    found = cut(scene)
    # The last user message stays.
    assert (found.first, found.first_kept, found.turn_start, found.messages) == ("e0-2", None, None, 1)


def test_a_summary_that_is_there_is_taken_up_with_its_files(scene: Scene) -> None:
    scene.append(*touching("a", "write_file", "a.py"), *turns(4, 60))
    scene.compact()
    scene.work()
    scene.append(*touching("b", "read_file", "b.py"), *turns(3, 60))
    found = cut(scene)
    (taken,) = found.replaces
    assert taken == scene.outline.live.condensed[0].summary
    assert (found.first, found.files) == ("e0-1", Files(frozenset({"b.py"}), frozenset({"a.py"})))
    assert (scene.layout[0], found.first_kept, found.messages) == ("summary 1-5", "e0-15", 8)


def test_entries_of_another_branch_are_named_by_that(scene: Scene) -> None:
    said = scene.append(*turns(2, 60)).entry_ids
    scene.move(said[2])
    scene.append(*[assistant(60)] * 7)
    found = cut(scene)
    assert (found.first, found.first_kept) == ("e0-1", "e1-6")


def test_a_target_of_ones_own_cuts_deeper(scene: Scene) -> None:
    scene.append(*turns(6, 60))
    assert cut(scene, target_tokens=200).messages > cut(scene).messages


def test_a_policy_of_ones_own_cuts_in_its_way(scene: Scene) -> None:
    scene.append(*turns(6, 60))
    assert cut(scene, policy={"preset": "foldline", "keep_recent": 0.05}).messages > cut(scene).messages


def test_the_context_is_what_the_view_takes_as_the_policy_counts(new_scene: NewScene) -> None:
    system = words(100)
    exact = new_scene(2_000, id="exact", system=system)
    exact.append(*turns(1, 60))
    assert cut(exact).context_tokens == exact.used == 128 + exact.path.session.fixed_tokens
    estimate = ESTIMATES["pi"]
    pi = new_scene(2_000, id="pi", system=system, policy={"preset": "pi"})
    pi.append(user(60))
    empty_tools = 1
    assert cut(pi).context_tokens == estimate.text(words(60)) + estimate.text(system) + empty_tools
    pi.append(assistant(60), usage=Usage(pi.path.session.version, 500, output=80))
    assert cut(pi).context_tokens == 580
    pi.append(user(60))
    assert cut(pi).context_tokens == 580 + estimate.text(words(60))


def test_a_policy_that_trusts_no_report_estimates_the_context(pi: Scene) -> None:
    pi.append(user(60))
    pi.append(assistant(60), usage=Usage(pi.path.session.version, 500, output=80))
    untrusting = {"preset": "pi", "trusts_usage": False}
    assert cut(pi, policy=untrusting).context_tokens < 200 < cut(pi).context_tokens


# The preparation that hooks get.


def test_a_preparation_describes_what_the_job_is_about_to_summarize(scene: Scene) -> None:
    said = scene.append(*touching("a", "write_file", "a.py"), *turns(4, 60)).entry_ids
    scene.compact(instructions="mind the names")
    about = scene.claimed().preparation
    assert (about.kind, about.reason, about.policy["preset"]) == ("compact", "asked", "foldline")
    assert (about.session_id, about.left_entry_id, about.is_split_turn) == (scene.id, None, False)
    assert (about.first_entry_id, about.last_entry_id, about.first_kept_entry_id) == (said[0], said[4], said[5])
    assert (about.job_id, about.tokens_before) == (scene.jobs[0].id, scene.used)
    assert about.original_tokens == sum(item.original_tokens for item in scene.outline.items[:4])
    assert about.details == {"read_files": [], "modified_files": ["a.py"]}
    assert about.request.instructions == "mind the names"


def test_a_preparation_names_the_trigger_as_its_reason(scene: Scene) -> None:
    scene.append(*turns(7, 60))
    assert scene.claimed().preparation.reason == "trigger"


def test_a_preparation_for_a_branch_keeps_nothing(new_scene: NewScene) -> None:
    scene = new_scene(policy={"branch_reserve_tokens": 0})
    said = scene.append(*turns(3, 60)).entry_ids
    scene.leave(said[1])
    about = scene.claimed().preparation
    assert (about.kind, about.first_entry_id, about.last_entry_id) == ("branch", said[2], said[5])
    assert about.left_entry_id == said[5]
    assert (about.first_kept_entry_id, about.original_tokens, about.tokens_before) == (None, 256, 128)
