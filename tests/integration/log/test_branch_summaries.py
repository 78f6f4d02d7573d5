"""Branch summaries as entries: where they are added, what the API lists of them, and which summaries cover them."""

from __future__ import annotations

from typing import Any

import pytest

from foldline.engine import wording
from foldline.engine.formats import rules
from foldline.engine.summaries.extractive import summarize
from foldline.engine.summaries.prompt import SummaryDraft
from foldline.engine.tokens.estimates import ESTIMATES
from foldline.log.jobs import publish
from foldline.log.use_cases import entries, history, views
from tests.support.log.scenes import NewScene
from tests.support.log.sessions import Scene, assistant, calls, result, roles, span, touching, turns, user


@pytest.fixture
def scene(new_scene: NewScene) -> Scene:
    """A session whose branches are read whole when they are left."""
    return new_scene(policy={"branch_reserve_tokens": 0})


def details(scene: Scene) -> list[dict[str, list[str]]]:
    """The summary facts of the compactions on the path that have a summary, oldest first."""
    with scene.store.read() as tx:
        listed = history.compactions(tx, scene.tenant, scene.id)
    return [compaction.summary_facts["details"] for compaction in listed if compaction.summary_facts]


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
    assert (span(claim), roles(claim)) == ((4, 5), ["tool", "assistant"])
    assert scene.publish(claim) == "succeeded"
    assert (scene.layout, scene.path.open_calls) == (["user 1", "batch 2-4"], ["b"])
    scene.append(result("b", 20))
    assert (scene.layout, scene.path.open_calls) == (["user 1", "batch 2-5"], [])
    shown = scene.wire()
    assert [message["role"] for message in shown] == ["user", "assistant", "tool", "tool", "user"]
    assert wording.BRANCH in str(shown[-1]["content"])
    assert rules.check("openai", shown, None) == []


def test_a_summary_in_an_open_batch_is_estimated_as_it_stands_in_the_view(new_scene: NewScene) -> None:
    """It stays behind the results as one that came late does, and is not quoted as one."""
    scene = new_scene(2_000, policy={"preset": "pi", "branch_reserve_tokens": 0})
    said = scene.append(user(20), calls("a", "b"), result("a", 20), result("b", 30), assistant(60)).entry_ids
    scene.leave(said[2])
    scene.work()
    scene.append(result("b", 20))
    with scene.store.read() as tx:
        shown = views.view(tx, scene.tenant, scene.id).messages
    measured = scene.outline.measured(scene.path.aims().gauge.measure)
    assert measured.tokens == ESTIMATES["pi"].of_conversation(shown)


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
    said = scene.append(user(20), assistant(400)).entry_ids
    scene.move(said[0])
    target = scene.append(assistant(60), *turns(6, 60)).entry_ids[-1]
    scene.move(said[-1])
    scene.leave(target)
    assert scene.publish(scene.claimed(), tokens=400) == "succeeded"
    assert scene.used <= scene.limit
    assert (scene.layout[0], scene.layout[-1]) == ("hidden 1-10", "note 15")
    assert [record.body["reason"] for record in scene.records] == ["branch"]


def body_of(scene: Scene, entry_id: str) -> dict[str, Any]:
    with scene.store.read() as tx:
        body: dict[str, Any] = entries.entry(tx, scene.tenant, scene.id, entry_id).body
    return body


def test_a_branch_summary_names_an_entry_that_exists(scene: Scene) -> None:
    """Also if nothing was said on the branch that was left: its last entry is another branch's."""
    said = scene.append(*turns(3, 60)).entry_ids
    scene.move(said[3])
    scene.leave(said[1])
    scene.work()
    assert body_of(scene, scene.entries[-1])["from"] == said[3]


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


def test_a_branch_summary_lists_the_files_of_the_summaries_it_was_made_of(scene: Scene) -> None:
    left_with_files(scene)
    assert scene.layout == ["user 1", "user 2", "note 3"]
    body = body_of(scene, scene.entries[-1])
    assert body["details"] == {"read_files": ["first.py"], "modified_files": ["second.py"]}
    assert (body["from"], body["from_hook"]) == ("e1-5", None)
    assert body["summary"] == " two" * 40


def test_a_compaction_that_covers_a_branch_summary_lists_its_files(scene: Scene) -> None:
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
    message_read = next(message for message in claim.request.messages if message.role == "developer")
    assert message_read.text.endswith(" other" * 40)
    assert wording.BRANCH in message_read.text


def test_the_extractive_summarizer_keeps_what_a_summary_of_a_branch_says(scene: Scene) -> None:
    said = scene.append(*turns(3, 60)).entry_ids
    scene.leave(said[1])
    text = "Decided: the parser stays in src/parser/legacy.py because of the frozen grammar."
    publish.publish(scene.store, scene.claimed(), SummaryDraft(text, degraded=False, summarizer="scripted"))
    scene.append(*turns(3, 60))
    scene.compact()
    assert "src/parser/legacy.py" in summarize(scene.claimed().request)
