"""The question below a view, and what both forms of a summary's input cost."""

from __future__ import annotations

from dataclasses import replace

import pytest

from foldline.engine.messages import user
from foldline.engine.models.prices import MILLION, Prices
from foldline.engine.summaries.cached_beginning import CachedBeginning
from foldline.engine.summaries.headings import HEADINGS
from foldline.engine.summaries.prompt import SummaryInput, prompt, question
from foldline.engine.summaries.riding import input_costs, question_tokens, transcript_tokens
from foldline.engine.tokens.counter import count_text

PRICES = Prices(3.0, 0.3, 3.75, 15.0)
BEGINNING = CachedBeginning("own", "You look.", (), ({"role": "user", "content": "Go on."},), 5_000)
REQUEST = SummaryInput((), (user("Rename the parser. " * 1_000),), 800, beginning=BEGINNING)


@pytest.mark.parametrize("headings", HEADINGS)
def test_a_question_asks_for_the_same_headings_as_a_prompt(headings: str) -> None:
    request = replace(REQUEST, headings=headings)
    for heading in HEADINGS[headings]:
        assert f"{heading.line}: {heading.guide}" in question(request)
        assert f"{heading.line}: {heading.guide}" in prompt(request, 50_000)[0]["content"]
    assert "<conversation>" not in question(request)


def test_a_question_says_what_stays_what_is_merged_and_why_it_is_asked_again() -> None:
    assert "All messages above" in question(REQUEST)
    assert "earlier summaries" not in question(REQUEST).casefold()
    asked = question(
        replace(REQUEST, previous=("old",), instructions="stress it", beginning=BEGINNING._replace(stays=2)),
        "it is incomplete",
    )
    assert "The first 2 of the messages above will stay" in asked
    assert "Earlier summaries among the messages above" in asked
    assert "<instructions>\nstress it\n</instructions>" in asked
    assert "A former attempt could not be used: it is incomplete." in asked
    assert "no more than 640 tokens" in asked


def test_the_input_costs_what_is_cached_and_the_question_or_the_transcript() -> None:
    costs = input_costs(REQUEST, PRICES)
    assert costs is not None
    assert costs.view == pytest.approx((5_000 * 0.3 + question_tokens(REQUEST) * 3.0) / MILLION)
    sent = sum(count_text(message["content"]) for message in prompt(REQUEST, 100_000))
    assert costs.transcript == pytest.approx(sent * 3.0 / MILLION, rel=0.02)
    assert costs.is_view_cheaper


def test_a_long_view_with_little_to_summarize_costs_more_than_a_transcript() -> None:
    long = replace(REQUEST, beginning=BEGINNING._replace(tokens=80_000))
    costs = input_costs(long, PRICES)
    assert costs is not None
    assert not costs.is_view_cheaper


def test_earlier_summaries_are_a_part_of_the_transcript() -> None:
    more = replace(REQUEST, previous=("The reader stays. " * 100,))
    assert transcript_tokens(more) > transcript_tokens(REQUEST) + 300


def test_without_a_beginning_or_a_price_nothing_is_compared() -> None:
    assert input_costs(replace(REQUEST, beginning=None), PRICES) is None
    assert input_costs(REQUEST, None) is None
    assert input_costs(REQUEST, Prices(3.0, None, None, 15.0)) is None
