"""Windows of every size: a view over the trigger is compacted, or a job is there to do it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from foldline.engine.policies.presets import PRESETS
from foldline.engine.tokens.counter import count_message
from foldline.log.events import Event, TriggerRan
from foldline.log.job_state import ACTIVE
from foldline.log.storage.store import Store
from foldline.log.use_cases import lifecycle
from tests.support.log.sessions import Scene, assistant, user

# A large window takes long to fill, so that one preset is the example of it.
ALWAYS = {*((preset, 8_000) for preset in PRESETS), ("foldline", 128_000)}
WINDOWS = [
    pytest.param(preset, window, marks=() if (preset, window) in ALWAYS else pytest.mark.thorough)
    for preset in PRESETS
    for window in (8_000, 32_000, 128_000, 400_000, 800_000, 1_000_000)
]
TURNS = 160
# A preset with small chunks has more to do.
JOBS_AT_ONCE = 20


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("preset", "window"), WINDOWS)
def test_above_the_trigger_something_is_compacted_or_a_job_is_there(preset: str, window: int, store: Store) -> None:
    """Also in a talk without tools, in which only summaries help."""
    scene = Scene(store, window, policy={"preset": preset})
    size = window // 120
    idle = 0
    for _ in range(TURNS):
        before = len(scene.live)
        scene.append(user(size), assistant(size))
        path = scene.path
        is_over = path.used > path.session.used(path.aims().gauge.goals.trigger)
        idle = idle + 1 if is_over and len(scene.live) == before and not {*scene.states} & {*ACTIVE} else 0
        assert idle < 2, f"over the trigger with {path.used} of {window} tokens, and nothing is done"
        for _ in range(JOBS_AT_ONCE if is_over else 0):
            if (claim := scene.claim()) is not None:
                scene.publish(claim, tokens=window // 10)
    assert len(scene.live) > 1


def test_a_summarizer_that_reads_little_at_once_is_asked_in_a_large_window_too(store: Store) -> None:
    scene = Scene(store, 1_000_000)
    scene.window(20_000)
    scene.append(*[user(3_000)] * 280)
    assert scene.states == ["queued"]
    assert {*scene.work(tokens=5_000)} == {"succeeded"}
    assert scene.path.kept <= scene.path.goals().trigger


def test_one_summary_takes_a_large_window_down_to_its_target(store: Store) -> None:
    scene = Scene(store, 1_000_000)
    scene.append(*[user(3_000)] * 280)
    claim = scene.claimed()
    assert claim.request.max_tokens < store.limits.summarizer_tokens < sum(map(count_message, claim.request.said))
    assert scene.publish(claim, tokens=20_000) == "succeeded"
    goals = scene.path.goals()
    assert scene.path.kept <= goals.target
    assert scene.states == ["succeeded"]


def test_a_long_view_over_the_trigger_waits_for_the_job_under_way_until_it_would_not_fit(store: Store) -> None:
    scene = Scene(store, 100_000)
    scene.append(*[user(270) for _ in range(300)])
    assert (scene.states, scene.live) == (["queued"], [])
    seen = [event for event in heard_while(scene, lambda: scene.append(user(10))) if isinstance(event, TriggerRan)]
    assert seen == [], "no plan was made"
    step = scene.append(user(10)).step
    assert step.request is not None
    assert step.request.is_joined
    scene.append(*[user(270) for _ in range(80)])
    assert scene.live
    assert scene.used <= scene.limit


def test_a_session_without_automatic_compaction_waits_for_no_job(store: Store) -> None:
    scene = Scene(store, 100_000)
    scene.append(*[user(270) for _ in range(300)])
    with store.write() as tx:
        lifecycle.change(tx, scene.tenant, scene.id, {"auto_compact": False})
    assert scene.append(user(10)).step.request is None


def heard_while(scene: Scene, work: Callable[[], object]) -> list[Event]:
    """The events that some work published."""
    heard: list[Event] = []
    scene.store.subscribe(heard.append)
    work()
    scene.store.unsubscribe(heard.append)
    return heard
