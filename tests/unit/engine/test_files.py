import json
from typing import Any

import pytest

from foldline.engine.files import (
    LAST_LINE,
    LONGEST_ARGUMENTS,
    LONGEST_PATH,
    LONGEST_SAID,
    Files,
    Read,
    change_of,
    read_of,
    said_path,
)
from foldline.engine.messages import ToolCall


def read(name: str = "read_file", **arguments: object) -> Read | None:
    return read_of(ToolCall("c1", name, json.dumps(arguments)))


@pytest.mark.parametrize("name", ["read_file", "Read", "readFile", "view", "cat", "open-file"])
def test_read_tools_are_known_by_name(name: str) -> None:
    assert read(name, path="a.py") == Read("a.py")


@pytest.mark.parametrize("key", ["path", "file_path", "filePath", "filename", "target_file"])
def test_the_path_has_many_names(key: str) -> None:
    assert read(**{key: "a.py"}) == Read("a.py")


@pytest.mark.parametrize(
    ("lines", "first", "last"),
    [
        ({}, 1, LAST_LINE),
        ({"offset": 10, "limit": 5}, 10, 14),
        ({"start_line": 3, "end_line": 9}, 3, 9),
        ({"limit": 50}, 1, 50),
        ({"view_range": [5, 20]}, 5, 20),
        ({"view_range": [5, -1]}, 5, LAST_LINE),
        ({"offset": 0, "limit": True}, 1, LAST_LINE),
    ],
)
def test_line_ranges_are_understood(lines: dict[str, Any], first: int, last: int) -> None:
    assert read(path="a.py", **lines) == Read("a.py", first, last)


@pytest.mark.parametrize("arguments", ["", "[]", "{", '"a.py"', "{}", '{"path": 3}', '{"path": ""}'])
def test_arguments_without_a_path_read_nothing(arguments: str) -> None:
    assert read_of(ToolCall("c1", "read_file", arguments)) is None


def test_other_tools_read_nothing() -> None:
    assert read("write_file", path="a.py") is None
    assert read("bash", command="cat a.py") is None


def test_arguments_that_carry_content_are_no_read() -> None:
    assert read(path="a.py", content="x" * LONGEST_ARGUMENTS) is None


def test_a_read_covers_all_within_its_lines_of_the_same_file() -> None:
    whole = Read("a.py")
    assert whole.covers(Read("a.py", 5, 9))
    assert whole.covers(whole)
    assert not Read("a.py", 5, 9).covers(whole)
    assert not Read("a.py", 5, 9).covers(Read("a.py", 4, 9))
    assert not whole.covers(Read("b.py", 5, 9))


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("Reading src/main.py", "src/main.py"),
        ("reading 'src/main.py'...", "src/main.py"),
        ("Read file a.py:", "a.py"),
        ("read_file `a.py`", "a.py"),
        ("readFile .env", ".env"),
        ("$ cat /etc/hosts\r", "/etc/hosts"),
        # Not the whole file, or no file at all.
        ("Reading src/main.py, lines 1 to 20", ""),
        ("Reading src/main.py (part 2)", ""),
        ("Reading package lists...", ""),
        ("Read the", ""),
        ("Read 1.5 MB", ""),
        ("Reading 3/10", ""),
        ("cat: a.py: No such file or directory", ""),
        # No word of its own.
        ("thread a.py", ""),
        ("concat a.py", ""),
        ("I am reading a.py", ""),
        ("Reading " + "x" * LONGEST_SAID + ".py", ""),
    ],
)
def test_an_output_says_in_its_first_line_which_file_it_shows(line: str, path: str) -> None:
    assert said_path(f"\n{line}\nimport os\n") == said_path(line) == path
    assert said_path(f"import os\n{line}") == ""


@pytest.mark.parametrize("spaces", [LONGEST_SAID - len("Reading a.py"), LONGEST_SAID, 10 * LONGEST_SAID])
def test_space_before_the_first_line_hides_nothing_of_it(spaces: int) -> None:
    for blank in (" ", "\n"):
        assert said_path(blank * spaces + "Reading a.py, lines 1 to 20") == ""
        assert said_path(blank * spaces + "Reading a.py") == "a.py"


def change(name: str = "edit", **arguments: object) -> str:
    return change_of(ToolCall("c1", name, json.dumps(arguments)))


@pytest.mark.parametrize("name", ["edit", "write", "Write", "write_file", "FileEdit", "MultiEdit", "apply-diff"])
def test_tools_that_change_files_are_known_by_name(name: str) -> None:
    assert change(name, file_path="a.py", content="x" * LONGEST_ARGUMENTS) == "a.py"


def test_other_tools_change_nothing() -> None:
    assert change("read", path="a.py") == change("bash", path="a.py") == ""


def test_an_editor_that_only_looks_changes_nothing() -> None:
    assert change("str_replace_editor", command="view", path="a.py") == ""
    assert change("str_replace_editor", command="create", path="a.py") == "a.py"


@pytest.mark.parametrize(
    "arguments", ["", "[]", "{", "{}", '{"path": 3}', json.dumps({"path": "x" * LONGEST_PATH + "x"})]
)
def test_arguments_without_a_path_change_nothing(arguments: str) -> None:
    assert change_of(ToolCall("c1", "edit", arguments)) == ""


def test_files_of_two_ranges_are_the_files_of_both() -> None:
    first, second = Files(frozenset("ab"), frozenset("c")), Files(frozenset("bc"), frozenset("d"))
    both = first | second
    assert both == Files(frozenset("abc"), frozenset("cd"))
    assert first | Files() == first


def test_what_was_changed_was_not_only_read() -> None:
    files = Files(frozenset("abc"), frozenset("cd"))
    assert (files.read_only, files.changed) == (["a", "b"], ["c", "d"])


def test_paths_are_sorted_by_utf16_code_units() -> None:
    paths = ["B", "a", "\ud83d", "😀", "\uffee"]
    assert Files(frozenset(paths)).read_only == Files(modified=frozenset(paths)).changed == paths
