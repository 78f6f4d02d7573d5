from dataclasses import replace

import pytest

from foldline.engine.errors import FixedPartsDoNotFit, InvalidPolicy
from foldline.engine.models.budget import SMALLEST_SUMMARY, budget_of, check_fixed_parts, goals_of
from foldline.engine.models.prices import USUAL_RATES
from foldline.engine.models.windows import ContextWindow
from foldline.engine.policies.presets import PRESETS
from foldline.engine.wording import summary_frame_tokens

# Shares of the budget, as most presets have them.
POLICY = replace(PRESETS["foldline"], target=0.5, weighs_prefix=False)


def test_the_reserve_is_what_was_asked_for() -> None:
    budget = budget_of(ContextWindow(100_000), 10_000)
    assert (budget.reserve, budget.margin, budget.limit) == (10_000, 2_000, 88_000)


def test_the_reserve_is_a_share_of_small_windows_and_bounded_in_large_ones() -> None:
    assert budget_of(ContextWindow(8_192)).reserve == 2_868
    assert budget_of(ContextWindow(1_000_000)).reserve == 64_000


def test_no_margin_is_kept_where_the_tokenizer_is_the_models_own() -> None:
    assert budget_of(ContextWindow(100_000, is_exact=True), 10_000).limit == 90_000


@pytest.mark.parametrize("reserve", [-1, 98_000, 200_000])
def test_a_reserve_that_cannot_work_is_refused(reserve: int) -> None:
    with pytest.raises(InvalidPolicy, match="max_output_tokens"):
        budget_of(ContextWindow(100_000), reserve)


def test_goals_are_shares_of_the_budget_without_the_fixed_parts() -> None:
    goals = goals_of(POLICY, 10_000, 1_000, 1000)
    assert (goals.limit, goals.trigger, goals.target, goals.minimum_saving) == (9_000, 7_000, 4_000, 500)


def test_what_is_kept_recent_and_the_summary_fit_below_the_target_together() -> None:
    for fixed in (0, 1_000, 4_000):
        goals = goals_of(POLICY, 10_000, fixed, 1000)
        assert goals.keep_recent + goals.summary_max + summary_frame_tokens() <= goals.target


def test_a_multiplier_makes_every_goal_smaller() -> None:
    plain, calibrated = goals_of(POLICY, 10_000, 0, 1000), goals_of(POLICY, 10_000, 0, 1250)
    assert calibrated.limit == 8_000
    assert calibrated.trigger < plain.trigger
    assert calibrated.target < plain.target


def test_the_budget_is_the_goal_where_the_target_is_out_of_reach() -> None:
    goals = goals_of(POLICY, 1_000, 480, 1000)
    assert goals.target == goals.trigger == goals.limit == 520


def test_another_target_stays_within_the_budget_and_bounds_what_is_recent() -> None:
    goals = goals_of(POLICY, 10_000, 0, 1000)
    assert goals.aiming_at(50_000).target == goals.limit
    assert goals.aiming_at(-5).target == 0
    assert goals.aiming_at(1_000).keep_recent <= 600


def test_a_target_that_was_named_is_filled_with_recent_messages_and_a_summary() -> None:
    aimed = goals_of(POLICY, 10_000, 0, 1000).aiming_at(7_000)
    assert aimed.not_summarized == aimed.recent_room == 5_600
    assert aimed.not_summarized + aimed.summary_max + summary_frame_tokens() == pytest.approx(7_000, abs=1)


WEIGHING = replace(PRESETS["foldline"], target=0.2, least_target_tokens=1_500)


def test_the_target_of_a_policy_that_weighs_the_prefix_is_beside_the_fixed_parts() -> None:
    goals = goals_of(WEIGHING, 10_000, 1_000, 1000)
    assert (goals.limit, goals.trigger, goals.target, goals.minimum_saving) == (9_000, 7_000, 1_800, 500)
    assert goals.rates == USUAL_RATES


@pytest.mark.parametrize(("limit", "target"), [(20_000, 4_000), (5_000, 1_500), (2_000, 1_000)])
def test_a_small_budget_keeps_more_of_it(limit: int, target: int) -> None:
    assert goals_of(WEIGHING, limit, 0, 1000).target == target


def test_fixed_parts_of_a_policy_that_weighs_the_prefix_may_take_half_of_the_budget() -> None:
    most = 5_000 - SMALLEST_SUMMARY - summary_frame_tokens()
    check_fixed_parts(WEIGHING, 10_000, most, 1000)
    with pytest.raises(FixedPartsDoNotFit):
        check_fixed_parts(WEIGHING, 10_000, most + 1, 1000)
    goals = goals_of(WEIGHING, 10_000, most, 1000)
    assert SMALLEST_SUMMARY < goals.target < goals.trigger


def test_fixed_parts_leave_room_for_the_smallest_summary() -> None:
    most = 5_000 - SMALLEST_SUMMARY - summary_frame_tokens()
    check_fixed_parts(POLICY, 10_000, most, 1000)
    with pytest.raises(FixedPartsDoNotFit) as caught:
        check_fixed_parts(POLICY, 10_000, most + 1, 1000)
    assert (caught.value.fixed_tokens, caught.value.target_tokens) == (5_001, 5_000)


def test_fixed_parts_are_measured_against_the_policys_own_target() -> None:
    check_fixed_parts(replace(POLICY, target=0.7), 10_000, 6_000, 1000)


BUFFERED = replace(POLICY, trigger=1.0, target=0.5, buffer_tokens=13_000)


@pytest.mark.parametrize(("limit", "trigger", "target"), [(163_000, 150_000, 75_000), (20_000, 10_000, 5_000)])
def test_a_buffer_lowers_trigger_and_target_in_proportion(limit: int, trigger: int, target: int) -> None:
    goals = goals_of(BUFFERED, limit, 0, 1000)
    assert (goals.limit, goals.trigger, goals.target) == (limit, trigger, target)


@pytest.mark.parametrize("buffer", [0, 1, 1_000, 5_000, 13_000, 100_000])
@pytest.mark.parametrize("limit", [500, 5_000, 50_000, 500_000])
def test_no_buffer_brings_the_trigger_down_to_the_target(limit: int, buffer: int) -> None:
    goals = goals_of(replace(POLICY, buffer_tokens=buffer), limit, 0, 1000)
    assert goals.target < goals.trigger <= max(limit - buffer, limit // 2)
    assert goals.target / goals.trigger == pytest.approx(POLICY.target / POLICY.trigger, abs=0.01)


def test_a_target_that_is_not_below_its_trigger_leaves_the_buffer_free_too() -> None:
    goals = goals_of(replace(PRESETS["neurolink@program"], buffer_tokens=5_000), 10_000, 0, 1000)
    assert goals.trigger == goals.target == 5_000
