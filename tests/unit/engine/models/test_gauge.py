from dataclasses import replace

import pytest

from foldline.engine.errors import InvalidPolicy, UnknownModel
from foldline.engine.models.budget import Goals
from foldline.engine.models.gauge import Fixed, Frame, Gauge, layout_of
from foldline.engine.models.registries import REGISTRIES
from foldline.engine.policies.layouts import LAYOUTS
from foldline.engine.policies.presets import PRESETS
from foldline.engine.tokens.estimates import ESTIMATES
from foldline.engine.tokens.measures import exact_measure, measure_of

OPUS = "anthropic/claude-opus-4"
HAIKU = "anthropic/claude-haiku-4-5"
EXACT_GOALS = Goals(limit=9_000, trigger=8_000, target=5_000, keep_recent=900, summary_max=500, minimum_saving=90)
TOOLS = b'[{"name":"ls"}]'


def goals(preset: str, fixed: Fixed | None = None, frame: Frame | None = None) -> Goals:
    return (frame or Frame(OPUS)).gauge(PRESETS[preset], EXACT_GOALS, fixed or Fixed()).goals


@pytest.mark.parametrize(
    ("layout", "model", "reserve"),
    [
        ("foldline", OPUS, 64_000),
        ("neurolink", OPUS, 64_000),
        ("agent-code", OPUS, 20_000),
        ("agent-code@program", OPUS, 16_384),
        ("agent-code@program", HAIKU, 8_192),
        ("codebuddy", OPUS, 4_096),
        ("codebuddy@program", OPUS, 4_096),
        ("pi", OPUS, 16_384),
    ],
)
def test_the_layout_says_what_is_kept_for_an_answer(layout: str, model: str, reserve: int) -> None:
    budget = Frame(model).budget(replace(PRESETS["foldline"], layout=layout))
    assert (budget.window, budget.reserve, budget.margin) == (200_000, reserve, 4_000)


@pytest.mark.parametrize(("layout", "reserve"), [("foldline", 3_500), ("agent-code", 5_000), ("codebuddy", 800)])
def test_the_reserve_is_a_share_of_small_windows(layout: str, reserve: int) -> None:
    assert Frame(OPUS, "10k").budget(replace(PRESETS["foldline"], layout=layout)).reserve == reserve


@pytest.mark.parametrize("layout", LAYOUTS)
def test_an_output_that_is_given_wins_over_any_layout(layout: str) -> None:
    policy = replace(PRESETS["foldline"], layout=layout)
    assert Frame(OPUS, None, 30_000).budget(policy).reserve == 30_000
    assert Frame(OPUS, None, 300).budget(policy).reserve == 300


def test_a_registry_is_asked_only_where_we_know_no_window() -> None:
    assert Frame("openai/gpt-5").window(PRESETS["neurolink"]).tokens == 400_000
    assert Frame("qwen/qwen-plus").window(PRESETS["codebuddy"]).tokens == 131_072
    assert Frame("qwen/qwen-plus", "8k").window(PRESETS["codebuddy"]).tokens == 8_000
    with pytest.raises(UnknownModel):
        Frame("qwen/qwen-plus").window(PRESETS["foldline"])


@pytest.mark.parametrize(("provider", "name", "tokens"), list(REGISTRIES["codebuddy"].rows()))
def test_a_model_is_known_by_the_bare_name_that_its_registry_lists(provider: str, name: str, tokens: int) -> None:
    assert provider == ""
    assert Frame(name).window(PRESETS["codebuddy"]).tokens == tokens


@pytest.mark.parametrize("preset", [name for name, policy in PRESETS.items() if policy.registry != "neurolink"])
def test_a_model_that_nobody_lists_has_no_window_by_default(preset: str) -> None:
    with pytest.raises(UnknownModel):
        Frame("acme/new").window(PRESETS[preset])


@pytest.mark.parametrize(
    ("model", "tokens"), [("acme/new", 128_000), ("huggingface/new", 32_000), ("google/new", 1_048_576)]
)
def test_neurolink_has_a_window_for_the_models_that_it_does_not_list(model: str, tokens: int) -> None:
    assert Frame(model).window(PRESETS["neurolink"]).tokens == tokens


def test_a_window_from_a_registry_is_known_to_be_counted_by_no_tokenizer_of_ours() -> None:
    assert Frame("azure/gpt-4o").window(PRESETS["neurolink"]).is_exact
    assert not Frame("gpt-4o").window(PRESETS["codebuddy"]).is_exact


def test_without_a_model_the_window_has_to_be_given() -> None:
    assert Frame(None, "32k").window(PRESETS["neurolink"]).tokens == 32_000
    with pytest.raises(InvalidPolicy, match="context_window"):
        Frame(None).window(PRESETS["neurolink"])
    assert Frame(None, "32k").provider == ""


def test_a_provider_is_called_what_other_systems_call_it() -> None:
    assert Frame(OPUS).provider == "anthropic"
    assert Frame("google/gemini-2.5-pro").provider == "google-ai"
    gauge = Frame("google/gemini-2.5-pro").gauge(PRESETS["neurolink"], EXACT_GOALS, Fixed())
    assert gauge.measure is measure_of("neurolink", "google-ai")


