"""Laws of the tokens that files may take."""

from __future__ import annotations

from math import ceil

from hypothesis import given
from hypothesis import strategies as st

from foldline.engine.models.file_budget import (
    CHARS_PER_TOKEN,
    FILES_SHARE,
    FLAT_TOKENS,
    PREVIEW_ABOVE_BYTES,
    RATES,
    SizedFile,
    allowance,
    file_tokens,
    files_budget,
    select_files,
)

TOKENS = st.integers(-1_000, 2_000_000)
SIZES = st.one_of(st.integers(0, 5_000), st.integers(0, 2 * PREVIEW_ABOVE_BYTES))
KINDS = st.sampled_from(("text", "csv", *FLAT_TOKENS, *RATES))
FILES = st.lists(st.builds(SizedFile, SIZES, KINDS), max_size=12)


@given(TOKENS, TOKENS, TOKENS)
def test_files_never_get_more_than_what_is_left(window_tokens: int, used_tokens: int, output_tokens: int) -> None:
    left = window_tokens - used_tokens - output_tokens
    assert 0 <= files_budget(window_tokens, used_tokens, output_tokens) <= max(0, left)


@given(SIZES, TOKENS)
def test_a_file_never_takes_more_than_its_budget_or_itself(size_bytes: int, budget_tokens: int) -> None:
    allowed = allowance(size_bytes, budget_tokens)
    chars = size_bytes if allowed.max_chars is None else allowed.max_chars
    assert ceil(chars / CHARS_PER_TOKEN) <= max(0, budget_tokens)
    assert chars <= size_bytes


@given(SIZES, SIZES, KINDS)
def test_a_larger_file_of_a_type_takes_no_fewer_tokens(size_bytes: int, more_bytes: int, kind: str) -> None:
    assert file_tokens(SizedFile(size_bytes, kind)) <= file_tokens(SizedFile(size_bytes + more_bytes, kind))


@given(FILES, TOKENS)
def test_every_file_is_either_included_or_excluded(files: list[SizedFile], available_tokens: int) -> None:
    selection = select_files(files, available_tokens)
    assert sorted(selection.included + selection.excluded) == list(range(len(files)))
    for indexes in selection:
        assert list(indexes) == sorted(indexes, key=lambda index: (files[index].size_bytes, index))


@given(FILES, TOKENS)
def test_included_files_fit_together_and_no_excluded_one_would(files: list[SizedFile], available_tokens: int) -> None:
    selection = select_files(files, available_tokens)
    room = available_tokens * FILES_SHARE
    taken = sum(file_tokens(files[index]) for index in selection.included)
    assert taken <= max(0, room)
    assert all(taken + file_tokens(files[index]) > room for index in selection.excluded)
