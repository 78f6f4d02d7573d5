import pytest

from foldline.engine.errors import InvalidPolicy
from foldline.engine.texts import count_tokens, fit_text
from foldline.engine.tokens.counter import count_text
from foldline.engine.tokens.estimates import COUNTERS, ESTIMATES

TEXT = "One sentence. Another one. " * 40


def test_a_text_is_counted_by_the_tokenizer_or_an_estimate() -> None:
    assert count_tokens(TEXT) == count_text(TEXT)
    for name, estimate in ESTIMATES.items():
        assert count_tokens(TEXT, name, provider="mistral") == estimate.text(TEXT, "mistral")
    assert count_tokens(TEXT, "neurolink", is_code=True) > count_tokens(TEXT, "neurolink")


@pytest.mark.parametrize("counter", ESTIMATES)
def test_a_head_of_a_text_fits_by_an_estimate(counter: str) -> None:
    head = fit_text(TEXT, 50, counter)
    assert head.is_cut
    assert count_tokens(head.text, counter) <= 50


def test_a_counter_that_there_is_not_is_named_with_those_there_are() -> None:
    with pytest.raises(InvalidPolicy, match=", ".join(COUNTERS)):
        count_tokens(TEXT, "words")
    with pytest.raises(InvalidPolicy, match=", ".join(ESTIMATES)):
        fit_text(TEXT, 50, "exact")
