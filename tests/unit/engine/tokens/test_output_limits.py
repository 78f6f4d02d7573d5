import pytest

from foldline.engine.tokens.estimates import ESTIMATES
from foldline.engine.tokens.output_limits import (
    ELLIPSIS,
    MAX_OUTPUT_BYTES,
    MAX_OUTPUT_LINES,
    Truncated,
    fit_text,
    limit_output,
)

CHARS = ESTIMATES["chars4"]
FAMILY = "👩‍👩‍👧‍👦"


def test_a_text_within_its_budget_stays_as_it_is() -> None:
    assert fit_text("Fold it.", 2, CHARS) == Truncated("Fold it.", "Fold it.", is_cut=False)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Fold it. Then fold it once more", "Fold it."),
        ("Fold it once. Then fold once more", "Fold it once."),
        ("Fold it! Then fold it once more", "Fold it!"),
        ("fold it\nThen fold it once more", "fold it\n"),
        ("Go. Then unfold it all and stop", "Go. Then"),
        ("Version 2.5 is the one to look at", "Version 2.5"),
        ("foldthelineandfoldit", "foldthelinean"),
        ("数据库连接超时数据库连接超时数据库连接超时", "数据库连接超时数据库连接超"),
    ],
)
def test_a_text_ends_after_a_sentence_or_line_else_a_word_else_a_character(text: str, kept: str) -> None:
    assert fit_text(text, 4, CHARS) == Truncated(kept + ELLIPSIS, kept, is_cut=True)


def test_an_end_in_the_first_half_of_the_room_is_not_taken() -> None:
    assert fit_text("Go on. " + "x" * 40, 4, CHARS).kept == "Go on. xxxxxx"


def test_a_text_is_not_cut_inside_a_grapheme() -> None:
    assert fit_text("ab" + FAMILY * 9, 4, CHARS).kept == "ab" + FAMILY
    assert fit_text(FAMILY * 9, 3, CHARS).kept == ""
    # U+0600 is one with the space after it.
    assert fit_text("fold fold \u0600 fold fold", 4, CHARS).kept == "fold fold "


def test_a_text_is_measured_as_its_estimate_does() -> None:
    assert fit_text("😀" * 9, 3, CHARS).kept == "😀" * 4
    assert fit_text("é" * 18, 4, ESTIMATES["agent-code"]).kept == "é" * 6


def test_a_provider_that_needs_more_tokens_gets_less_text() -> None:
    text, estimate = "fold " * 100, ESTIMATES["neurolink"]
    assert len(fit_text(text, 50, estimate, "mistral").kept) < len(fit_text(text, 50, estimate).kept)


def test_a_text_denser_than_prose_still_fits() -> None:
    estimate = ESTIMATES["codebuddy"]
    fitted = fit_text("数据库连接超时" * 50, 100, estimate)
    assert 95 <= estimate.text(fitted.text) <= 100


@pytest.mark.parametrize("budget_tokens", [-5, 0, 1])
def test_without_room_for_a_character_and_the_ellipsis_nothing_is_left(budget_tokens: int) -> None:
    assert fit_text("😀😀😀", budget_tokens, ESTIMATES["neurolink"]) == Truncated("", "", is_cut=True)


def test_an_output_within_both_limits_stays_as_it_is() -> None:
    assert limit_output("one\ntwo", 7, 2) == Truncated("one\ntwo", "one\ntwo", is_cut=False)


def test_the_first_lines_come_before_the_notice() -> None:
    cut = limit_output("one\ntwo\nthree", max_lines=2, side="head")
    assert cut.text == "one\ntwo\n[… 6 of 13 bytes left out, 1 of 3 lines …]"
    assert cut.kept == "one\ntwo"


def test_the_last_lines_come_after_the_notice() -> None:
    assert limit_output("one\ntwo\nthree", max_lines=2).text == "[… 4 of 13 bytes left out, 1 of 3 lines …]\ntwo\nthree"


def test_bytes_are_limited_after_lines() -> None:
    assert limit_output("one\ntwo\nthree", 6, 2, "head").kept == "one\ntw"
    assert limit_output("one\ntwo\nthree", 6, 2, "tail").kept == "\nthree"


def test_a_limit_counts_bytes_and_keeps_characters_whole() -> None:
    assert limit_output("éééé", 5, side="head").kept == "éé"
    assert limit_output("éééé", 5, side="tail").kept == "éé"


def test_a_grapheme_is_kept_whole_or_not_at_all() -> None:
    assert limit_output(f"ab{FAMILY}", 20, side="head").kept == "ab"
    assert limit_output(f"{FAMILY}ab", 20, side="tail").kept == "ab"
    assert limit_output("a\r\nb", max_lines=1, side="head").kept == "a"


def test_limits_of_zero_leave_the_notice_alone() -> None:
    for cut in (limit_output("a\nb", 0), limit_output("a\nb", max_lines=0), limit_output("a\nb", 0, side="head")):
        assert cut == Truncated("[… 3 of 3 bytes left out, 2 of 2 lines …]", "", is_cut=True)


def test_a_lone_surrogate_does_not_stop_a_cut() -> None:
    assert limit_output("ab\ud83dcd", 5, side="head").kept == "ab\ud83d"
    assert fit_text("ab\ud83d" * 9, 2, CHARS).kept == "ab\ud83dab"


def test_an_output_has_limits_of_its_own_accord() -> None:
    assert not limit_output("x" * MAX_OUTPUT_BYTES).is_cut
    assert limit_output("x" * (MAX_OUTPUT_BYTES + 1)).is_cut
    assert not limit_output("\n" * (MAX_OUTPUT_LINES - 1)).is_cut
    assert limit_output("\n" * MAX_OUTPUT_LINES).is_cut


def test_a_text_of_one_endless_grapheme_still_ends() -> None:
    endless = "e" + "\u0301" * 10_000
    assert len(limit_output(endless, 1_000).kept) <= 500
    assert fit_text(endless, 100, CHARS).is_cut
