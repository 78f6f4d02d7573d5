"""The windows other systems know, and how they divide them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.engine.models.registries import AGENT_CODE, CODEBUDDY, NEUROLINK, REGISTRIES
from foldline.engine.policies.layouts import LAYOUTS

TOKENS = st.integers(1, 4_000_000)


@pytest.mark.parametrize("name", REGISTRIES)
@given(model=st.none() | st.text(max_size=30), provider=st.none() | st.sampled_from(["openai", "vertex", "nobody"]))
def test_every_model_has_a_window(name: str, model: str | None, provider: str | None) -> None:
    assert REGISTRIES[name].window(model, provider) >= 8_192


def test_the_longest_name_wins_and_a_longer_word_is_another_model() -> None:
    assert NEUROLINK.window("gpt-4.1-mini-2025-04-14", "openai") == 1_047_576
    assert NEUROLINK.window("o1-mini-2024", "openai") == 128_000
    assert NEUROLINK.window("gpt-40", "azure") == 128_000
    assert CODEBUDDY.window("gpt-4o-mini-2024-07-18") == 128_000
    assert CODEBUDDY.window("gpt-4-0613") == 8_192


def test_a_size_in_a_name_counts_only_as_a_word() -> None:
    assert AGENT_CODE.window("claude-opus-4[1m]") == 1_000_000
    assert AGENT_CODE.window("llama-3.1m-instruct") == 128_000
    assert AGENT_CODE.window("phi-1m2") == 128_000
    assert AGENT_CODE.window("us.gpt-3.5-turbo") == 16_384
    assert AGENT_CODE.window("eu.claude.opus-4") == 200_000


@pytest.mark.parametrize("name", LAYOUTS)
@given(window=TOKENS, asked=st.none() | TOKENS, tokens=st.integers(0, 5_000_000))
def test_levels_are_reached_in_order_and_never_by_nothing(
    name: str, window: int, asked: int | None, tokens: int
) -> None:
    layout = LAYOUTS[name]
    room = layout.available(window, asked)
    assert 0 <= room <= window
    names = [level.name for level in layout.levels]
    assert list(layout.reached(tokens, room)) == names[: len(layout.reached(tokens, room))]
    if room:
        assert layout.reached(0, room) == []


@given(window=TOKENS, fixed=st.integers(0, 4_000_000))
def test_a_budget_leaves_room_for_what_an_estimate_misses(window: int, fixed: int) -> None:
    layout = LAYOUTS["codebuddy@program"]
    budget = layout.budget(window, fixed)
    assert budget >= 0
    assert budget * 1.2 <= max(0, window - fixed)