def test_a_policy_that_counts_exactly_sees_the_exact_goals() -> None:
    fixed = Fixed("word " * 100, TOOLS, 50)
    assert Frame(OPUS).gauge(PRESETS["foldline"], EXACT_GOALS, fixed) == Gauge(exact_measure(), EXACT_GOALS)


def test_goals_are_shares_of_what_the_layout_leaves() -> None:
    seen = goals("neurolink")
    assert (seen.limit, seen.trigger, seen.target) == (136_000, 108_800, 68_000)


def test_what_a_call_asks_for_is_taken_from_the_room_as_the_layout_allows() -> None:
    assert goals("agent-code", frame=Frame(OPUS, None, 30_000)).limit == 170_000
    assert goals("agent-code@program", frame=Frame(OPUS, None, 30_000)).limit == 180_000
    assert goals("agent-code@program", frame=Frame(OPUS, None, 5_000)).limit == 195_000


def test_a_buffer_is_left_free_below_the_limit_and_the_target_comes_down_with_the_trigger() -> None:
    seen = goals("agent-code")
    assert (seen.limit, seen.trigger, seen.target) == (180_000, 167_000, 83_500)
    seen = goals("agent-code@program")
    assert (seen.limit, seen.trigger, seen.target) == (183_616, 170_616, 170_616)


def test_a_buffer_never_takes_more_than_half_of_the_room() -> None:
    seen = goals("agent-code", frame=Frame(OPUS, "20k"))
    assert (seen.limit, seen.trigger, seen.target) == (10_000, 5_000, 2_500)


def test_shares_may_be_of_the_whole_window() -> None:
    seen = goals("codebuddy")
    assert (seen.limit, seen.trigger, seen.target) == (195_904, 180_000, 100_000)


def test_what_is_left_is_divided_by_the_safety() -> None:
    seen = goals("codebuddy@program")
    assert seen.limit == seen.trigger == seen.target == int(195_904 / 1.2)


def test_fixed_parts_are_estimated_and_taken_off_every_goal() -> None:
    fixed = Fixed("word " * 100, TOOLS, 50)
    taken = ESTIMATES["neurolink"].text("word " * 100, "anthropic") + 4 + 4 + 50
    assert fixed.estimated("neurolink", "anthropic") == taken
    bare, seen = goals("neurolink"), goals("neurolink", fixed)
    assert (bare.limit - seen.limit, bare.trigger - seen.trigger, bare.target - seen.target) == (taken,) * 3


def test_fixed_parts_come_off_before_the_safety_divides() -> None:
    fixed = Fixed(other_tokens=1_200)
    assert goals("codebuddy@program").limit - goals("codebuddy@program", fixed).limit == 1_000


def test_no_system_prompt_takes_nothing() -> None:
    assert Fixed().estimated("neurolink", "anthropic") == 0
    assert Fixed("").estimated("neurolink", "anthropic") == 0


def test_exact_goals_follow_the_layout_too() -> None:
    exact = Frame(OPUS).goals(PRESETS["codebuddy"], 1_000, 1000)
    assert (exact.limit, exact.trigger, exact.target) == (190_904, 179_000, 99_000)
    exact = Frame(OPUS).goals(PRESETS["agent-code"], 1_000, 1000)
    assert (exact.limit, exact.trigger, exact.target) == (175_000, 162_000, 87_000 * 162_000 // 175_000)


# Where a layout knows how much a model answers, that takes the place of any reserve.
@pytest.mark.parametrize("preset", [name for name, policy in PRESETS.items() if not LAYOUTS[policy.layout].outputs])
def test_a_reserve_of_the_policys_own_takes_the_place_of_the_layouts(preset: str) -> None:
    policy = replace(PRESETS[preset], reserve_tokens=30_000)
    assert Frame(OPUS).budget(policy).reserve == 30_000
    assert layout_of(policy, 200_000).levels == LAYOUTS[policy.layout].levels


def test_a_reserve_of_the_policys_own_may_be_none_at_all() -> None:
    policy = replace(PRESETS["pi"], reserve_tokens=0)
    assert Frame(OPUS).gauge(policy, EXACT_GOALS, Fixed()).goals.limit == 200_000


def test_an_output_that_is_given_wins_over_the_policys_reserve() -> None:
    assert Frame(OPUS, None, 300).budget(replace(PRESETS["pi"], reserve_tokens=30_000)).reserve == 300


@pytest.mark.parametrize(("window", "reserve"), [(30_001, 30_000), (30_000, 15_000), (20_000, 10_000)])
def test_a_reserve_that_leaves_nothing_of_a_window_gives_way_to_the_layouts(window: int, reserve: int) -> None:
    assert layout_of(replace(PRESETS["pi"], reserve_tokens=30_000), window).reserve(window) == reserve


def test_without_a_reserve_of_its_own_a_policy_has_its_layouts() -> None:
    assert layout_of(PRESETS["pi"], 200_000) is LAYOUTS["pi"]
