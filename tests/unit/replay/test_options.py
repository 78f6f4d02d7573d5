from __future__ import annotations

from math import inf, nan
from typing import Any

import pytest

from foldline.engine.policies.policy import policy_of
from foldline.engine.policies.presets import DEFAULT_PRESET, PRESETS
from foldline.replay.options import Options, check_threshold
from foldline.terminal import CommandFailed


def options(**given: Any) -> Options:
    return Options("openai/gpt-4o", 8000, **given)


def test_a_session_is_created_with_only_the_given_options() -> None:
    assert options().session_body() == {"model": "openai/gpt-4o", "context_window": 8000}
    assert options(policy="foldline").session_body()["policy"] == {"preset": "foldline"}


def test_disabling_compaction_says_so_to_the_service() -> None:
    assert options(is_compacting=False).session_body()["auto_compact"] is False


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("threshold", [0.01, 0.3, 0.5, 0.7, 0.95, 1.0])
def test_a_threshold_is_the_trigger_of_a_policy_that_works_with_every_preset(name: str, threshold: float) -> None:
    asked = options(policy=name, compact_threshold=threshold)

    policy = policy_of(asked.session_body()["policy"], PRESETS)

    assert policy == asked.known_policy
    assert policy.trigger == threshold
    own = PRESETS[name]
    assert policy.stages == own.stages
    # As far below as the preset has it, or further.
    assert policy.target / policy.trigger <= own.target / own.trigger + 1e-9


def test_a_lower_threshold_lowers_the_target_in_proportion() -> None:
    own = PRESETS[DEFAULT_PRESET]

    asked = options(compact_threshold=own.trigger / 2)

    assert asked.session_body()["policy"]["target"] == pytest.approx(own.target / 2)
    assert asked.lowered == pytest.approx(0.5)


def test_a_higher_threshold_leaves_the_target() -> None:
    asked = options(compact_threshold=0.95)

    assert asked.session_body()["policy"]["target"] == PRESETS[DEFAULT_PRESET].target
    assert asked.lowered == 1


def test_the_target_of_a_preset_that_only_the_service_knows_is_left_to_it() -> None:
    asked = options(policy="of-tomorrow", compact_threshold=0.7)

    assert asked.session_body()["policy"] == {"preset": "of-tomorrow", "trigger": 0.7}


@pytest.mark.parametrize("threshold", [0, -0.5, 1.01, 70, nan, inf])
def test_a_threshold_that_is_no_share_of_a_budget_is_refused(threshold: float) -> None:
    with pytest.raises(CommandFailed, match="--compact-threshold must be a share of the budget, above 0 to 1, not"):
        check_threshold(options(compact_threshold=threshold))


@pytest.mark.parametrize("threshold", [None, 0.01, 0.7, 1])
def test_a_threshold_that_can_be_is_taken(threshold: float | None) -> None:
    check_threshold(options(compact_threshold=threshold))
