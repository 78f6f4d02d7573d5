"""The multiplier, learned from what providers report."""

from __future__ import annotations

import pytest

from foldline.engine.formats import FORMATS
from foldline.log.compaction.usage import Usage
from foldline.log.errors import UnknownVersion
from foldline.log.use_cases import append
from tests.support.log.scenes import NewScene
from tests.support.log.sessions import Scene, Wire, assistant, turns, user


def report(scene: Scene, message: Wire, usage: Usage) -> int:
    with scene.store.write() as tx:
        drafts = append.prepare(FORMATS["openai"].parse([message]))
        append.append(tx, scene.tenant, scene.id, drafts, usage=usage)
    return scene.path.session.multiplier


def test_usage_of_the_present_view_sets_the_multiplier(scene: Scene) -> None:
    scene.append(user(96))
    assert report(scene, assistant(6), Usage(scene.path.session.version, 125)) == 1_250
    assert scene.used == -(-110 * 1_250 // 1_000)


@pytest.mark.parametrize(("reported", "multiplier"), [(50, 1_000), (500, 2_000)])
def test_the_multiplier_stays_between_one_and_two(scene: Scene, reported: int, multiplier: int) -> None:
    scene.append(user(96))
    assert report(scene, assistant(6), Usage(scene.path.session.version, reported)) == multiplier


def test_usage_of_an_earlier_version_moves_it_part_of_the_way(scene: Scene) -> None:
    scene.append(user(96))
    version = scene.path.session.version
    scene.append(assistant(96))
    moved = report(scene, user(6), Usage(version, 140))
    assert 1_000 < moved < 1_400


@pytest.mark.parametrize("version", [3, 10**12])
def test_usage_of_a_version_to_come_is_refused(scene: Scene, version: int) -> None:
    scene.append(user(96))
    with pytest.raises(UnknownVersion, match="it is at 2"):
        report(scene, assistant(6), Usage(version, 190))


@pytest.mark.parametrize("version", [0, -1])
def test_usage_of_a_version_that_never_was_is_ignored(scene: Scene, version: int) -> None:
    scene.append(user(96))
    assert report(scene, assistant(6), Usage(version, 190)) == 1_000


@pytest.mark.parametrize("reported", [0, -5])
def test_usage_of_nothing_is_ignored(scene: Scene, reported: int) -> None:
    scene.append(user(96))
    assert report(scene, assistant(6), Usage(scene.path.session.version, reported)) == 1_000


def test_usage_of_an_empty_session_is_ignored(scene: Scene) -> None:
    assert report(scene, user(6), Usage(scene.path.session.version, 90)) == 1_000


def test_cached_tokens_are_part_of_the_prompt_where_the_provider_leaves_them_out() -> None:
    usage = Usage(1, 10, cache_read=20, cache_write=30)
    assert usage.prompt_tokens("openai/gpt-4o") == 10
    assert usage.prompt_tokens("anthropic/claude-sonnet-4") == 60


def test_a_multiplier_that_takes_the_last_room_compacts(scene: Scene) -> None:
    scene.append(*turns(6, 60))
    assert scene.states == []
    report(scene, assistant(6), Usage(scene.path.session.version, 1_200))
    assert scene.used <= 1_000
    assert scene.states == ["queued"]


def test_a_target_out_of_reach_of_the_multiplier_gives_way_to_the_budget(new_scene: NewScene) -> None:
    scene = new_scene(1_000, system=" fold" * 400, policy={"target": 0.5, "weighs_prefix": False})
    scene.append(user(96))
    report(scene, assistant(6), Usage(scene.path.session.version, 650))
    goals = scene.path.goals()
    assert goals.target == goals.trigger == goals.limit
