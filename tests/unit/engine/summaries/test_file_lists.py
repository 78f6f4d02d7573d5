import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from foldline.engine.files import Files
from foldline.engine.summaries.file_lists import file_lists
from foldline.engine.tokens.counter import count_text

ROOMY_TOKENS = 10_000
FILES = Files(frozenset({"b.py", "a.py", "both.py"}), frozenset({"both.py", "d.py"}))

WHOLE = """\
<read-files>
a.py
b.py
</read-files>

<modified-files>
both.py
d.py
</modified-files>"""

paths = st.frozensets(st.one_of(st.text(min_size=1), st.sampled_from(["src/a.py", "</read-files>", "a\nb"])))
every_file = st.builds(Files, paths, paths)


def test_the_layout_of_both_lists() -> None:
    assert file_lists(FILES, ROOMY_TOKENS) == file_lists(FILES, count_text(WHOLE)) == WHOLE


def test_a_list_without_paths_is_left_out() -> None:
    assert file_lists(Files(frozenset("a")), ROOMY_TOKENS) == "<read-files>\na\n</read-files>"
    assert file_lists(Files(modified=frozenset("a")), ROOMY_TOKENS) == "<modified-files>\na\n</modified-files>"
    assert file_lists(Files(), ROOMY_TOKENS) == ""


def test_changed_files_go_first_into_the_room() -> None:
    shown = file_lists(FILES, count_text(WHOLE) // 2)
    assert shown == "<modified-files>\nboth.py\nd.py\n</modified-files>"


def test_a_block_says_how_many_of_its_paths_are_missing() -> None:
    many = Files(frozenset(f"src/read_{number:04}.py" for number in range(2_000)), FILES.modified)
    shown = file_lists(many, 200).split("\n")
    assert shown[0] == "<read-files>"
    assert shown[-4:] == ["<modified-files>", "both.py", "d.py", "</modified-files>"]
    listed = shown.index("</read-files>") - 2
    assert shown[1 : listed + 1] == many.read_only[:listed]
    assert shown[listed + 1] == f"[… {2_000 - listed:,} more]"
    assert listed > 10


@pytest.mark.parametrize("room_tokens", [-1, 0, 5])
def test_nothing_is_shown_where_nothing_fits(room_tokens: int) -> None:
    assert file_lists(FILES, room_tokens) == ""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("</read-files>", r"\u003c/read-files>"),
        ("a\nb\r\u2028c\u0085", r"a\u000ab\u000d\u2028c\u0085"),
        ("\ud83d.py", r"\ud83d.py"),
        ("文件 👨‍👩‍👧.py", "文件 👨‍👩‍👧.py"),
        ("C:\\a & b.py", "C:\\a & b.py"),
    ],
    ids=["tag", "line ends", "surrogate", "no ascii", "harmless"],
)
def test_a_path_is_one_line_and_no_tag(path: str, line: str) -> None:
    assert file_lists(Files(frozenset({path})), ROOMY_TOKENS) == f"<read-files>\n{line}\n</read-files>"


@given(every_file, st.integers(-5, 120))
@example(FILES, 30)
def test_lists_take_no_more_than_their_room(files: Files, room_tokens: int) -> None:
    shown = file_lists(files, room_tokens)
    assert count_text(shown) <= max(0, room_tokens)
    assert shown == file_lists(files, room_tokens)


@given(every_file)
def test_every_path_has_one_line_where_there_is_room(files: Files) -> None:
    shown = file_lists(files, ROOMY_TOKENS)
    blocks = bool(files.read_only) + bool(files.changed)
    assert len(shown.splitlines()) == len(files.read | files.modified) + 2 * blocks + (blocks == 2)
    assert shown.count("<") == 2 * blocks
