"""What reasoning is bound to when other things happen while the model works."""

from __future__ import annotations

import pytest

from foldline.engine.overflow import verdict_of
from foldline.log.compaction.usage import Usage
from foldline.log.errors import CannotShrink
from foldline.log.use_cases import lifecycle, overflow, views
from tests.support.log.sessions import Scene, Wire, words

REFUSAL = "messages.1.content.0: Invalid `signature` in `thinking` block"
THINKING: Wire = {"type": "thinking", "thinking": "hm", "signature": "s"}


def ask(scene: Scene, tokens: int = 20) -> None:
    scene.append({"role": "user", "content": words(tokens)}, format_name="anthropic")


def answer(scene: Scene, version: int | None = None, tokens: int = 5) -> None:
    """An answer with signed reasoning by a model that had the view of this version."""
    usage = None if version is None else Usage(version, input=0)
    said = {"role": "assistant", "content": [THINKING, {"type": "text", "text": words(tokens)}]}
    scene.append(said, format_name="anthropic", usage=usage)


def refuse(scene: Scene) -> None:
    with scene.store.write() as tx:
        overflow.relieve(tx, scene.tenant, scene.id, verdict_of(REFUSAL), version=scene.path.session.version)


def shown(scene: Scene) -> tuple[int, dict[str, int]]:
    """The number of parts shown, and of those left out by reason."""
    with scene.store.read() as tx:
        found = views.view(tx, scene.tenant, scene.id, stub_open=True).shown.reasoning
    return found.parts, dict(found.parts_left_out)


def test_a_message_that_came_while_the_model_worked_is_not_what_it_saw(scene: Scene) -> None:
    ask(scene)
    version = scene.path.session.version
    ask(scene)
    answer(scene, version)
    assert shown(scene) == (0, {"unknown_view": 1})


def test_a_result_that_came_while_the_model_worked_is_not_what_it_saw(scene: Scene) -> None:
    ask(scene)
    call = {"type": "tool_use", "id": "a", "name": "run", "input": {}}
    scene.append({"role": "assistant", "content": [call]}, format_name="anthropic")
    version = scene.path.session.version
    result = {"type": "tool_result", "tool_use_id": "a", "content": "late"}
    scene.append({"role": "user", "content": [result]}, format_name="anthropic")
    answer(scene, version)
    assert shown(scene) == (0, {"unknown_view": 1})


def test_a_change_of_the_session_that_compacts_is_no_edit_alone(scene: Scene) -> None:
    for _ in range(6):
        ask(scene, 60)
        scene.append({"role": "assistant", "content": words(60)}, format_name="anthropic")
    version = scene.path.session.version
    with scene.store.write() as tx:
        step = lifecycle.change(tx, scene.tenant, scene.id, {"system": words(250)})[1]
    assert step.made
    answer(scene, version)
    scene.undo(step.made[-1].id)
    scene.resize(2_000)
    assert shown(scene) == (0, {"unknown_view": 1})


def test_a_published_summary_is_an_edit_alone(scene: Scene) -> None:
    for _ in range(6):
        ask(scene, 60)
        scene.append({"role": "assistant", "content": words(60)}, format_name="anthropic")
    ask(scene, 60)
    version = scene.path.session.version
    assert scene.publish(scene.claimed()) == "succeeded"
    answer(scene, version)
    assert shown(scene) == (0, {"compacted": 1})
    scene.undo(scene.live[-1])
    assert shown(scene) == (1, {})


def test_reasoning_that_was_refused_stays_out_when_an_older_compaction_is_undone(scene: Scene) -> None:
    for _ in range(4):
        ask(scene, 60)
        scene.append({"role": "assistant", "content": words(60)}, format_name="anthropic")
    older = scene.compact(summarize=False, target_tokens=300).made[0]
    answer(scene)
    refuse(scene)
    scene.undo(older.id)
    assert shown(scene) == (0, {"refused": 1})
    scene.redo()
    assert shown(scene) == (0, {"refused": 1})


def test_the_report_itself_can_be_taken_back(scene: Scene) -> None:
    ask(scene)
    answer(scene)
    refuse(scene)
    assert shown(scene) == (0, {"refused": 1})
    scene.undo(scene.live[-1])
    assert shown(scene) == (1, {})


def test_a_second_report_changes_nothing_and_says_so(scene: Scene) -> None:
    ask(scene)
    answer(scene)
    refuse(scene)
    version, live = scene.path.session.version, scene.live
    with pytest.raises(CannotShrink):
        refuse(scene)
    assert (scene.path.session.version, scene.live) == (version, live)
