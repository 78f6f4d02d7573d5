"""Windows of every size and all presets: over the trigger something is done, or the answer says why not.

Appends that do not plan again hold back no compaction of a view that does not fit, and no other one for long.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from foldline.engine.policies.presets import PRESETS
from foldline.log.compaction import trigger
from foldline.log.compaction.not_compacted import CHANGE_SHARE
from foldline.log.compaction.trigger import TriggerResult
from foldline.log.compaction.usage_estimate import fits
from foldline.log.errors import Conflict, RedoSuperseded
from foldline.log.job_state import ACTIVE
from foldline.log.jobs import endings
from foldline.log.storage import paths
from foldline.log.storage.rows import Path
from foldline.log.use_cases.append import Appended
from tests.support.log.sessions import Clock, Scene, assistant, calls, open_store, result, user
from tests.support.processes.databases import sqlite_database

Act: TypeAlias = Callable[[Scene, Clock], Any]

WINDOWS: Final = (
    8_000,
    128_000,
    *(pytest.param(window, marks=pytest.mark.thorough) for window in (32_000, 400_000, 800_000, 1_000_000)),
)
# Shorter views are planned each time.
LONG_MESSAGES: Final = 260
# The share of the window that they take: from there it is not far to any preset's trigger.
FIRST_SHARE: Final = 0.6
FRAMING: Final = 4
# Of each window; a message of a large window takes long to count.
EXAMPLES: Final = settings().max_examples // 2


def undo_newest(scene: Scene, _clock: Clock) -> None:
    if scene.live:
        scene.undo(scene.live[-1])


def undo_all(scene: Scene, _clock: Clock) -> None:
    if scene.live:
        scene.undo(scene.live[0])


def redo(scene: Scene, _clock: Clock) -> None:
    try:
        scene.redo()
    except (Conflict, RedoSuperseded):
        return


def fail(scene: Scene, _clock: Clock) -> None:
    claim = scene.claim()
    if claim is not None:
        endings.fail(scene.store, claim, "no")


ACTS: Final[tuple[Act, ...]] = (
    lambda scene, _clock: scene.work(scene.limit // 20),
    lambda scene, _clock: scene.compact(),
    lambda scene, _clock: scene.pin(5),
    lambda _scene, clock: clock.advance(45),
    undo_newest,
    undo_all,
    undo_all,
    redo,
    fail,
)
# The size of a message, as a share of the window.
SHARES: Final = st.sampled_from((0.0002, 0.001, 0.003, 0.01, 0.03, 0.15))
# What one append brings: a user's message, an answer, or a batch whose results come with it or in the next append.
KINDS: Final = st.sampled_from(("user", "user", "answer", "batch", "batch", "calls"))
STEPS: Final = st.lists(
    st.tuples(KINDS, SHARES) | st.tuples(st.just("act"), st.sampled_from(ACTS)), min_size=5, max_size=25
)


def messages_of(kind: str, size: int, number: int, open_calls: list[str]) -> list[dict[str, Any]]:
    """The messages of one append; a batch that is open gets its results."""
    if open_calls:
        return [result(call, size) for call in open_calls]
    if kind in {"user", "answer"}:
        return [user(size) if kind == "user" else assistant(size)]
    ids = [f"call_{number}_{index}" for index in range(2)]
    return [calls(*ids), *(result(call, size) for call in ids)] if kind == "batch" else [calls(*ids)]


def planned_anew(scene: Scene) -> TriggerResult:
    """What the trigger would do now if it had forgotten that it led to nothing; nothing is changed."""
    with scene.store.rehearse() as tx:
        path = paths.open_head(tx, scene.tenant, scene.id, lock=True)
        path.not_compacted = None
        return trigger.run_trigger(tx, path)


class Watch:
    """Follows a session's appends, and how much it has grown since a compaction was first held back."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.since: int | None = None

    def is_true(self, reason: str, path: Path) -> bool:
        """Whether a reason can be what holds the session's messages back."""
        kinds = {record.kind for record in self.scene.records}
        return {
            "barred": "undo" in kinds,
            "held_back": path.next_summary_at > self.scene.store.now,
            "open_calls": bool(path.open_calls),
            "recent": True,
            "too_little": True,
            "no_room": bool(self.scene.states),
        }[reason]

    def check(self, done: Appended) -> None:
        """The append did what it would have done without the note, or the note says why, and not for long."""
        scene, path, step = self.scene, done.path, done.step
        is_there = bool(step.made) or bool({*scene.states} & {*ACTIVE})
        if is_there or not (_is_over(path) or path.pending_tokens):
            self.since = None
            return
        assert step.not_compacted is not None, f"nothing is done at {path.used} tokens, and nothing says why"
        assert self.is_true(step.not_compacted.reason, path), step.not_compacted
        would = planned_anew(scene)
        if not (would.made or would.request):
            self.since = None
            return
        event(f"held back by {step.not_compacted.reason}")
        assert fits(path, path.aims()), "the view does not fit, and it could be compacted"
        self.since = path.counted if self.since is None else self.since
        assert path.counted - self.since <= path.aims().goals.limit * CHANGE_SHARE


def _is_over(path: Path) -> bool:
    goals = path.aims().gauge.goals
    return path.counted > min(goals.trigger, goals.limit)


@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("window", WINDOWS)
@settings(max_examples=EXAMPLES)
@given(st.sampled_from(list(PRESETS)), STEPS)
def test_over_the_trigger_something_is_done_or_the_answer_says_why_not(
    window: int, preset: str, steps: list[tuple[str, Any]]
) -> None:
    clock = Clock()
    size = max(1, int(window * FIRST_SHARE) // LONG_MESSAGES - FRAMING)
    with sqlite_database() as url, open_store(url, clock=clock) as store:
        scene = Scene(store, window, policy={"preset": preset})
        watch = Watch(scene)
        watch.check(scene.append(*[user(size), assistant(size)] * (LONG_MESSAGES // 2)))
        for number, (kind, value) in enumerate(steps):
            if kind == "act":
                value(scene, clock)
                watch.since = None
            else:
                tokens = max(1, int(window * value))
                watch.check(scene.append(*messages_of(kind, tokens, number, scene.path.open_calls)))
