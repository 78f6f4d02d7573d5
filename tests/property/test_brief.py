"""A brief sentence is the inside of the sentence that was said."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from foldline.engine.ledger.choice.brief import LEAST_CHARS, brief

POLITE = (
    "By the way, ",
    "ok, ",
    "Please note that ",
    "Übrigens, ",
    "Au fait, ",
    "por cierto, ",
    "Thanks. ",
    "So, ",
    "",
)
SAID = (
    "the port is 4111",
    "restart the amber-gateway",
    "nobody but Dana may push",
    "alles in deploy/ bleibt, bitte nicht anfassen",
)
THANKS = (", thanks", ", please", ", in case you need it", ", danke", ", merci", "")

sentences = st.builds(
    lambda leads, said, tail, end: "".join(leads) + said + tail + end,
    st.lists(st.sampled_from(POLITE), max_size=4),
    st.one_of(st.sampled_from(SAID), st.text(max_size=60)),
    st.sampled_from(THANKS),
    st.sampled_from(".?!") | st.just(""),
)


@given(sentences)
def test_a_brief_sentence_is_what_stands_between_its_edges(sentence: str) -> None:
    left = brief(sentence)
    assert left.rstrip(".?!。") in sentence
    assert len(left) <= len(sentence)
    assert len(left) >= min(LEAST_CHARS, len(sentence))


@given(st.sampled_from(SAID), st.sampled_from(POLITE), st.sampled_from(THANKS))
def test_what_is_said_between_polite_words_stays_whole(said: str, lead: str, tail: str) -> None:
    assert said in brief(f"{lead}{said}{tail}.")
