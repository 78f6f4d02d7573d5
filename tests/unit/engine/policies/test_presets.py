"""The figures that the followed systems are known by, as a session under their presets has them."""

from __future__ import annotations

import pytest

from foldline.engine.messages import user
from foldline.engine.models.budget import Goals
from foldline.engine.models.gauge import Fixed, Frame
from foldline.engine.planning.chunks import UNBOUNDED, chunk_tokens
from foldline.engine.policies.policy import FIGURES, Policy
from foldline.engine.policies.presets import PRESETS
from foldline.engine.tokens.estimates import ESTIMATES
from tests.support.conversations import Conversation

CLAUDE, SONNET = "anthropic/claude-opus-4", "anthropic/claude-sonnet-4-5"
PROGRAM_TOOLS = ("FileRead", "Bash", "Grep", "Glob", "FileEdit", "FileWrite")


def goals(preset: str, frame: Frame, fixed: Fixed | None = None) -> Goals:
    """What a session with nothing said aims at, as the preset counts."""
    policy = PRESETS[preset]
    return frame.gauge(policy, frame.goals(policy, 0, 1000), fixed or Fixed()).goals


@pytest.mark.parametrize(
    ("preset", "frame", "trigger"),
    [
        ("neurolink", Frame(CLAUDE), 108_800),
        ("neurolink", Frame("openai/gpt-4o"), 66_560),
        ("neurolink@program", Frame(CLAUDE), 108_800),
        ("agent-code", Frame("nobody/nothing", 200_000), 167_000),
        ("agent-code", Frame(SONNET), 167_000),
        ("agent-code@program", Frame(SONNET), 170_616),
        ("agent-code@program", Frame("anthropic/claude-haiku-4"), 178_808),
        ("agent-code@program", Frame("openai/gpt-4o"), 98_616),
        ("codebuddy", Frame(CLAUDE), 180_000),
        ("codebuddy", Frame("openai/gpt-4o", "16k"), 14_400),
        ("codebuddy@program", Frame(CLAUDE), 163_253),
        ("codebuddy@program", Frame("nobody/nothing", "16k"), 9_920),
        ("pi", Frame("openai/gpt-4o"), 111_616),
        ("pi@program", Frame("openai/gpt-5", 200_000), 183_616),
        ("pi@program", Frame("openai/gpt-4o", "8k"), 4_000),
    ],
)
def test_a_preset_begins_to_compact_where_its_system_does(preset: str, frame: Frame, trigger: int) -> None:
    assert goals(preset, frame).trigger == trigger


@pytest.mark.parametrize("window", [8_000, 16_000, 32_000, 128_000, 200_000, 1_000_000])
@pytest.mark.parametrize("preset", PRESETS)
def test_no_preset_waits_for_more_than_the_budget_of_a_model_with_a_margin(preset: str, window: int) -> None:
    frame = Frame(CLAUDE, window)
    own = goals(preset, frame)
    assert own.trigger <= frame.budget(PRESETS[preset]).limit
    assert own.target <= own.trigger or PRESETS[preset].is_loose


@pytest.mark.parametrize("preset", PRESETS)
def test_a_large_system_prompt_leaves_the_target_below_the_trigger_and_both_above_nothing(preset: str) -> None:
    for words in (100, 4_000, 9_000, 20_000):
        own = goals(preset, Frame(CLAUDE, 16_000), Fixed("word " * words))
        assert own.trigger > 0
        assert own.target <= own.trigger or PRESETS[preset].is_loose


@pytest.mark.parametrize(
    ("preset", "target"),
    [
        ("neurolink", 68_000),
        ("neurolink@program", 136_000),
        ("agent-code", 83_500),
        ("agent-code@program", 170_616),
        ("codebuddy", 100_000),
        ("codebuddy@program", 163_253),
        ("pi", 91_808),
        ("pi@program", 91_808),
    ],
)
def test_a_documented_system_goes_well_below_its_trigger_and_its_program_to_what_there_is(
    preset: str, target: int
) -> None:
    assert goals(preset, Frame(SONNET)).target == target


def test_a_system_prompt_of_two_thousand_tokens_is_taken_off_before_the_margin_for_error() -> None:
    fixed = Fixed(other_tokens=2_000)
    assert goals("codebuddy@program", Frame("nobody/nothing", "16k"), fixed).trigger == 8_253


def test_a_neurolink_estimate_is_a_fourth_by_provider_and_a_margin() -> None:
    neurolink = ESTIMATES[PRESETS["neurolink"].counter]
    text = "x" * 4_000
    providers = ("openai", "anthropic", "vertex", "mistral")
    assert [neurolink.text(text, provider) for provider in providers] == [1_150, 1_415, 1_357, 1_449]
    assert neurolink is ESTIMATES[PRESETS["neurolink@program"].counter]


def test_microcompact_keeps_two_turns_or_five_results_of_the_tools_it_knows() -> None:
    documented = PRESETS["agent-code"].stage("microcompact")
    program = PRESETS["agent-code@program"].stage("microcompact")
    assert (documented.number("keep_turns"), documented.names("tools")) == (2, frozenset())
    assert (program.number("keep_turns"), program.number("keep_results")) == (0, 5)
    assert [program.on(reason).number("keep_results") for reason in ("trigger", "asked", "overflow")] == [5, 2, 1]
    assert [documented.on(reason).number("keep_turns") for reason in ("trigger", "asked", "overflow")] == [2, 2, 1]
    assert program.names("tools") == {name.lower() for name in PROGRAM_TOOLS}


@pytest.mark.parametrize(
    ("preset", "window", "chunk"),
    [
        ("codebuddy", 16_000, 6_400),
        ("codebuddy", 200_000, 12_000),
        ("codebuddy@program", 16_000, 7_904),
        ("codebuddy@program", 128_000, 47_104),
        ("neurolink", 200_000, UNBOUNDED),
    ],
)
def test_a_summary_reads_as_much_at_once_as_a_chunk_may_take(preset: str, window: int, chunk: int) -> None:
    outline = Conversation.of([user("a word or two")] * 9).outline
    assert chunk_tokens(outline, PRESETS[preset].stage("summarize"), window, due=9) == chunk


@pytest.mark.parametrize("policy", PRESETS.values(), ids=PRESETS)
def test_what_a_preset_reports_is_what_its_system_returns(policy: Policy) -> None:
    system = policy.preset.partition("@")[0]
    deduped_and_removed = FIGURES[-2:]
    expected = {"codebuddy": FIGURES[:-2], "neurolink": deduped_and_removed}.get(system, ())
    assert policy.report == expected


def test_only_pi_splits_turns_lists_files_and_trusts_what_is_reported() -> None:
    found = {name: (policy.splits_turns, policy.lists_files, policy.trusts_usage) for name, policy in PRESETS.items()}
    assert found == {name: (name.partition("@")[0] == "pi",) * 3 for name in PRESETS}


@pytest.mark.parametrize("policy", PRESETS.values(), ids=PRESETS)
def test_a_summary_of_a_branch_leaves_as_much_free_as_pi_does(policy: Policy) -> None:
    assert (policy.branch_reserve_tokens, policy.reserve_tokens) == (16_384, None)


def test_pi_keeps_as_much_as_it_documents_or_as_its_program_does() -> None:
    documented, program = (PRESETS[name].stage("summarize") for name in ("pi", "pi@program"))
    assert (documented.number("keep_tokens"), program.number("keep_tokens")) == (16_384, 20_000)
    assert (documented.number("rounds_forward"), program.number("rounds_forward")) == (0, 1)
