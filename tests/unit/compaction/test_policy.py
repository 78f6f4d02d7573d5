from typing import Any

import pytest

from compaction.errors import InvalidPolicy
from compaction.policy import Stage, policy_of, stage_of, to_json
from compaction.presets import DEFAULT_PRESET, PRESETS


def test_nothing_given_is_the_default_preset() -> None:
    assert policy_of({}, PRESETS) == PRESETS[DEFAULT_PRESET]


def test_given_fields_replace_those_of_the_preset() -> None:
    policy = policy_of({"trigger": 0.9, "stages": ["truncate", {"name": "prune", "minimum_tokens": 5}]}, PRESETS)
    assert policy.trigger == 0.9
    assert policy.target == PRESETS[DEFAULT_PRESET].target
    assert policy.stages == (Stage("truncate"), Stage("prune", {"minimum_tokens": 5}))


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"preset": "nobody"}, "policy.preset"),
        ({"preset": []}, "policy.preset"),
        ({"colour": 1}, "policy.colour"),
        ({"trigger": 1.5}, "policy.trigger"),
        ({"trigger": "high"}, "policy.trigger"),
        ({"keep_recent": True}, "policy.keep_recent"),
        ({"keep_recent": float("nan")}, "policy.keep_recent"),
        ({"target": 0.8}, "policy.target"),
        ({"stages": "prune"}, "policy.stages"),
        ({"stages": ["fold"]}, "policy.stages[0]"),
        ({"stages": ["prune", {"name": []}]}, "policy.stages[1]"),
        ({"stages": [{"minimum_tokens": 5}]}, "policy.stages[0]"),
        ({"stages": [{"name": "prune", "colour": 5}]}, "policy.stages[0].colour"),
        ({"stages": [{"name": "prune", "minimum_tokens": -1}]}, "policy.stages[0].minimum_tokens"),
        ({"stages": [{"name": "prune", "minimum_tokens": True}]}, "policy.stages[0].minimum_tokens"),
        ({"stages": [{"name": "prune", "stops_at_target": 1}]}, "policy.stages[0].stops_at_target"),
        ({"stages": [{"name": "prune", "protected_tools": "bash"}]}, "policy.stages[0].protected_tools"),
        ({"stages": [{"name": "strip", "tools": ["bash"]}]}, "policy.stages[0].tools"),
    ],
)
def test_a_value_that_cannot_work_is_named(values: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidPolicy) as caught:
        policy_of(values, PRESETS)
    assert caught.value.field == field


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_is_named_like_its_row_and_reads_back_from_its_json(preset: str) -> None:
    policy = PRESETS[preset]
    assert policy.preset == preset
    assert policy_of(to_json(policy), PRESETS) == policy


def test_naming_stages_keeps_the_policys_own_parameters() -> None:
    policy = policy_of({"stages": [{"name": "prune", "minimum_tokens": 7}]}, PRESETS)
    assert policy.naming(["truncate", "prune"]).stages == (Stage("truncate"), Stage("prune", {"minimum_tokens": 7}))


def test_naming_an_unknown_stage_says_where() -> None:
    with pytest.raises(InvalidPolicy, match=r"stages\[1\]"):
        PRESETS[DEFAULT_PRESET].naming(["prune", "fold"])


def test_a_stage_is_a_name_or_an_object() -> None:
    assert stage_of("prune", "stage") == stage_of({"name": "prune"}, "stage") == Stage("prune")
