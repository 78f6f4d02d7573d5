"""A provider's reported usage in place of the policy's estimate: how long it holds, and which policies trust it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import pytest

from foldline.engine.policies.presets import PRESETS
from foldline.engine.tokens.estimates import ESTIMATES
from foldline.log.compaction.usage import Usage
from foldline.log.use_cases import lifecycle, pins, stats
from foldline.log.use_cases.stats import Stats
from tests.support.log.scenes import NewScene
from tests.support.log.sessions import Scene, Wire, assistant, batch, calls, result, turns, user, words
from tests.support.processes.databases import only_sqlite

# Which report is trusted does not depend on where it is stored.
database_kind = only_sqlite

PI = ESTIMATES["pi"]
# By the estimate, an empty list of tools is a token.
NO_TOOLS = 1
# One way to have another view than the one that was reported of.
Change: TypeAlias = Callable[[Scene], Any]


@pytest.fixture
def scene(new_scene: NewScene) -> Scene:
    """A session that trusts what is reported: a budget of 2,000 tokens, which is the trigger too."""
    return new_scene(2_000, policy={"preset": "pi"})


def estimated(*tokens: int) -> int:
    """What texts of so many tokens take by the estimate of pi."""
    return sum(PI.text(words(number)) for number in tokens)


def report(scene: Scene, input_tokens: int, *messages: Wire, **more: Any) -> None:
    """Append with what was reported of the view as it is."""
    usage = Usage(**{"version": scene.path.session.version, "input": input_tokens, **more})
    scene.append(*messages, usage=usage)


def change(scene: Scene, **changes: Any) -> None:
    with scene.store.write() as tx:
        lifecycle.change(tx, scene.tenant, scene.id, changes)


def stats_of(scene: Scene, **options: Any) -> Stats:
    with scene.store.read() as tx:
        return stats.stats(tx, scene.tenant, scene.id, **options)


def counted(scene: Scene) -> int:
    """The tokens of the history."""
    return stats_of(scene).counted_tokens


def whole(scene: Scene) -> int:
    """The tokens of a view without fixed parts."""
    return counted(scene) + NO_TOOLS


def test_a_report_and_the_estimate_of_what_came_after_it_are_what_the_view_takes(scene: Scene) -> None:
    scene.append(user(60))
    report(scene, 300, assistant(60), output=80)
    assert whole(scene) == 380
    scene.append(user(40), assistant(20))
    assert whole(scene) == 380 + estimated(40, 20)
    report(scene, 700, assistant(10), output=15)
    assert whole(scene) == 715


def test_an_answer_that_was_not_reported_is_estimated(scene: Scene) -> None:
    scene.append(user(60))
    report(scene, 300, assistant(60))
    assert whole(scene) == 300 + estimated(60)


def test_a_report_of_an_answer_counts_for_nothing_before_a_question(scene: Scene) -> None:
    scene.append(user(60))
    report(scene, 300, user(60), output=80)
    assert whole(scene) == 300 + estimated(60)


def test_a_report_without_messages_is_of_the_view_alone(scene: Scene) -> None:
    scene.append(user(60))
    report(scene, 300, output=80)
    assert whole(scene) == 300


def test_of_an_answer_with_calls_what_was_reported_covers_the_calls_and_not_their_results(scene: Scene) -> None:
    scene.append(user(60))
    report(scene, 300, *batch("a", 40), output=30)
    assert whole(scene) == 330 + estimated(40)
    scene.append(assistant(20))
    assert whole(scene) == 330 + estimated(40, 20)


def test_the_stub_of_a_call_that_gets_no_result_comes_after_the_report(scene: Scene) -> None:
    scene.append(user(60))
    report(scene, 300, calls("a", "b"), result("a", 40), output=30)
    scene.append(user(20))
    stub = scene.path.aims().gauge.measure.stub
    assert whole(scene) == 330 + estimated(40, 20) + stub


def test_what_came_after_a_report_is_found_again_also_where_that_ends_within_a_batch(scene: Scene) -> None:
    """The figure is not kept for the models of another provider; this estimate is the same for them."""
    scene.append(user(60))
    report(scene, 300, calls("a", "b"), result("a", 40), output=30)
    assert stats_of(scene, model="anthropic/claude-opus-4").counted_tokens == counted(scene)
    scene.append(user(20))
    assert stats_of(scene, model="anthropic/claude-opus-4").counted_tokens == counted(scene)


def test_what_is_in_every_view_is_no_part_of_the_history_that_was_reported(new_scene: NewScene) -> None:
    system = words(100)
    scene = new_scene(2_000, system=system, policy={"preset": "pi"})
    scene.append(user(60))
    report(scene, 500, assistant(60), output=80)
    assert counted(scene) == 580 - PI.text(system) - NO_TOOLS
    report(scene, 10, assistant(1))
    assert counted(scene) == estimated(1)


@pytest.mark.parametrize(("input_tokens", "states"), [(1_800, []), (1_801, ["queued"])])
def test_the_trigger_goes_by_the_report(scene: Scene, input_tokens: int, states: list[str]) -> None:
    scene.append(*turns(8, 60), user(60))
    assert counted(scene) < 2_000
    report(scene, input_tokens, assistant(60), output=200)
    assert scene.states == states


@pytest.mark.parametrize(("input_tokens", "is_over"), [(1_800, False), (1_801, True)])
def test_statistics_go_by_the_report(scene: Scene, input_tokens: int, *, is_over: bool) -> None:
    change(scene, auto_compact=False)
    scene.append(*turns(8, 60), user(60))
    report(scene, input_tokens, assistant(60), output=200)
    assert (stats_of(scene).should_compact, scene.states) == (is_over, [])


def test_a_report_that_is_lower_than_the_estimate_puts_the_trigger_off(scene: Scene) -> None:
    scene.append(*turns(10, 60), user(60))
    report(scene, 1_000, assistant(60), output=80)
    scene.append(*turns(4, 60))
    assert estimated(*[60] * 30) > 2_000
    assert (whole(scene), scene.states) == (1_080 + estimated(*[60] * 8), [])


@pytest.mark.parametrize(("reserve_tokens", "states"), [(500, []), (501, ["queued"])])
def test_the_trigger_leaves_the_reserve_of_the_policy_free(
    new_scene: NewScene, reserve_tokens: int, states: list[str]
) -> None:
    """Of a window of 2,100 tokens."""
    scene = new_scene(2_000, policy={"preset": "pi", "reserve_tokens": reserve_tokens})
    change(scene, max_output_tokens=None)
    scene.append(*turns(7, 60), user(60))
    report(scene, 1_400, assistant(60), output=200)
    assert (scene.states, stats_of(scene).trigger_tokens) == (states, 2_100 - reserve_tokens - NO_TOOLS)


REPORTS_OF_OTHERS: dict[str, dict[str, Any]] = {
    "an older version": {"version": 2},
    "another model": {"model": "openai/gpt-4.1"},
    "nothing": {"input": 0},
}


@pytest.mark.parametrize("of", REPORTS_OF_OTHERS)
def test_a_report_of_something_else_is_ignored(scene: Scene, of: str) -> None:
    scene.append(user(60))
    scene.append(assistant(60))
    usage = {"version": 3, "input": 900, **REPORTS_OF_OTHERS[of]}
    scene.append(user(60), usage=Usage(**usage))
    assert counted(scene) == estimated(60, 60, 60)


def test_a_report_of_something_else_leaves_the_one_before_it(scene: Scene) -> None:
    scene.append(user(60))
    report(scene, 300, assistant(60), output=80)
    report(scene, 900, user(60), model="openai/gpt-4.1")
    assert whole(scene) == 380 + estimated(60)


def test_a_report_that_names_the_sessions_model_is_taken(scene: Scene) -> None:
    scene.append(user(60))
    report(scene, 300, assistant(60), output=80, model="openai/gpt-4o")
    assert whole(scene) == 380


def test_a_report_of_a_provider_that_counts_its_cache_apart_is_of_all_together(scene: Scene) -> None:
    change(scene, model="anthropic/claude-opus-4")
    scene.append(user(60))
    report(scene, 100, assistant(60), output=80, cache_read=150, cache_write=50)
    assert whole(scene) == 380


def compacted(scene: Scene) -> None:
    scene.compact()
    assert scene.work() == ["succeeded"]


def test_no_report_from_before_an_edit_is_trusted_after_it(scene: Scene) -> None:
    edits: tuple[Change, ...] = (compacted, lambda scene: scene.undo(scene.live[-1]), Scene.redo)
    scene.append(*turns(5, 60), user(60))
    for edit in edits:
        report(scene, 1_500)
        assert whole(scene) == 1_500
        edit(scene)
        assert counted(scene) == scene.outline.measured(scene.path.aims().gauge.measure).tokens < 1_000


def test_an_inline_compaction_forgets_the_report_too(scene: Scene) -> None:
    scene.append(*turns(5, 60), user(60))
    report(scene, 1_500, assistant(60), output=10)
    scene.compact(target_tokens=300, summarize=False, stages=["truncate"])
    assert counted(scene) < 1_000


def test_a_report_of_before_a_compaction_that_came_meanwhile_is_ignored(scene: Scene) -> None:
    scene.append(*turns(6, 60))
    version = scene.path.session.version
    compacted(scene)
    after = counted(scene)
    scene.append(user(60), usage=Usage(version, 1_900))
    assert counted(scene) == after + estimated(60)


CHANGES: dict[str, Change] = {
    "the system prompt": lambda scene: change(scene, system="Be brief."),
    "the tools": lambda scene: change(scene, tools=[{"type": "function", "function": {"name": "ls"}}]),
    "the model": lambda scene: change(scene, model="openai/gpt-4.1"),
    "the policy's counter": lambda scene: change(scene, policy={"counter": "chars4"}),
    "the policy's trust": lambda scene: change(scene, policy={"trusts_usage": False}),
    "the pins": lambda scene: scene.pin(5),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_report_is_forgotten_once_something_else_is_changed(scene: Scene, what: str) -> None:
    """On every branch: what stands before the history is another for all of them."""
    said = scene.append(user(60)).entry_ids
    report(scene, 1_000, assistant(60), output=80)
    here = scene.entries[-1]
    scene.move(said[0])
    report(scene, 1_200, assistant(60), output=80)
    CHANGES[what](scene)
    assert counted(scene) == estimated(60, 60)
    scene.move(here)
    assert counted(scene) == estimated(60, 60)


def test_a_report_is_forgotten_when_a_pin_is_removed(scene: Scene) -> None:
    scene.pin(5)
    scene.append(user(60))
    report(scene, 1_000, assistant(60), output=80)
    with scene.store.write() as tx:
        (pin,) = pins.pins(tx, scene.tenant, scene.id)
        pins.remove(tx, scene.tenant, scene.id, pin.id)
    assert counted(scene) == estimated(60, 60)


KEEPING: dict[str, Change] = {
    "the same system prompt": lambda scene: change(scene, system=None),
    "another window": lambda scene: change(scene, context_window=4_000),
    "another target": lambda scene: change(scene, policy={"target": 0.4}),
}


@pytest.mark.parametrize("what", KEEPING)
def test_a_report_is_kept_where_the_view_is_still_the_same(scene: Scene, what: str) -> None:
    scene.append(user(60))
    report(scene, 1_000, assistant(60), output=80)
    KEEPING[what](scene)
    assert whole(scene) == 1_080


def test_a_report_of_a_branch_is_kept_while_another_one_is_in_use(scene: Scene) -> None:
    said = scene.append(user(60)).entry_ids
    report(scene, 300, assistant(60), output=80)
    here = scene.entries[-1]
    scene.move(said[0])
    assert counted(scene) == estimated(60)
    scene.append(user(20))
    scene.move(here)
    assert whole(scene) == 380


def test_the_summary_of_a_branch_comes_after_the_report(scene: Scene) -> None:
    said = scene.append(user(60)).entry_ids
    scene.append(assistant(60))
    scene.leave(said[0])
    scene.append(user(20))
    report(scene, 300, assistant(60), output=80)
    scene.work()
    measure = scene.path.aims().gauge.measure
    placed = scene.outline.measured(measure).items[-1]
    assert placed.original_tokens > 40
    assert whole(scene) == 380 + placed.original_tokens


@pytest.mark.parametrize("preset", [name for name, policy in PRESETS.items() if not policy.trusts_usage])
def test_other_presets_go_by_their_own_count(new_scene: NewScene, preset: str) -> None:
    """What was reported moves the multiplier, by which the exact count is scaled, and nothing else."""
    said: list[int] = []
    for name in ("silent", "reported"):
        scene = new_scene(4_000, id=name, policy={"preset": preset})
        scene.append(user(60))
        usage = Usage(scene.path.session.version, 64, output=900) if name == "reported" else None
        scene.append(assistant(60), user(20), usage=usage)
        said.append(counted(scene))
    assert said[0] == said[1]


def test_a_policy_that_counts_exactly_has_no_use_for_a_report(new_scene: NewScene) -> None:
    scene = new_scene(4_000, policy={"trusts_usage": True})
    scene.append(user(60))
    report(scene, 64, assistant(60), output=900)
    assert counted(scene) == 128
