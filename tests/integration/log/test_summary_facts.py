"""The facts of a summary in the list of compactions, and the lists of files below its text."""

from __future__ import annotations

import pytest

from foldline.engine.messages import JsonObject
from foldline.engine.recall import tool
from foldline.engine.summaries.prompt import SummaryDraft
from foldline.log.compaction.compactions import Compaction
from foldline.log.jobs import publish
from foldline.log.use_cases import history, lifecycle
from tests.support.log.scenes import NewScene
from tests.support.log.sessions import Scene, assistant, touching, turns, user

FILES = {"read_files": ["b.py"], "modified_files": ["a.py"]}
LISTS = "<read-files>\nb.py\n</read-files>\n\n<modified-files>\na.py\n</modified-files>"


@pytest.fixture
def pi(new_scene: NewScene) -> Scene:
    return new_scene(2_000, policy={"preset": "pi"})


def listed(scene: Scene) -> list[Compaction]:
    with scene.store.read() as tx:
        return history.compactions(tx, scene.tenant, scene.id)


def with_files(scene: Scene) -> Scene:
    """A session whose first messages touch two files."""
    scene.append(user(60), *touching("a", "write_file", "a.py"), *touching("b", "read_file", "b.py"))
    return scene


def test_the_files_stand_below_a_summary_in_views_and_not_in_what_the_next_one_is_made_of(pi: Scene) -> None:
    with_files(pi).append(*turns(8, 60))
    pi.compact()
    claim = pi.claimed()
    assert claim.request.max_tokens < claim.wanted.covered.max_tokens
    assert pi.publish(claim, tokens=10_000) == "succeeded"
    shown = str(pi.wire()[0]["content"])
    assert f" gist gist\n\n{LISTS}" in shown
    pi.append(*turns(4, 60))
    pi.compact()
    (previous,) = pi.claimed().request.previous
    assert set(previous.split()) == {"gist"}


def test_a_summary_that_lists_what_its_predecessor_did_lists_it_once(pi: Scene) -> None:
    with_files(pi).append(*turns(8, 60))
    for _ in range(2):
        pi.compact()
        assert pi.work() == ["succeeded"]
        pi.append(*touching("c", "edit_file", "c.py"), *turns(4, 60))
    shown = str(pi.wire()[0]["content"])
    assert [shown.count(name) for name in ("a.py", "b.py", "read-files", "modified-files")] == [1, 1, 2, 2]


def test_a_small_summary_has_no_room_for_lists(new_scene: NewScene) -> None:
    scene = with_files(new_scene(600, policy={"preset": "pi", "trigger": 1.0}))
    scene.append(*turns(3, 60))
    scene.compact()
    claim = scene.claimed()
    assert claim.request.max_tokens == claim.wanted.covered.max_tokens
    scene.publish(claim)
    assert "a.py" not in str(scene.wire()[0]["content"])
    assert listed(scene)[-1].summary_facts["details"] == FILES


def test_other_presets_add_no_lists_of_files_and_report_the_files(scene: Scene) -> None:
    with_files(scene).append(*turns(5, 60))
    scene.compact()
    scene.work()
    assert scene.layout[0].startswith("summary 1-")
    assert "a.py" not in str(scene.wire()[0]["content"])
    assert listed(scene)[-1].summary_facts["details"] == FILES


def test_the_summary_of_a_branch_has_the_lists_too(new_scene: NewScene) -> None:
    scene = new_scene(2_000, policy={"preset": "pi", "branch_reserve_tokens": 0})
    said = scene.append(user(60)).entry_ids
    with_files(scene).append(assistant(400))
    scene.leave(said[0])
    assert scene.work() == ["succeeded"]
    assert LISTS in str(scene.wire()[-1]["content"])


def test_a_summarys_files_are_those_of_all_it_covers_also_of_summaries_it_replaces(scene: Scene) -> None:
    with_files(scene).append(*turns(4, 60), *touching("c", "write_file", "later.py"))
    scene.compact()
    scene.work()
    scene.append(*touching("d", "edit_file", "b.py"), *turns(4, 60))
    scene.compact()
    scene.work()
    first, second = (compaction.summary_facts for compaction in listed(scene))
    assert first["details"] == FILES
    assert second["details"] == {"read_files": [], "modified_files": ["a.py", "b.py", "later.py"]}


def test_the_first_entry_after_a_summarys_range_is_reported(scene: Scene) -> None:
    said = scene.append(*turns(5, 60)).entry_ids
    scene.compact()
    scene.work()
    assert scene.layout[0] == "summary 1-5"
    assert listed(scene)[0].summary_facts == {
        "first_kept_entry_id": said[5],
        "details": {"read_files": [], "modified_files": []},
        "from_hook": None,
    }


def test_what_stays_before_a_summary_is_not_the_first_that_is_kept_after_it(scene: Scene) -> None:
    said = scene.append(user(60), *[assistant(60)] * 10).entry_ids
    scene.compact()
    scene.work()
    assert scene.layout[:2] == ["user 1", "summary 2-6"]
    assert listed(scene)[0].summary_facts["first_kept_entry_id"] == said[6]


def test_an_inline_compaction_has_no_summary_facts(scene: Scene) -> None:
    scene.append(*turns(5, 60))
    scene.compact(summarize=False, target_tokens=300)
    assert [compaction.summary_facts for compaction in listed(scene)] == [{}]


def test_a_hooks_summary_is_listed_with_the_hook_and_its_details(scene: Scene) -> None:
    scene.append(*turns(5, 60))
    scene.compact()
    more = {"ticket": 7, "read_files": ["made.up"]}
    publish.publish(
        scene.store, scene.claimed(), SummaryDraft("Said.", degraded=False, summarizer="hook notes", details=more)
    )
    facts = listed(scene)[0].summary_facts
    assert facts["from_hook"] == "notes"
    assert facts["details"] == {"ticket": 7, "read_files": [], "modified_files": []}


@pytest.mark.parametrize(
    ("tools", "called", "named"),
    [
        ([tool.definition("anthropic")], "grep", "The tool recall quotes"),
        ([{"name": "mcp__foldline__recall", "description": tool.DESCRIPTION}], "grep", "mcp__foldline__recall"),
        ([], "recall", "The tool recall quotes"),
        ([], "foldline_recall", "The tool foldline_recall quotes"),
        ([], "grep", None),
        ([{"name": "recall", "description": "Calls a number again."}], "recall", None),
    ],
)
def test_a_summary_names_the_recall_tool_where_the_session_has_or_uses_it(
    new_scene: NewScene, tools: list[JsonObject], called: str, named: str | None
) -> None:
    scene = new_scene(3_000)
    with scene.store.write() as tx:
        lifecycle.change(tx, scene.tenant, scene.id, {"tools": tools})
    scene.append(*touching("a", called, "a.py"), *turns(12, 60))
    scene.compact()
    claim = scene.claimed()
    assert scene.publish(claim) == "succeeded"
    shown = str(scene.wire()[0]["content"])
    assert named in shown if named else "in these messages.]" not in shown
