"""The bounds of a model's calls, and what its refusals teach."""

from __future__ import annotations

import pytest
from foldline_worker.summarizers.bounds import Bounds, CallSize
from foldline_worker.summarizers.calls.endpoint import AnswerTooLong, TooLong


def test_without_a_known_window_the_setting_bounds_the_prompt() -> None:
    assert Bounds(100_000).size(16_616) == (100_000, 16_616)


def test_an_answer_is_within_its_limit() -> None:
    assert Bounds(100_000, answer=16_384).size(16_616).answer == 16_384


@pytest.mark.parametrize("window", [8_192, 32_000, 128_000])
def test_prompt_and_answer_are_within_the_window(window: int) -> None:
    size = Bounds(100_000, window).size(16_616)
    assert size.prompt + size.answer <= window
    assert size.answer >= min(16_616, window // 4)


def test_a_limit_of_answers_is_learned() -> None:
    bounds = Bounds(100_000)
    assert bounds.learn(AnswerTooLong("HTTP 400", 16_384), 90_000, 16_616)
    assert bounds.size(16_616) == (100_000, 16_384)


def test_a_common_limit_is_learned() -> None:
    bounds = Bounds(100_000)
    assert bounds.learn(TooLong("HTTP 400", 8_192, 500), 500, 16_616)
    size = bounds.size(16_616)
    assert size.answer == 2_048
    assert size.prompt + size.answer <= 8_192


def test_an_endpoint_that_counts_more_is_believed() -> None:
    bounds = Bounds(100_000)
    assert bounds.learn(TooLong("HTTP 400", 10_000, 12_000), 9_000, 1_000)
    size = bounds.size(1_000)
    assert (size.prompt + size.answer) * 12 / 9 <= 10_000


def test_a_window_that_is_smaller_than_said_is_learned() -> None:
    bounds = Bounds(100_000, 128_000)
    assert bounds.learn(TooLong("HTTP 400", 32_768), 99_000, 4_000)
    assert sum(bounds.size(4_000)) <= 32_768


def test_a_refusal_without_a_figure_always_makes_calls_smaller_until_nothing_is_left() -> None:
    bounds, size = Bounds(100_000), CallSize(100_000, 4_000)
    for _ in range(20):
        sent = sum(size)
        if not bounds.learn(TooLong("HTTP 400"), *size):
            break
        size = bounds.size(4_000)
        assert sum(size) < sent
    else:
        pytest.fail("there was always something left to try")
    assert size.prompt < 3_000


def test_a_figure_that_was_obeyed_already_is_not_repeated_forever() -> None:
    bounds = Bounds(100_000)
    sizes = []
    while bounds.learn(TooLong("HTTP 400", 8_192), min(7_000, bounds.size(500).prompt), 500):
        sizes.append(sum(bounds.size(500)))
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == len(sizes)


@pytest.mark.parametrize("limit", [5_000, None], ids=["with a figure", "without a figure"])
def test_refusals_of_calls_that_were_sent_together_are_learned_once(limit: int | None) -> None:
    bounds = Bounds(100_000, 8_192)
    sent = bounds.size(1_000).prompt
    assert bounds.learn(TooLong("HTTP 400", limit), sent, 1_000)
    learned = bounds.size(1_000)
    assert bounds.learn(TooLong("HTTP 400", limit), sent, 1_000)
    assert bounds.size(1_000) == learned


def test_a_refusal_of_a_small_call_leaves_room_for_larger_ones() -> None:
    bounds = Bounds(100_000, 32_768)
    assert bounds.learn(TooLong("HTTP 400"), 1_200, 200)
    assert bounds.size(200).prompt > 15_000


def test_of_calls_that_were_sent_together_the_smallest_limit_is_learned() -> None:
    bounds = Bounds(100_000, 8_192)
    assert bounds.learn(TooLong("HTTP 400", 5_000, 6_000), 6_000, 1_000)
    assert bounds.learn(TooLong("HTTP 400", 5_000, 7_500), 6_000, 1_000)
    assert sum(bounds.size(1_000)) <= 4_000


def test_a_limit_that_was_kept_to_already_ends_in_few_calls() -> None:
    bounds, calls = Bounds(100_000), 0
    while bounds.learn(AnswerTooLong("HTTP 400", 16_384), 500, bounds.size(4_000).answer):
        calls += 1
    assert calls < 8
    assert bounds.size(4_000).answer >= 64
