from typing import Any

import pytest

from foldline.engine.errors import InvalidMessage
from foldline.engine.models.attachments import (
    PREVIEW_CHARS,
    Attachment,
    FileRules,
    Placement,
    attachment_of,
    files_budget,
    place_files,
)
from foldline.engine.policies.layouts import LAYOUTS
from foldline.engine.tokens.counter import MESSAGE, count_text


def test_a_file_with_content_is_counted_exactly() -> None:
    text = "fold the line\n" * 10
    assert attachment_of({"path": "a.py", "content": text}, "files[0]").tokens == MESSAGE + count_text(text)


def test_a_file_known_by_size_is_counted_by_its_bytes() -> None:
    assert attachment_of({"path": "a.py", "size_bytes": 3_000}, "files[0]") == Attachment(
        "a.py", 3_000, MESSAGE + 1_000, 3_000, is_sized=True
    )
    four = FileRules(bytes_per_token=4)
    assert attachment_of({"path": "a.py", "size_bytes": 3_001}, "files[0]", four).tokens == MESSAGE + 751


@pytest.mark.parametrize(
    "value",
    [None, "a.py", {}, {"path": 3}, {"path": "a"}, {"path": "a", "size_bytes": -1}, {"path": "a", "size_bytes": True}],
)
def test_a_file_of_the_wrong_shape_is_refused_with_its_place(value: Any) -> None:
    with pytest.raises(InvalidMessage, match=r"files\[4\]"):
        attachment_of(value, "files[4]")


def files(*tokens: int) -> list[Attachment]:
    return [Attachment(f"f{number}", 4 * count, count, 4 * count) for number, count in enumerate(tokens)]


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


def test_files_may_take_their_share_of_what_is_left() -> None:
    assert files_budget(100_000, 20_000, 10_000, 0.6) == 42_000
    assert files_budget(1_001, 0, 0, 0.6) == 600
    assert files_budget(100_000, 20_000, 10_000, 0.25) == 17_500


@pytest.mark.parametrize("used_tokens", [8_000, 9_000])
def test_files_may_take_nothing_where_nothing_is_left(used_tokens: int) -> None:
    assert files_budget(8_192, used_tokens, 192, 0.6) == 0


MEGABYTES = 5 * 1024 * 1024


@pytest.mark.parametrize(
    ("size_bytes", "room", "action", "max_chars"),
    [
        (4_000, 1_000, "keep", 4_000),
        (4_001, 1_000, "truncate", 4_000),
        # Also a small head is one, but in no room there is none.
        (400_000, 1_000, "truncate", 4_000),
        (4_001, 10, "exclude", 0),
        (0, 0, "keep", 0),
        (MEGABYTES, MEGABYTES, "keep", MEGABYTES),
        (MEGABYTES + 1, MEGABYTES, "preview", PREVIEW_CHARS),
        (MEGABYTES + 1, 100, "preview", 400),
    ],
)
def test_a_file_known_by_size_is_kept_truncated_previewed_or_excluded(
    size_bytes: int, room: int, action: str, max_chars: int
) -> None:
    rules = LAYOUTS["neurolink"].files
    (placed,) = place_files(
        [attachment_of({"path": "a.log", "size_bytes": size_bytes}, "", rules)], room + MESSAGE, rules
    )
    assert (placed.action, placed.max_chars) == (action, max_chars)


def test_a_large_content_is_previewed_by_its_bytes() -> None:
    rules = FileRules(preview_above_bytes=10)
    short, long = (attachment_of({"path": "a", "content": text}, "", rules) for text in ("é" * 5, "é" * 6))
    assert [placed.action for placed in place_files([short, long], 1_000, rules)] == ["keep", "preview"]


def whole(room: int, *named: tuple[str, int]) -> list[Placement]:
    rules = LAYOUTS["neurolink@program"].files
    files = [attachment_of({"path": path, "size_bytes": size}, "", rules) for path, size in named]
    return list(place_files(files, room, rules))


def test_by_type_files_go_along_whole_smallest_first() -> None:
    placed = whole(2_000, ("a.log", 9_000), ("talk.mp4", 90_000_000), ("b.log", 3_000), ("c.pdf", 20_000))
    assert [each.action for each in placed] == ["exclude", "keep", "keep", "keep"]
    assert [each.tokens for each in placed] == [0, MESSAGE + 500, MESSAGE + 998, MESSAGE + 200]


def test_a_file_that_does_not_fit_does_not_stop_those_after_it() -> None:
    assert [each.action for each in whole(100, ("a.png", 10), ("b.svg", 20))] == ["exclude", "keep"]
    assert [each.action for each in whole(-5, ("a.svg", 0))] == ["exclude"]
