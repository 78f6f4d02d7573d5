from dataclasses import replace
from typing import Any

import pytest

from foldline.engine.errors import InvalidPolicy
from foldline.engine.policies.policy import (
    NAMED,
    REASONS,
    STAGE_PARAMETERS,
    Stage,
    from_stored,
    policy_of,
    stage_of,
    to_json,
    to_stored,
)
from foldline.engine.policies.presets import DEFAULT_PRESET, PRESETS


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
        ({"buffer_tokens": -1}, "policy.buffer_tokens"),
        ({"buffer_tokens": True}, "policy.buffer_tokens"),
        ({"buffer_tokens": 0.5}, "policy.buffer_tokens"),
        ({"buffer_tokens": "13k"}, "policy.buffer_tokens"),
        ({"reserve_tokens": -1}, "policy.reserve_tokens"),
        ({"reserve_tokens": True}, "policy.reserve_tokens"),
        ({"reserve_tokens": 10**400}, "policy.reserve_tokens"),
        ({"branch_reserve_tokens": -1}, "policy.branch_reserve_tokens"),
        ({"branch_reserve_tokens": None}, "policy.branch_reserve_tokens"),
        ({"branch_reserve_tokens": "16k"}, "policy.branch_reserve_tokens"),
        ({"splits_turns": 1}, "policy.splits_turns"),
        ({"lists_files": "yes"}, "policy.lists_files"),
        ({"trusts_usage": None}, "policy.trusts_usage"),
        ({"counter": "words"}, "policy.counter"),
        ({"counter": ["exact"]}, "policy.counter"),
        ({"counter": None}, "policy.counter"),
        ({"layout": "wide"}, "policy.layout"),
        ({"layout": ["foldline"]}, "policy.layout"),
        ({"registry": "everything"}, "policy.registry"),
        ({"transcript": "verse"}, "policy.transcript"),
        ({"is_loose": True}, "policy.is_loose"),
        ({"stages": "prune"}, "policy.stages"),
        ({"stages": ["prune"] * 17}, "policy.stages"),
        ({"report": ["tier", "tier"]}, "policy.report"),
        ({"stages": [{"name": "prune", "minimum_tokens": 10**400}]}, "policy.stages[0].minimum_tokens"),
        ({"stages": ["fold"]}, "policy.stages[0]"),
        ({"stages": ["prune", {"name": []}]}, "policy.stages[1]"),
        ({"stages": [{"minimum_tokens": 5}]}, "policy.stages[0]"),
        ({"stages": [{"name": "prune", "colour": 5}]}, "policy.stages[0].colour"),
        ({"stages": [{"name": "prune", "minimum_tokens": -1}]}, "policy.stages[0].minimum_tokens"),
        ({"stages": [{"name": "prune", "minimum_tokens": True}]}, "policy.stages[0].minimum_tokens"),
        ({"stages": [{"name": "prune", "stops_at_target": 1}]}, "policy.stages[0].stops_at_target"),
        ({"stages": [{"name": "prune", "protected_tools": "bash"}]}, "policy.stages[0].protected_tools"),
        ({"stages": [{"name": "strip", "tools": ["bash"]}]}, "policy.stages[0].tools"),
        ({"stages": [{"name": "collapse", "keep_turns": 1}]}, "policy.stages[0].keep_turns"),
        ({"stages": [{"name": "summarize", "keep_share": 1.5}]}, "policy.stages[0].keep_share"),
        ({"stages": [{"name": "summarize", "adapts_chunks": 1}]}, "policy.stages[0].adapts_chunks"),
        ({"stages": [{"name": "truncate", "fraction": -0.1}]}, "policy.stages[0].fraction"),
    ],
)
def test_a_value_that_cannot_work_is_named(values: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidPolicy) as caught:
        policy_of(values, PRESETS)
    assert caught.value.field == field


@pytest.mark.parametrize("name", NAMED)
def test_what_is_available_is_named_and_can_be_chosen(name: str) -> None:
    with pytest.raises(InvalidPolicy) as caught:
        policy_of({name: "nothing"}, PRESETS)
    assert all(available in str(caught.value) for available in NAMED[name])
    for available in NAMED[name]:
        assert getattr(policy_of({name: available}, PRESETS), name) == available


@pytest.mark.parametrize("name", ["service", "provider", "fast", "fast,spare,extractive"])
def test_a_policy_may_name_summarizers(name: str) -> None:
    policy = policy_of({"summarizer": name}, PRESETS)
    assert policy.writers == (() if name in {"service", "provider"} else tuple(name.split(",")))


@pytest.mark.parametrize("name", ["", "fast,", "a b", "fast, spare", 7, ["fast"], "x" * 101])
def test_what_is_no_name_of_a_summarizer_is_refused(name: object) -> None:
    with pytest.raises(InvalidPolicy, match="names of summarizers"):
        policy_of({"summarizer": name}, PRESETS)


def test_only_a_loose_preset_may_aim_no_lower_than_its_trigger() -> None:
    assert policy_of({"preset": "codebuddy@program", "trigger": 0.7}, PRESETS).target == 1.0
    with pytest.raises(InvalidPolicy):
        policy_of({"preset": "codebuddy", "target": 0.9}, PRESETS)


def test_given_fields_replace_those_of_the_base() -> None:
    base = policy_of({"preset": "neurolink", "target": 0.4, "buffer_tokens": 500}, PRESETS)
    policy = policy_of({"trigger": 0.7}, PRESETS, base)
    assert policy == replace(base, trigger=0.7)
    assert policy_of({}, PRESETS, base) == base


