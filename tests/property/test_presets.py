"""Under every preset an estimate decides when to compact, and never what leaves the view."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from foldline.engine.policies.presets import PRESETS
from foldline.log.compaction.usage_estimate import should_compact
from foldline.log.job_state import ACTIVE
from foldline.log.use_cases.append import Appended
from tests.support.log.sessions import Scene, calls, open_store, result
from tests.support.processes.databases import sqlite_database

WINDOWS: Final = (
    8_000,
    pytest.param(32_000, marks=pytest.mark.thorough),
    pytest.param(128_000, marks=pytest.mark.thorough),
    pytest.param(1_000_000, marks=pytest.mark.thorough),
)
# What other systems count as many more tokens than there are, and as fewer.
TEXTS: Final[Mapping[str, str]] = {
    "prose": "the parser returns an error because the value of this configuration was not found ",
    "digits": '{"id": 48213, "at": 1730000001, "x": [0.25, 18, 9041]}\n',
    "chinese": "解析器在读取配置文件时没有找到所需的值因此返回了错误",
    "blank": " " * 40 + "\n",
}
# The size of a message, as a share of the window.
SHARES: Final = st.sampled_from((0.001, 0.004, 0.01, 0.03, 0.1))
STEPS: Final = st.lists(
    st.tuples(st.sampled_from(("ask", "answer", "read", "read")), st.sampled_from(sorted(TEXTS)), SHARES),
    min_size=20,
    max_size=60,
)
# A slow summarizer ends its jobs after so many appends.
SLOW: Final = 7
# Of each window.
EXAMPLES: Final = settings().max_examples


def messages_of(kind: str, text: str, number: int) -> list[dict[str, Any]]:
    call = f"call_{number}"
    if kind == "read":
        return [calls(call), {**result(call, 1), "content": text}]
    return [{"role": "user" if kind == "ask" else "assistant", "content": text}]


def hidden_in(scene: Scene, names: set[str]) -> bool:
    return any(edit.kind == "hide" for record in scene.records if record.id in names for edit in record.edits)


def check(scene: Scene, done: Appended) -> None:
    """The view fits, nothing that fits was hidden, and over the trigger something is done, or nothing is old enough."""
    path, step = done.path, done.step
    limit = path.aims().goals.limit
    assert path.kept <= limit
    if hidden_in(scene, {made.id for made in step.made}):
        event("hidden")
        assert max(made.tokens_before for made in step.made) > path.session.used(limit)
    is_at_work = bool(step.made) or bool({*scene.states} & {*ACTIVE})
    if not is_at_work and should_compact(path, path.aims()):
        assert step.not_compacted is not None
        event(f"nothing done: {step.not_compacted.reason}")
        policy = path.session.policy
        # Between its trigger and its target, such a program does nothing.
        is_between = policy.is_loose and path.counted <= path.aims().gauge.goals.target
        assert is_between or step.not_compacted.reason in {"recent", "open_calls"}, step.not_compacted


@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("window", WINDOWS)
@settings(max_examples=EXAMPLES)
@given(st.sampled_from(list(PRESETS)), STEPS, st.sampled_from(("works", "is slow", "is away")))
def test_an_estimate_decides_when_and_never_what_leaves_the_view(
    window: int, preset: str, steps: list[tuple[str, str, float]], summarizer: str
) -> None:
    with sqlite_database() as url, open_store(url) as store:
        scene = Scene(store, window, policy={"preset": preset})
        scene.append({"role": "user", "content": "Go."})
        for number, (kind, text, share) in enumerate(steps):
            size = int(window * share * 4)
            own = messages_of(kind, (TEXTS[text] * size)[:size], number)
            done = scene.append(*own)
            check(scene, done)
            if summarizer == "works" or (summarizer == "is slow" and number % SLOW == 0):
                scene.work(window // 20)
