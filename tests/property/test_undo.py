"""In any session, undo gives back the originals and redo the view before the undo, and the kept totals are right."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeAlias

from hypothesis import event, given
from hypothesis import strategies as st

from foldline.engine.formats import FORMATS
from foldline.engine.policies.presets import PRESETS
from foldline.engine.tokens.counter import count_messages
from foldline.log.errors import Conflict, RedoSuperseded
from tests.support.log.sessions import Scene, Wire, assert_consistent, open_store
from tests.support.processes.databases import sqlite_database
from tests.support.transcripts import anthropic_wire_messages, wire_messages

Act: TypeAlias = Callable[[Scene], Any]
# The preset of a session, the operations between appends, and its budget as a share of its messages' tokens.
Life: TypeAlias = tuple[str, list[tuple[int, Act]], float]

# The smallest budget in which a session without fixed parts can work.
SMALLEST_LIMIT: Final = 150


def undo_one(scene: Scene) -> None:
    live = scene.live
    if live:
        scene.undo(live[len(live) // 2])


def undo_all(scene: Scene) -> None:
    if scene.live:
        scene.undo(scene.live[0])


def redo(scene: Scene) -> None:
    try:
        scene.redo()
    except (Conflict, RedoSuperseded):
        return


def nothing(_scene: Scene) -> None:
    return


ACTS: Final[tuple[Act, ...]] = (
    nothing,
    lambda scene: scene.work(),
    lambda scene: scene.work(200),
    lambda scene: scene.compact(),
    lambda scene: scene.compact(summarize=False, target_tokens=100),
    undo_one,
    undo_all,
    redo,
)


def renamed(parts: list[list[Wire]]) -> list[Wire]:
    """One transcript made of several, with distinct call ids."""
    return [_renamed(message, f"_{number}") for number, part in enumerate(parts) for message in part]


def _renamed(message: Wire, suffix: str) -> Wire:
    content = message["content"]
    if isinstance(content, str):
        return message
    names = ("id", "tool_use_id")
    blocks = [{key: value + suffix if key in names else value for key, value in block.items()} for block in content]
    return {**message, "content": blocks}


# One operation after each append; often a worker's.
PLANS = st.lists(st.tuples(st.integers(1, 5), st.sampled_from(ACTS)), min_size=4, max_size=12)
LIVES = st.tuples(st.sampled_from(list(PRESETS)), PLANS, st.sampled_from((0.2, 0.4, 0.7, 1.5)))
OPENAI = wire_messages(min_turns=2, max_turns=7)
ANTHROPIC = st.lists(anthropic_wire_messages(), min_size=1, max_size=2).map(renamed)


@contextmanager
def played(messages: list[Wire], format_name: str, life: Life) -> Iterator[Scene]:
    """A session of these messages after some operations."""
    preset, plan, share = life
    tokens = count_messages(FORMATS[format_name].parse(messages))
    with sqlite_database() as url, open_store(url) as store:
        scene = Scene(store, max(SMALLEST_LIMIT, int(tokens * share)), policy={"preset": preset})
        steps = iter(plan)
        start = 0
        while start < len(messages):
            size, act = next(steps, (3, nothing))
            scene.append(*messages[start : start + size], format_name=format_name)
            act(scene)
            start += size
        event(f"compactions: {min(3, len(scene.live))}")
        yield scene


def shown(scene: Scene, format_name: str) -> tuple[list[str], list[Wire]]:
    return scene.layout, scene.wire(format_name, must_fit=False)


def assert_undo_gives_the_originals(scene: Scene, messages: list[Wire], format_name: str) -> None:
    undo_all(scene)
    assert scene.live == []
    assert scene.pending == 0
    assert scene.wire(format_name, must_fit=False) == messages
    assert_consistent(scene)


@given(OPENAI, LIVES)
def test_undoing_everything_gives_the_originals_byte_for_byte(messages: list[Wire], life: Life) -> None:
    with played(messages, "openai", life) as scene:
        assert_undo_gives_the_originals(scene, messages, "openai")


@given(ANTHROPIC, LIVES)
def test_undoing_everything_gives_the_originals_of_anthropic_messages_too(messages: list[Wire], life: Life) -> None:
    with played(messages, "anthropic", life) as scene:
        assert_undo_gives_the_originals(scene, messages, "anthropic")


@given(OPENAI, LIVES, st.sampled_from((undo_one, undo_all)))
def test_redo_restores_what_was_shown_before_the_undo(messages: list[Wire], life: Life, undo: Act) -> None:
    with played(messages, "openai", life) as scene:
        before = shown(scene, "openai"), scene.live
        undo(scene)
        # A kept summary may cover at once what an undo leaves pending; after that there is no redo.
        if before[1] and scene.records[-1].kind == "undo":
            scene.redo()
            assert (shown(scene, "openai"), scene.live) == before
            assert_consistent(scene)


@given(OPENAI, LIVES, st.data())
def test_kept_totals_and_segments_are_right_on_every_branch(
    messages: list[Wire], life: Life, data: st.DataObject
) -> None:
    with played(messages, "openai", life) as scene:
        assert_consistent(scene)
        for _ in range(3):
            scene.move(data.draw(st.sampled_from(scene.entries)))
            scene.append({"role": "user", "content": " fold" * data.draw(st.integers(0, 80))})
            data.draw(st.sampled_from(ACTS))(scene)
            assert_consistent(scene)
