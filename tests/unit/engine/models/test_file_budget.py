import pytest

from foldline.engine.models.attachments import PREVIEW_CHARS
from foldline.engine.models.file_budget import (
    FLAT_TOKENS,
    PREVIEW_ABOVE_BYTES,
    Allowance,
    FileSelection,
    SizedFile,
    allowance,
    file_tokens,
    files_budget,
    select_files,
)


def test_files_may_take_their_share_of_what_is_left() -> None:
    assert files_budget(100_000, 20_000, 10_000) == 42_000
    assert files_budget(1_001, 0, 0) == 600


def test_the_share_of_files_may_be_another() -> None:
    assert files_budget(100_000, 20_000, 10_000, share=0.25) == 17_500
    files = [SizedFile(100, "svg"), SizedFile(120, "svg")]
    assert select_files(files, 100, share=0.3) == FileSelection((0,), (1,))
    assert select_files(files, 100) == FileSelection((0, 1), ())


@pytest.mark.parametrize("used_tokens", [8_000, 9_000])
def test_files_may_take_nothing_where_nothing_is_left(used_tokens: int) -> None:
    assert files_budget(8_192, used_tokens, 192) == 0


@pytest.mark.parametrize(
    ("size_bytes", "budget_tokens", "expected"),
    [
        (4_000, 1_000, Allowance("keep")),
        (4_001, 1_000, Allowance("truncate", 4_000)),
        (0, 0, Allowance("keep")),
        (0, -7, Allowance("keep")),
        (1, 0, Allowance("exclude", 0)),
        (PREVIEW_ABOVE_BYTES, PREVIEW_ABOVE_BYTES, Allowance("keep")),
        (PREVIEW_ABOVE_BYTES + 1, PREVIEW_ABOVE_BYTES, Allowance("preview", PREVIEW_CHARS)),
        (PREVIEW_ABOVE_BYTES + 1, 100, Allowance("preview", 400)),
        (PREVIEW_ABOVE_BYTES + 1, -7, Allowance("exclude", 0)),
    ],
)
def test_a_file_is_kept_truncated_previewed_or_excluded(
    size_bytes: int, budget_tokens: int, expected: Allowance
) -> None:
    assert allowance(size_bytes, budget_tokens) == expected


@pytest.mark.parametrize("kind", sorted(FLAT_TOKENS))
def test_what_is_not_sent_as_text_takes_the_same_at_any_size(kind: str) -> None:
    assert file_tokens(SizedFile(0, kind)) == file_tokens(SizedFile(10**9, kind)) == FLAT_TOKENS[kind]


@pytest.mark.parametrize(
    ("size_bytes", "kind", "tokens"),
    [
        (300, "text", 100),
        (300, "a type of its own", 100),
        (0, "text", 0),
        (5, "svg", 2),
        (1_000, "xlsx", 38),
        (1_000, "docx", 38),
        (1_000, "pptx", 38),
        (101, "pdf", 2),
        (10_000_000, "pdf", 50_000),
    ],
)
def test_other_files_take_tokens_by_their_size_and_type(size_bytes: int, kind: str, tokens: int) -> None:
    assert file_tokens(SizedFile(size_bytes, kind)) == tokens


def test_a_file_of_no_known_type_is_text() -> None:
    assert SizedFile(300) == SizedFile(300, "text")


def test_files_are_taken_smallest_first_and_equal_ones_in_the_order_given() -> None:
    files = [SizedFile(40, "svg"), SizedFile(20, "svg"), SizedFile(20, "svg"), SizedFile(4, "svg")]
    assert select_files(files, 100) == FileSelection((3, 1, 2, 0), ())


def test_a_file_that_does_not_fit_does_not_stop_those_after_it() -> None:
    assert select_files([SizedFile(10, "image"), SizedFile(20, "svg")], 100) == FileSelection((1,), (0,))


def test_what_a_file_takes_is_gone_for_the_next() -> None:
    files = [SizedFile(160, "svg"), SizedFile(120, "svg"), SizedFile(80, "svg")]
    assert select_files(files, 100) == FileSelection((2, 1), (0,))


def test_without_tokens_only_files_that_take_none_go_along() -> None:
    files = [SizedFile(0), SizedFile(1)]
    assert select_files(files, 0) == FileSelection((0,), (1,))
    assert select_files(files, -5) == FileSelection((), (0, 1))
