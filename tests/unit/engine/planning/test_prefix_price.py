"""When an edit is worth the prefix that it changes, and what a compaction costs and saves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from foldline.engine.edits import Edit
from foldline.engine.models.gauge import Gauge, rates_of
from foldline.engine.models.prices import USUAL_RATES, CacheRates, Prices
from foldline.engine.planning.pipeline import plan_for
from foldline.engine.planning.prefix_price import first_edited, pays, price_of, rewritten, shown, tokens_a_call
from foldline.engine.policies.presets import PRESETS
from foldline.engine.tokens.measures import exact_measure
from tests.support.conversations import Conversation, user
from tests.unit.engine.planning.test_pipeline import goals, work

LARGE, SMALL = "word " * 1_000, "word " * 50


def clears(*seqs: int) -> list[Edit]:
    return [Edit("clear", seq, seq) for seq in seqs]


def talk_of(*sizes: str) -> Conversation:
    """A user message (seq 1), then a batch with a result of each size (seqs 3, 5, 7 …)."""
    return Conversation.of([user("go"), *(message for n, text in enumerate(sizes) for message in work(f"c{n}", text))])


def is_worth(talk: Conversation, edits: list[Edit], rates: CacheRates = USUAL_RATES) -> bool:
    return pays(talk.outline, talk.outline.edited(edits), edits, rates)


def test_what_follows_the_first_edited_entry_is_written_again() -> None:
    talk = talk_of(LARGE, SMALL, SMALL)
    after = talk.outline.edited(clears(5))
    assert rewritten(after, first_edited(clears(5))) == sum(map(shown, after.items[2:]))
    assert rewritten(after, first_edited([])) == 0
    assert rewritten(talk.outline, 1) == talk.outline.tokens


def test_a_call_adds_what_a_batch_and_its_share_of_the_other_messages_take() -> None:
    talk = talk_of(SMALL, SMALL)
    assert tokens_a_call(talk.outline) == pytest.approx(talk.outline.tokens / 2)


def test_an_early_edit_that_saves_little_does_not_pay_and_a_large_one_does() -> None:
    talk = talk_of(SMALL, LARGE, LARGE, LARGE, SMALL)
    assert not is_worth(talk, clears(3))
    assert not is_worth(talk, clears(5))
    quiet = talk_of(*[LARGE] * 4, *[SMALL] * 40)
    assert is_worth(quiet, clears(3, 5, 7, 9))


def test_without_a_dearer_write_any_edit_pays_and_without_a_cache_too() -> None:
    talk = talk_of(SMALL, LARGE, LARGE)
    assert is_worth(talk, clears(3), CacheRates(1.0, 1.0))
    assert not is_worth(talk, clears(3), CacheRates(0.1, 1.0))


def planned_stages(talk: Conversation, target: int, rates: CacheRates | None) -> tuple[tuple[str, ...], bool]:
    """The stages of the automatic plan of the default policy for a view that fits, and whether it wants a summary."""
    tokens = talk.outline.tokens
    own = replace(goals(2 * tokens), trigger=tokens - 1, target=target, keep_recent=0, minimum_saving=0, rates=rates)
    plan = plan_for(talk.outline, PRESETS["foldline"].stages, own, Gauge(exact_measure(), own))
    return plan.stages_used, plan.is_summary_wanted


def test_edits_of_a_view_that_fits_wait_for_the_summary_that_changes_the_prefix_anyway() -> None:
    talk = talk_of(*[LARGE] * 4, *[SMALL] * 40)
    assert planned_stages(talk, 0, USUAL_RATES) == ((), True)
    assert planned_stages(talk, 0, None) == (("prune",), True)


def test_edits_that_reach_the_target_alone_are_made_if_they_pay() -> None:
    quiet, busy = talk_of(*[LARGE] * 4, *[SMALL] * 40), talk_of(SMALL, *[LARGE] * 4)
    assert planned_stages(quiet, quiet.outline.tokens - 3_500, USUAL_RATES) == (("prune",), False)
    assert planned_stages(busy, busy.outline.tokens - 1, USUAL_RATES) == ((), False)
    assert planned_stages(busy, busy.outline.tokens - 1, None) == (("prune",), False)


def test_money_is_named_where_prices_are_known() -> None:
    assert price_of(2_000_000, 500_000, Prices(3, 0.3, 3.75, 15)) == (2_000_000, 500_000, 6.9, 0.15)
    assert price_of(1_000_000, 500_000, Prices(2, 1, None, 8)) == (1_000_000, 500_000, 1.0, 0.5)
    for unknown in (None, Prices(input=3), Prices(output=3)):
        assert price_of(10, 5, unknown) == (10, 5, None, None)


def test_the_rates_are_the_models_where_its_prices_are_known() -> None:
    assert rates_of("anthropic/claude-sonnet-5-5") == pytest.approx((0.05, 1.25))
    assert rates_of("openai/gpt-4o") == (0.5, 1.0)
    assert rates_of("nobody/nothing") == rates_of("anthropic/claude-2") == rates_of(None) == USUAL_RATES