def test_a_preset_that_is_named_takes_the_place_of_the_base() -> None:
    base = policy_of({"preset": "neurolink", "target": 0.4}, PRESETS)
    policy = policy_of({"preset": "codebuddy", "trigger": 0.7}, PRESETS, base)
    assert policy == replace(PRESETS["codebuddy"], trigger=0.7)
    assert policy_of({"preset": "neurolink"}, PRESETS, base) == PRESETS["neurolink"]


def test_a_change_is_checked_together_with_the_base() -> None:
    base = policy_of({"target": 0.6}, PRESETS)
    with pytest.raises(InvalidPolicy) as caught:
        policy_of({"trigger": 0.55}, PRESETS, base)
    assert caught.value.field == "policy.target"
    assert policy_of({"trigger": 0.55}, PRESETS).trigger == 0.55


def test_stages_that_are_given_keep_what_is_not_given_as_the_base_has_it() -> None:
    base = PRESETS["neurolink"]
    given = ["prune", {"name": "summarize", "keep_messages": 6}, "strip"]
    policy = policy_of({"stages": given}, PRESETS, base)
    own = {**base.stage("summarize").parameters, "keep_messages": 6}
    assert policy.stages == (base.stage("prune"), Stage("summarize", own), Stage("strip"))
    assert policy.counter == "neurolink"


def test_a_policy_is_stored_as_what_it_has_else_than_its_preset() -> None:
    policy = policy_of({"preset": "codebuddy", "trigger": 0.7, "stages": ["strip"]}, PRESETS)
    stored = to_stored(policy, PRESETS)
    assert stored.keys() == {"preset", "trigger", "stages"}
    assert from_stored(stored | {"colour_of_another_version": 1}, PRESETS) == policy
    assert to_stored(PRESETS["foldline"], PRESETS) == {"preset": "foldline"}


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_is_named_like_its_row_and_reads_back_from_its_json(preset: str) -> None:
    policy = PRESETS[preset]
    assert policy.preset == preset
    assert policy_of(to_json(policy), PRESETS) == policy


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("reserve_tokens", 0),
        ("reserve_tokens", 20_000),
        ("reserve_tokens", None),
        ("branch_reserve_tokens", 0),
        ("splits_turns", True),
        ("lists_files", True),
        ("trusts_usage", True),
    ],
)
def test_what_may_be_chosen_is_kept_as_it_was_given(field: str, value: object) -> None:
    policy = policy_of({field: value}, PRESETS)
    assert getattr(policy, field) == value
    assert policy_of(to_json(policy), PRESETS) == from_stored(to_stored(policy, PRESETS), PRESETS) == policy


def test_naming_stages_keeps_the_policys_own_parameters() -> None:
    policy = policy_of({"stages": [{"name": "prune", "minimum_tokens": 7}]}, PRESETS)
    assert policy.naming(["truncate", "prune"]).stages == (Stage("truncate"), Stage("prune", {"minimum_tokens": 7}))


def test_naming_an_unknown_stage_says_where() -> None:
    with pytest.raises(InvalidPolicy, match=r"stages\[1\]"):
        PRESETS[DEFAULT_PRESET].naming(["prune", "fold"])


def test_a_stage_is_a_name_or_an_object() -> None:
    assert stage_of("prune", "stage") == stage_of({"name": "prune"}, "stage") == Stage("prune")


def test_only_what_a_stage_has_for_a_reason_is_replaced_with_a_given_parameter(monkeypatch: pytest.MonkeyPatch) -> None:
    own = {"tools": (), "protected_tools": (), "asked_tools": (), "overflow_tools": ()}
    monkeypatch.setattr("foldline.engine.policies.policy.STAGE_PARAMETERS", {"prune": own})
    preset = Stage("prune", dict.fromkeys(own, ("run",)))

    given = stage_of({"name": "prune", "tools": ["ls"]}, "here", [preset])

    assert given.parameters == {"tools": ("ls",), "protected_tools": ("run",)}


def test_each_parameter_for_a_reason_has_one_for_all_reasons_beside_it() -> None:
    for own in STAGE_PARAMETERS.values():
        split = (name.partition("_") for name in own)
        assert {replaced for reason, _, replaced in split if reason in REASONS} <= own.keys()


def test_a_stage_may_have_other_parameters_for_a_reason() -> None:
    stage = stage_of({"name": "microcompact", "keep_results": 4, "overflow_keep_results": 1}, "here")
    assert [stage.on(reason).number("keep_results") for reason in ("trigger", "asked", "overflow")] == [4, 4, 1]
    # A number that is given replaces what the preset has for reasons; others stay.
    given = stage_of({"name": "microcompact", "keep_results": 3}, "here", [stage])
    assert given.on("overflow").number("keep_results") == 3
    given = stage_of({"name": "microcompact", "keep_turns": 3}, "here", [stage])
    assert given.on("overflow").number("keep_results") == 1
    policy = policy_of(
        {"preset": "agent-code@program", "stages": [{"name": "microcompact", "keep_results": 3}]}, PRESETS
    )
    assert from_stored(to_stored(policy, PRESETS), PRESETS) == policy


def test_a_bare_name_is_refused_with_the_object_to_give() -> None:
    with pytest.raises(InvalidPolicy, match="must be an object"):
        policy_of("neurolink", PRESETS)  # type: ignore[arg-type]
