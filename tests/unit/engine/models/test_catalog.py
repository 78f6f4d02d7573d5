"""The models a preset knows, and what it makes of their windows."""

from __future__ import annotations

import pytest

from foldline.engine.models.catalog import CatalogRow, catalog
from foldline.engine.models.prices import Prices
from foldline.engine.models.registries import REGISTRIES
from foldline.engine.models.windows import known_models
from foldline.engine.policies.presets import PRESETS


def listed(preset: str) -> dict[str, CatalogRow]:
    return {row.model: row for row in catalog(PRESETS[preset])}


def test_foldline_lists_its_own_models() -> None:
    own = {f"{known.provider}/{known.name}": known.window for known in known_models()}
    found = listed("foldline")
    assert {model: (row.context_window, row.is_exact) for model, row in found.items()} == {
        model: (window.tokens, window.is_exact) for model, window in own.items()
    }
    assert {row.listed_window for row in found.values()} == {None}
    assert all(row.source for row in found.values())
    assert found["openai/gpt-4o"].prices == Prices(input=2.5, cached_input=1.25, cache_write=None, output=10)


@pytest.mark.parametrize("preset", [name for name, policy in PRESETS.items() if policy.registry in REGISTRIES])
def test_every_row_of_a_registry_is_listed_with_a_room_to_work_in(preset: str) -> None:
    rows = list(REGISTRIES[PRESETS[preset].registry].rows())
    found = list(catalog(PRESETS[preset]))
    assert [row.listed_window for row in found] == [tokens for _, _, tokens in rows]
    assert all(0 < row.target < row.context_window and 0 < row.trigger < row.context_window for row in found)
    assert all(0 < row.limit < row.context_window for row in found)


def test_foldlines_own_window_wins_and_both_are_listed() -> None:
    gpt_5, chat = listed("neurolink")["openai/gpt-5"], listed("codebuddy")["deepseek-chat"]
    assert (gpt_5.context_window, gpt_5.listed_window, gpt_5.trigger) == (400_000, 1_047_576, 268_800)
    assert (chat.context_window, chat.listed_window, chat.trigger) == (128_000, 64_000, 115_200)


def test_a_window_that_only_the_registry_knows_is_what_a_session_gets() -> None:
    nova, qwen = listed("neurolink")["bedrock/amazon.nova-pro-v1:0"], listed("codebuddy")["qwen-plus"]
    assert (nova.context_window, nova.listed_window, nova.is_exact) == (300_000, 300_000, False)
    assert (qwen.context_window, qwen.listed_window, qwen.is_exact) == (131_072, 131_072, False)


def test_words_are_listed_as_they_are_looked_for() -> None:
    found = listed("agent-code")
    assert list(found) == ["1m", "1000k", "opus", "sonnet", "haiku", "gpt-4o", "gpt-4", "gpt-3.5"]
    assert (found["sonnet"].context_window, found["sonnet"].trigger) == (200_000, 167_000)
    assert listed("agent-code@program")["haiku"].trigger == 178_808
