"""Publishing to a session that continued in the meantime, and summaries that are used more than once."""

from __future__ import annotations

from foldline.engine.summaries.prompt import SummaryDraft
from foldline.log.jobs import publish
from tests.support.log.scenes import NewScene
from tests.support.log.sessions import Clock, Scene, assistant, turns, user


def test_a_summary_of_an_undone_state_is_dropped_and_what_is_pending_is_queued_again(scene: Scene) -> None:
    scene.append(*turns(6, 60))
    scene.compact(summarize=False, target_tokens=600)
    claim = scene.claimed()
    second = scene.compact(summarize=False, target_tokens=300).made[0]
    assert second is not None
    scene.undo(second.id)
    assert scene.pending > 0
    assert scene.states == ["running"]
    assert scene.publish(claim) == "superseded"
    assert scene.states == ["superseded", "queued"]
    assert scene.work() == ["succeeded"]
    assert scene.pending == 0


def test_inline_compactions_do_not_disturb_a_summary_that_is_being_written(scene: Scene) -> None:
    scene.append(*turns(7, 60))
    claim = scene.claimed()
    scene.append(user(200))
    assert scene.layout[0].startswith("hidden")
    assert scene.publish(claim) == "succeeded"
    assert scene.layout[0] == "summary 1-9"


def test_a_summary_that_would_not_fit_is_not_published_and_says_so(scene: Scene) -> None:
    scene.append(*turns(1, 60), user(900))
    before = scene.layout, scene.wire()
    scene.work(tokens=200)
    assert scene.states == ["failed: no-room"]
    assert (scene.layout, scene.wire()) == before
    assert scene.pending > 0


def test_a_summary_without_room_is_published_without_a_job_once_there_is(scene: Scene, clock: Clock) -> None:
    scene.append(*turns(1, 60), user(900))
    scene.work(tokens=200)
    clock.advance(31)
    scene.append(assistant(4))
    assert scene.states == ["failed: no-room"]
    scene.resize(1_500)
    assert scene.layout == ["summary 1-2", "user 3", "batch 5"]
    assert scene.states == ["failed: no-room"]


def test_a_kept_summary_that_has_no_room_on_another_branch_is_visible_there(scene: Scene) -> None:
    shared = scene.append(*turns(1, 60)).entry_ids[-1]
    scene.append(user(900))
    scene.work(tokens=60)
    assert scene.layout == ["summary 1-2", "user 3"]
    scene.move(shared)
    scene.append(user(955))
    assert scene.layout == ["hidden 1-2", "user 3"]
    assert scene.states == ["succeeded", "failed: no-room"]


def test_a_publish_that_leaves_the_view_over_the_trigger_queues_another_job(scene: Scene) -> None:
    scene.window(260)
    scene.append(*turns(7, 60))
    assert scene.publish(scene.claimed(), tokens=200) == "succeeded"
    assert scene.used > 800
    assert scene.states == ["succeeded", "queued"]


def test_a_kept_summary_is_published_without_a_job_and_the_rest_is_requested(scene: Scene) -> None:
    scene.window(130)
    scene.append(*turns(3, 60), user(300), assistant(60))
    scene.compact(summarize=False, target_tokens=400)
    assert scene.layout[0] == "hidden 1-6"
    scene.publish(scene.claimed())
    scene.undo(scene.live[-1])
    assert scene.layout[0] == "user 1"
    step = scene.compact(summarize=False, target_tokens=400)
    assert scene.layout[:2] == ["summary 1-2", "hidden 3-6"]
    assert [made.reason for made in step.made] == ["asked", "summary"]
    assert step.request is not None
    assert step.request.job_id == scene.jobs[-1].id
    assert scene.jobs[-1].state == "queued"


def test_a_branch_uses_the_summary_of_entries_it_shares(scene: Scene) -> None:
    entries = scene.append(*turns(5, 60)).entry_ids
    scene.compact()
    scene.work()
    assert scene.layout[0] == "summary 1-5"
    scene.move(entries[8])
    scene.append(assistant(60))
    step = scene.compact()
    assert [made.reason for made in step.made] == ["summary"]
    assert step.request is None
    assert scene.layout[0] == "summary 1-5"
    assert scene.states == ["succeeded"]


def test_a_summary_is_never_shown_for_entries_of_another_branch(scene: Scene) -> None:
    shared = scene.append(*turns(1, 60)).entry_ids[-1]
    scene.append(*turns(4, 60))
    scene.compact()
    scene.work()
    assert scene.layout[0] == "summary 1-5"
    scene.move(shared)
    scene.append(*[user(60, " other"), assistant(60)] * 4)
    scene.compact()
    claim = scene.claimed()
    assert (claim.wanted.covered.first, claim.wanted.covered.last) == (1, 5)
    assert " other" in claim.request.messages[2].text


def test_publishing_twice_changes_nothing(scene: Scene) -> None:
    scene.append(*turns(7, 60))
    claim = scene.claimed()
    assert scene.publish(claim) == "succeeded"
    before = scene.layout, scene.path.session.version
    assert scene.publish(claim) == "succeeded"
    assert (scene.layout, scene.path.session.version) == before


def test_a_summary_of_nothing_or_of_too_much_fails_visibly(scene: Scene) -> None:
    scene.append(*turns(7, 60))
    publish.publish(scene.store, scene.claimed(), SummaryDraft(" \n", degraded=False, summarizer="scripted"))
    (state,) = scene.states
    assert state.startswith("failed: the summary")
    assert scene.layout[0] == "user 1"


def test_a_summary_longer_than_what_it_replaces_takes_out_no_more_than_the_trigger_needs(new_scene: NewScene) -> None:
    """Where the policy counts by itself, its program would keep what is not due."""
    scene = new_scene(6_000, policy={"preset": "neurolink"})
    scene.append(*turns(60, 60))
    claim = scene.claimed()
    while scene.used < scene.path.goals().limit - 100:
        scene.append(user(30), assistant(30))
    goals = scene.path.goals()
    assert scene.publish(claim, tokens=claim.wanted.covered.max_tokens) == "succeeded"
    assert goals.trigger * 0.9 < scene.used <= goals.trigger
