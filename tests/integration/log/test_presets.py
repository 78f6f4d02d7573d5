"""Sessions under policies with other counters, and compactions under a policy of the request."""

from __future__ import annotations

from typing import Any

import pytest

from foldline.engine.overflow import Verdict
from foldline.engine.policies.presets import PRESETS
from foldline.log.compaction.summary_request import SummaryRequest
from foldline.log.use_cases import compact, lifecycle, overflow, stats
from tests.support.log.scenes import NewScene
from tests.support.log.sessions import TENANT, Scene, assert_consistent, turns
from tests.support.processes.databases import only_sqlite

# What is planned does not depend on where it is stored.
database_kind = only_sqlite


def request_summary(scene: Scene, *, summarize: bool | None = None, **values: Any) -> None:
    with scene.store.write() as tx:
        compact.compact(tx, TENANT, scene.id, SummaryRequest(is_asked=True, **values), summarize=summarize)


def change(scene: Scene, **changes: Any) -> None:
    with scene.store.write() as tx:
        lifecycle.change(tx, TENANT, scene.id, changes)


@pytest.mark.parametrize("preset", PRESETS)
def test_what_the_policy_counts_is_kept_right(new_scene: NewScene, preset: str) -> None:
    scene = new_scene(2_000, policy={"preset": preset})
    for _ in range(4):
        scene.append(*turns(4, 60))
        assert_consistent(scene)
    made = scene.live
    scene.work()
    assert_consistent(scene)
    if made:
        scene.undo(made[-1])
        scene.append(*turns(1, 60))
    assert_consistent(scene)
    change(scene, policy={"preset": "neurolink"})
    scene.append(*turns(1, 60))
    assert_consistent(scene)


def test_a_session_that_is_not_compacted_by_itself_is_counted_all_the_same(new_scene: NewScene) -> None:
    scene = new_scene(4_000, policy={"preset": "neurolink"})
    change(scene, auto_compact=False)
    scene.append(*turns(3, 60))
    scene.append(*turns(3, 60))
    assert scene.path.estimated == scene.outline.measured(scene.path.aims().gauge.measure).tokens
    with scene.store.read() as tx:
        assert not stats.stats(tx, TENANT, scene.id).should_compact


def test_what_is_overridden_for_one_compaction_holds_whatever_becomes_of_the_policy(new_scene: NewScene) -> None:
    scene = new_scene()
    scene.append(*turns(5, 60))
    request_summary(scene, policy={"target": 0.7}, summarize=True)
    change(scene, policy={"trigger": 0.6, "target": 0.3})
    claim = scene.claimed()
    change(scene, policy={"trigger": 0.5, "target": 0.2})
    assert scene.publish(claim) == "succeeded"


def test_a_request_ends_with_what_was_due_when_it_was_made(new_scene: NewScene) -> None:
    scene = new_scene(20_000, policy={"preset": "neurolink"})
    scene.window(400)
    scene.append(*turns(20, 60))
    request_summary(scene, summarize=True)
    assert len(scene.work()) > 1
    # Three in ten of forty messages stay.
    assert sum(line.startswith(("user", "batch")) for line in scene.layout) == 12


def test_a_target_of_ones_own_is_summarized_down_to_whatever_the_policy_counts_by(new_scene: NewScene) -> None:
    ranges = []
    for counter in ("exact", "chars4"):
        scene = new_scene(20_000, id=counter, policy={"counter": counter})
        scene.append(*turns(40, 60))
        request_summary(scene, target_tokens=2_000, summarize=True)
        claim = scene.claimed()
        ranges.append((claim.wanted.covered.first, claim.wanted.covered.last))
    assert ranges[0][0] == ranges[1][0] == 1
    assert min(last for _, last in ranges) > 30


def test_a_summary_of_what_an_overflow_put_out_of_view_stays_under_what_was_refused(new_scene: NewScene) -> None:
    scene = new_scene(20_000)
    scene.append(*turns(30, 60))
    path = scene.path
    verdict = Verdict(is_overflow=True, provider=None, actual_tokens=None, limit_tokens=None)
    with scene.store.write() as tx:
        overflow.relieve(tx, TENANT, scene.id, verdict, version=path.session.version)
    after = scene.used
    assert scene.pending
    scene.work(tokens=5_000)
    assert scene.pending == 0
    assert scene.used <= path.used * 0.7 + after * 0.4


def test_a_summary_under_other_headings_is_another_one(new_scene: NewScene) -> None:
    scene = new_scene()
    scene.append(*turns(5, 60))
    request_summary(scene, summarize=True)
    scene.work()
    scene.undo(scene.live[-1])
    request_summary(scene, policy={"headings": "pi"}, summarize=True)
    assert scene.claimed().request.headings == "pi"


TARGETS: dict[str, dict[str, float]] = {"neurolink@program": {}, "codebuddy": {"target": 0.8}, "pi": {"target": 0.9}}


@pytest.mark.parametrize("preset", TARGETS)
def test_where_the_fixed_parts_are_too_much_by_the_estimate_the_exact_count_decides(
    new_scene: NewScene, preset: str
) -> None:
    long_words = " internationalization" * 1_500
    scene = new_scene(4_000, system=long_words, policy={"preset": preset} | TARGETS[preset])
    scene.append(*turns(3, 60))
    assert scene.live == []
    for _ in range(10):
        scene.append(*turns(3, 60))
        assert scene.used <= 4_000
        assert scene.layout[-3].startswith("batch")
        assert scene.layout[-1].startswith("batch")
