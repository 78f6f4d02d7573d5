"""Laws of texts and outputs cut to a limit."""

from __future__ import annotations

import regex
from hypothesis import example, given
from hypothesis import strategies as st

from foldline.engine.tokens.estimates import ESTIMATES, Estimate, utf8_bytes
from foldline.engine.tokens.output_limits import Side, fit_text, limit_output

PIECES = (
    *("fold", "the line", ". ", "! ", "? ", "\n", "\r\n", " ", "3.14", "x" * 40, "```", "{", "}"),
    *("数据库", "é", "e\u0301", "😀", "👩‍👩‍👧‍👦", "🇩🇪", "각", "\u0600", "\ud83d"),
)
TEXTS = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)
WORDS = st.lists(st.sampled_from(("fold", "a", "line.", "again!", "wide-open")), min_size=60, max_size=90).map(" ".join)
ANY_ESTIMATE = st.sampled_from(list(ESTIMATES.values()))
PROVIDERS = st.sampled_from((None, "anthropic", "vertex", "mistral", "acme"))
BYTES = st.integers(0, 400)
LINES = st.integers(1, 20)
# A text and fewer bytes than it has.
TOO_LONG = TEXTS.filter(bool).flatmap(lambda text: st.tuples(st.just(text), st.integers(0, utf8_bytes(text) - 1)))
SIDES = st.sampled_from(("head", "tail"))


def grapheme_ends(text: str) -> set[int]:
    return {0, *(match.end() for match in regex.finditer(r"\X", text))}


@given(TEXTS, st.integers(-1, 120), ANY_ESTIMATE, PROVIDERS)
# The head up to its last sentence is estimated higher than a longer one, which has fewer foreign characters in it.
@example("数" * 20 + "x" * 40 + ". " + "y" * 200, 30, ESTIMATES["codebuddy"], None)
def test_a_fitted_text_is_a_head_of_whole_graphemes_within_its_budget(
    text: str, budget_tokens: int, estimate: Estimate, provider: str | None
) -> None:
    fitted = fit_text(text, budget_tokens, estimate, provider)
    assert estimate.text(fitted.text, provider) <= max(0, budget_tokens)
    assert text.startswith(fitted.kept)
    assert len(fitted.kept) in grapheme_ends(text)
    assert fitted.is_cut == (fitted.text != text or estimate.text(text, provider) > budget_tokens)


@given(TEXTS, st.integers(0, 120), ANY_ESTIMATE, PROVIDERS)
def test_a_fitted_text_fits(text: str, budget_tokens: int, estimate: Estimate, provider: str | None) -> None:
    fitted = fit_text(text, budget_tokens, estimate, provider).text
    assert fit_text(fitted, budget_tokens, estimate, provider).text == fitted


@given(WORDS, st.integers(8, 25), ANY_ESTIMATE)
def test_words_stay_whole_and_at_least_a_third_of_the_budget_is_used(
    text: str, budget_tokens: int, estimate: Estimate
) -> None:
    fitted = fit_text(text, budget_tokens, estimate)
    assert fitted.is_cut
    assert text[len(fitted.kept)] == " "
    assert estimate.text(fitted.text) >= budget_tokens // 3


@given(TEXTS, BYTES, LINES, SIDES)
def test_a_limited_output_is_a_side_of_whole_graphemes_within_its_limits(
    text: str, max_bytes: int, max_lines: int, side: Side
) -> None:
    kept = limit_output(text, max_bytes, max_lines, side).kept
    assert utf8_bytes(kept) <= max_bytes
    assert kept.count("\n") < max_lines
    assert text.startswith(kept) if side == "head" else text.endswith(kept)
    assert (len(kept) if side == "head" else len(text) - len(kept)) in grapheme_ends(text)


@given(TOO_LONG, LINES, SIDES)
def test_a_limited_output_could_not_keep_one_grapheme_more(output: tuple[str, int], max_lines: int, side: Side) -> None:
    text, max_bytes = output
    cut = limit_output(text, max_bytes, max_lines, side)
    assert cut.is_cut
    ends = sorted(grapheme_ends(text))
    if side == "head":
        longer = text[: next(end for end in ends if end > len(cut.kept))]
    else:
        longer = text[next(end for end in reversed(ends) if end < len(text) - len(cut.kept)) :]
    assert utf8_bytes(longer) > max_bytes or longer.count("\n") + 1 > max_lines


@given(TEXTS, BYTES, LINES, SIDES)
def test_what_an_output_keeps_is_within_the_same_limits(text: str, max_bytes: int, max_lines: int, side: Side) -> None:
    kept = limit_output(text, max_bytes, max_lines, side).kept
    assert not limit_output(kept, max_bytes, max_lines, side).is_cut


@given(TOO_LONG, LINES, SIDES)
def test_a_notice_says_what_is_missing(output: tuple[str, int], max_lines: int, side: Side) -> None:
    text, max_bytes = output
    cut = limit_output(text, max_bytes, max_lines, side)
    notice = cut.text.removeprefix(cut.kept) if side == "head" else cut.text.removesuffix(cut.kept)
    lost, size, lost_lines, lines = (int(number.replace(",", "")) for number in regex.findall(r"[\d,]*\d", notice))
    assert (size - lost, size) == (utf8_bytes(cut.kept), utf8_bytes(text))
    assert (lines - lost_lines, lines) == (len(cut.kept.split("\n")) if cut.kept else 0, len(text.split("\n")))
