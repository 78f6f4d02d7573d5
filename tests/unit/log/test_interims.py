"""Interim summaries: what stands for hidden messages from the moment they are hidden, until a job's summary does."""

from __future__ import annotations

from typing import Any

import pytest

from foldline.engine.formats import FORMATS
from foldline.engine.policies.presets import PRESETS
from foldline.engine.tokens.counter import count_text
from foldline.engine.wording import INTERIM_BEGIN
from foldline.log.jobs import endings
from foldline.log.use_cases import lifecycle
from foldline.log.use_cases.append import NEWEST, prepare
from tests.support.log.scenes import NewScene
from tests.support.log.sessions import RESERVE_TOKENS, Clock, Scene, assert_consistent, assistant, user, words

LIMIT = 4_000
RULE = "Never push to the branch release-7 without asking Dana first."


def say(text: str, tokens: int = 0) -> dict[str, object]:
    """A user message with this text, in a paragraph of its own, and filler of so many tokens."""
    return {"role": "user", "content": f"{words(tokens)}\n\n{text}" if tokens else text}


def text_of(message: dict[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "\n".join(part["text"] for part in content)


def interims(scene: Scene) -> list[str]:
    """The interim summaries in view."""
    return [text for message in scene.wire() if INTERIM_BEGIN.match(text := text_of(message))]


def crowded(new_scene: NewScene, policy: dict[str, object] | None = None) -> Scene:
    """A session that had to hide its oldest messages, one of which has a rule."""
    scene = new_scene(LIMIT, policy=policy)
    scene.append(say(RULE, 100), assistant(300), say("Please port the parser in src/parse.py to Rust."), assistant(300))
    for number in range(12):
        scene.append(say(f"The port of the server number {number} is {8100 + number}.", 300), assistant(100))
    return scene


def test_what_a_plan_hides_has_its_ledger_in_its_place(new_scene: NewScene) -> None:
    scene = crowded(new_scene)

    (text,) = interims(scene)
    assert RULE in text
    assert "src/parse.py" in text
    assert scene.layout[0].startswith("hidden 1-")
    assert scene.used <= LIMIT
    assert scene.pending > 0
    assert_consistent(scene)


def test_one_that_was_made_for_a_larger_window_is_made_anew_for_a_smaller_one(new_scene: NewScene) -> None:
    scene = crowded(new_scene)
    # It takes all but the last message out of view.
    scene.append(say("Read this.", 3_300))
    scene.append(say("And now?", 700))
    assert len(scene.layout) == 2
    (large,) = interims(scene)
    limit = 700 + count_text(large) // 2
    with scene.store.write() as tx:
        lifecycle.change(tx, scene.tenant, scene.id, {"context_window": limit + RESERVE_TOKENS})

    (small,) = interims(scene)
    assert scene.used <= limit < 700 + count_text(large)
    assert RULE in small
    live = scene.live
    with scene.store.write() as tx:
        lifecycle.change(tx, scene.tenant, scene.id, {"context_window": limit + RESERVE_TOKENS})
    assert scene.live == live
    assert_consistent(scene)


def test_a_summary_takes_the_place_of_an_interim_one(new_scene: NewScene) -> None:
    scene = crowded(new_scene)

    assert scene.work() == ["succeeded"]

    assert scene.layout[0].startswith("summary 1-")
    assert interims(scene) == []
    assert_consistent(scene)


def test_an_interim_summary_of_a_longer_run_carries_on_what_the_last_one_knew(new_scene: NewScene) -> None:
    scene = crowded(new_scene)
    before = scene.layout[0]

    for number in range(40):
        scene.append(say(f"Step {number} is done.", 300), assistant(100))

    assert scene.layout[0] != before
    (text,) = interims(scene)
    assert RULE in text
    assert_consistent(scene)


def test_undo_takes_an_interim_summary_back_and_redo_restores_it(new_scene: NewScene) -> None:
    scene = crowded(new_scene)
    shown = scene.wire()

    scene.undo(scene.live[0])
    assert not [text for message in scene.wire(must_fit=False) if INTERIM_BEGIN.match(text := text_of(message))]
    scene.redo()

    assert scene.wire() == shown
    assert_consistent(scene)


def test_a_target_that_a_caller_names_has_room_for_the_interim_summary(new_scene: NewScene) -> None:
    scene = new_scene(LIMIT)
    scene.append(*[say(f"Table {number} has {number + 20} rows.", 60) for number in range(30)])

    scene.compact(target_tokens=1_000, stages=["truncate"])

    (text,) = interims(scene)
    assert "Table" in text
    assert scene.used <= 1_000


def test_a_marker_says_how_many_messages_are_hidden_where_there_is_no_room_for_more(new_scene: NewScene) -> None:
    scene = new_scene(150)
    scene.append(*[user(50)] * 4)

    assert scene.layout == ["hidden 1-3", "user 4"]
    assert text_of(scene.wire()[0]) == "[3 earlier messages are out of view. The originals are kept.]"
    assert scene.used == 72


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_says_what_it_hides(preset: str, new_scene: NewScene) -> None:
    scene = crowded(new_scene, {"preset": preset})

    assert any(line.startswith("hidden") for line in scene.layout)
    assert interims(scene)
    assert RULE in "\n".join(map(text_of, scene.wire()))


def test_with_the_summarizer_down_for_an_hour_each_view_has_rules_requests_and_newest_values(
    new_scene: NewScene, clock: Clock
) -> None:
    scene = new_scene(LIMIT)
    scene.append(say(RULE), say("Later, also write the release notes for version 3.2."), assistant(20))
    for minute in range(60):
        scene.append(say(f"The time-out is {minute + 30} seconds now, instead of {minute + 29} seconds.", 200))
        scene.append(assistant(150))
        clock.advance(60)
        while (claim := scene.claim()) is not None:
            endings.fail(scene.store, claim, "the provider answers 503")
        shown = "\n".join(text_of(message) for message in scene.wire())
        assert RULE in shown
        assert "release notes" in shown
        assert f"{minute + 30} seconds" in shown
        assert "not ready" not in shown
    assert scene.pending > 0
    assert set(scene.states) <= {"failed: the provider answers 503", "queued", "superseded"}
    assert count_text("".join(interims(scene))) < LIMIT // 2


def test_where_there_is_room_for_rules_alone_they_are_shown(new_scene: NewScene) -> None:
    scene = new_scene(1_000)
    scene.append(say("Never push to main without asking me.", 40), assistant(100), user(900))

    assert scene.layout[-1] == "user 3"
    assert "Never push to main without asking me." in "\n".join(map(text_of, scene.wire()))


def test_items_of_what_may_be_hidden_at_once_are_found_before_a_lock_is_taken() -> None:
    said = [*(say(f"{RULE} {number}") for number in range(NEWEST + 1)), say(RULE, 20_000)]
    has_items = [prepared.ledger is not None for prepared in prepare(FORMATS["openai"].parse(said))]
    assert has_items == [True, True, *[False] * (NEWEST - 1), True]


def test_a_message_that_equals_another_is_prepared_as_if_it_did_not() -> None:
    said = FORMATS["openai"].parse([say(RULE), say("Go on."), say(RULE), *[say("Go on.")] * NEWEST])
    together = prepare(said)
    assert [prepared.message for prepared in together] == said
    for prepared in together:
        (alone,) = prepare([prepared.message])
        assert (prepared.facts, prepared.body) == (alone.facts, alone.body)
    assert together[2] is together[0]


def test_equal_bodies_of_results_that_answer_other_calls_are_prepared_each() -> None:
    calls = [{"functionCall": {"name": "write", "args": {"path": path}}} for path in ("a", "b")]
    answers = [{"functionResponse": {"name": "write", "response": {"output": "ok"}}}] * 2
    said = FORMATS["gemini"].parse([{"role": "model", "parts": calls}, {"role": "user", "parts": answers}])
    filler = FORMATS["openai"].parse([say("Go on.")] * NEWEST)
    _, first, second, *_ = prepare([*said, *filler])
    assert first.body == second.body
    assert (first.facts.answers, second.facts.answers) == ("write", "write_2")
    assert first.ledger != second.ledger
