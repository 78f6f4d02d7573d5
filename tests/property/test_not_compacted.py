"""Appends that do not plan again hold back no compaction of a view that does not fit, and no other one for long."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from hypothesis import event, given
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

# A long view: shorter ones are planned each time.
FIRST: Final = [user(4), assistant(4)] * 130


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
    lambda scene, _clock: scene.work(60),
    lambda scene, _clock: scene.compact(),
    lambda scene, _clock: scene.pin(5),
    lambda _scene, clock: clock.advance(45),
    undo_newest,
    undo_all,
    undo_all,
    redo,
    fail,
)
SIZES: Final = st.sampled_from((1, 5, 12, 40, 150, 600))
# What one append brings: a user's message, an answer, or a batch whose results come with it or in the next append.
KINDS: Final = st.sampled_from(("user", "user", "answer", "batch", "batch", "calls"))
STEPS: Final = st.lists(
    st.tuples(KINDS, SIZES).map(tuple) | st.tuples(st.just("act"), st.sampled_from(ACTS)), min_size=8, max_size=30
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

    def check(self, done: Appended) -> None:
        """The append did what it would have done without the note, or the note says why, and not for long."""
        scene, path, step = self.scene, done.path, done.step
        is_there = bool(step.made) or bool({*scene.states} & {*ACTIVE})
        if is_there or not (_is_over(path) or path.pending_tokens):
            self.since = None
            return
        assert step.not_compacted is not None, f"nothing is done at {path.used} tokens, and nothing says why"
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


@given(st.sampled_from(list(PRESETS)), st.sampled_from((2_600, 3_500, 6_000)), STEPS)
def test_a_compaction_waits_for_little_that_is_new_and_never_in_a_view_that_does_not_fit(
    preset: str, limit: int, steps: list[tuple[str, Any]]
) -> None:
    clock = Clock()
    with sqlite_database() as url, open_store(url, clock=clock) as store:
        scene = Scene(store, limit, policy={"preset": preset})
        watch = Watch(scene)
        watch.check(scene.append(*FIRST))
        for number, (kind, value) in enumerate(steps):
            if kind == "act":
                value(scene, clock)
                watch.since = None
            else:
                watch.check(scene.append(*messages_of(kind, value, number, scene.path.open_calls)))
