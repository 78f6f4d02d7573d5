"""Laws of what the files of a call take, under the rules of each layout."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from foldline.engine.models.attachments import FileRules, attachment_of, files_budget, place_files
from foldline.engine.models.file_types import FLAT_TOKENS, RATES, file_tokens
from foldline.engine.policies.layouts import LAYOUTS

TOKENS = st.integers(-1_000, 2_000_000)
SIZES = st.one_of(st.integers(0, 5_000), st.integers(0, 10_000_000))
KINDS = st.sampled_from(("text", "csv", *FLAT_TOKENS, *RATES))
RULES = st.sampled_from([layout.files for layout in LAYOUTS.values()])
PATHS = st.sampled_from(("a.py", "a.pdf", "a.docx", "a.png", "a.zip"))
SIZED = st.builds(lambda path, size: {"path": path, "size_bytes": size}, PATHS, SIZES)
READ = st.builds(lambda path, text: {"path": path, "content": text}, PATHS, st.text(max_size=2_000))
FILES = st.lists(SIZED | READ, max_size=12)
SHARES = st.floats(0, 1)


@given(TOKENS, TOKENS, TOKENS, SHARES)
def test_files_never_get_more_than_what_is_left(window: int, used: int, output: int, share: float) -> None:
    assert 0 <= files_budget(window, used, output, share) <= max(0, window - used - output)


@given(SIZES, SIZES, KINDS)
def test_a_larger_file_of_a_type_takes_no_fewer_tokens(size_bytes: int, more_bytes: int, kind: str) -> None:
    assert file_tokens(size_bytes, kind) <= file_tokens(size_bytes + more_bytes, kind)


@given(RULES, FILES, TOKENS)
def test_files_keep_to_their_room_and_none_takes_more_than_itself(
    rules: FileRules, given_files: list[dict[str, object]], room: int
) -> None:
    files = [attachment_of(file, "files", rules) for file in given_files]
    placed = place_files(files, room, rules)
    assert [each.path for each in placed] == [file.path for file in files]
    assert sum(each.tokens for each in placed) <= max(0, room)
    for each, file in zip(placed, files, strict=True):
        assert each.max_chars == file.chars if each.action == "keep" else each.max_chars <= file.chars
        assert rules.is_by_type or not file.is_sized or each.max_chars <= each.tokens * rules.bytes_per_token


@given(FILES, TOKENS)
def test_whole_files_are_taken_smallest_first_as_long_as_one_fits(
    given_files: list[dict[str, object]], room: int
) -> None:
    rules = LAYOUTS["neurolink@program"].files
    files = [attachment_of(file, "files", rules) for file in given_files]
    placed = place_files(files, room, rules)
    left = room - sum(each.tokens for each in placed)
    assert {each.action for each in placed} <= {"keep", "exclude"}
    assert all(file.tokens > left for each, file in zip(placed, files, strict=True) if each.action == "exclude")
