from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from foldline.engine.errors import InvalidPolicy
from foldline.engine.models.catalog import catalog
from foldline.engine.models.gauge import Frame
from foldline.engine.models.given_fields import check_given
from foldline.engine.policies.policy import policy_of, to_json
from foldline.engine.policies.presets import PRESETS

CLAUDE = Frame("anthropic/claude-sonnet-4-5")
WINDOWS = (2_000, 8_000, 32_000, 200_000, 1_000_000)


def refused(values: dict[str, Any], frame: Frame) -> InvalidPolicy | None:
    """The refusal of these fields, None if they are accepted."""
    try:
        check_given(policy_of(values, PRESETS), values, frame)
    except InvalidPolicy as error:
        return error
    return None


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_is_accepted_for_every_model_and_window_also_with_all_its_fields(preset: str) -> None:
    policy = PRESETS[preset]
    known = {Frame(row.model, row.context_window) for row in catalog(policy)}
    for frame in (*known, *(Frame("nobody/nothing", window) for window in WINDOWS)):
        assert refused({"preset": preset}, frame) is None
        if policy.buffer_tokens < frame.budget(policy).limit:
            assert refused(to_json(policy), frame) is None


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("window", WINDOWS)
def test_the_most_that_a_refusal_names_works(preset: str, window: int) -> None:
    frame = Frame("nobody/nothing", window)
    found = refused({"preset": preset, "trigger": 0.999, "target": 0.1}, frame)
    if found is None:
        return
    assert str(frame.budget(PRESETS[preset]).limit) in str(found)
    most = float(str(found).rpartition("; here, ")[2].split()[0])
    assert refused({"preset": preset, "trigger": most, "target": 0.1}, frame) is None
    assert refused({"preset": preset, "trigger": most + 0.002, "target": 0.1}, frame) is not None


def test_a_trigger_above_what_views_may_have_is_refused_with_the_figures() -> None:
    # Claude counts in its own way, so a margin of 4,000 tokens stays free.
    found = refused({"preset": "pi", "trigger": 0.99}, CLAUDE)
    assert found is not None
    assert str(found) == (
        "policy.trigger: 0.99 of 183616 tokens is 181779, and views have at most 179616; here, 0.978 is the most"
    )
    assert refused({"preset": "pi", "trigger": 0.97}, CLAUDE) is None
    assert refused({"preset": "pi", "trigger": 0.99}, Frame("openai/gpt-4o")) is None
    # What a buffer leaves is reached.
    assert refused({"preset": "pi", "trigger": 0.99, "buffer_tokens": 8_000}, CLAUDE) is None
    # The reserve is the caller's to choose: the preset's own trigger comes down with what is left.
    assert refused({"preset": "pi", "reserve_tokens": 8_000}, CLAUDE) is None


def test_a_target_above_the_trigger_is_refused_where_one_of_both_was_given() -> None:
    for given in ({"trigger": 0.7}, {"trigger": 0.5, "target": 0.6}):
        found = refused({"preset": "codebuddy@program", **given}, CLAUDE)
        assert found is not None
        assert "must not be above the trigger" in str(found)
    assert refused({"preset": "codebuddy@program", "trigger": 0.7, "target": 0.7}, CLAUDE) is None


def test_a_presets_own_target_is_refused_above_a_trigger_that_was_changed_before() -> None:
    preset = PRESETS["agent-code@program"]
    changed = replace(preset, trigger=0.7)
    with pytest.raises(InvalidPolicy, match="must not be above the trigger"):
        check_given(changed, {"target": preset.target}, CLAUDE)
    check_given(changed, {"keep_recent": 0.2}, CLAUDE)
    check_given(preset, {"target": preset.target}, CLAUDE)
