from typing import Any

import pytest

from foldline.engine.errors import InvalidMessage
from foldline.engine.models.attachments import PREVIEW_CHARS, Attachment, attachment_of, place_files
from foldline.engine.tokens.counter import MESSAGE, count_text


def test_a_file_with_content_is_counted_exactly() -> None:
    text = "fold the line\n" * 10
    assert attachment_of({"path": "a.py", "content": text}, "files[0]").tokens == MESSAGE + count_text(text)


def test_a_file_known_by_size_is_counted_by_its_bytes() -> None:
    assert attachment_of({"path": "a.py", "size_bytes": 3_000}, "files[0]") == Attachment(
        "a.py", 3_000, MESSAGE + 1_000
    )


@pytest.mark.parametrize(
    "value",
    [None, "a.py", {}, {"path": 3}, {"path": "a"}, {"path": "a", "size_bytes": -1}, {"path": "a", "size_bytes": True}],
)
def test_a_file_of_the_wrong_shape_is_refused_with_its_place(value: Any) -> None:
    with pytest.raises(InvalidMessage, match=r"files\[4\]"):
        attachment_of(value, "files[4]")


def files(*tokens: int) -> list[Attachment]:
    return [Attachment(f"f{number}", 4 * count, count) for number, count in enumerate(tokens)]


def test_files_that_fit_are_kept_whole() -> None:
    assert [(p.action, p.max_chars) for p in place_files(files(100, 200), 300)] == [("keep", 400), ("keep", 800)]


def test_what_small_files_leave_goes_to_larger_ones() -> None:
    large, small = place_files(files(900, 100), 800)
    assert (small.action, large.action) == ("keep", "truncate")
    assert large.tokens == 700


def test_a_file_of_which_little_would_be_left_is_previewed() -> None:
    (placed,) = place_files(files(100_000), 10_000)
    assert (placed.action, placed.max_chars) == ("preview", PREVIEW_CHARS)
    assert placed.tokens < 10_000


def test_a_file_without_room_is_excluded() -> None:
    assert [(p.action, p.max_chars, p.tokens) for p in place_files(files(500, 600), 60)] == [("exclude", 0, 0)] * 2
    assert place_files(files(500), -7)[0].action == "exclude"


def test_files_together_never_take_more_than_the_room() -> None:
    for room in range(0, 5_000, 37):
        placed = place_files(files(10, 4_000, 700, 90_000, 0, 700), room)
        assert sum(p.tokens for p in placed) <= room
        assert [p.path for p in placed] == ["f0", "f1", "f2", "f3", "f4", "f5"]


def test_no_files_need_no_room() -> None:
    assert place_files([], 0) == ()
