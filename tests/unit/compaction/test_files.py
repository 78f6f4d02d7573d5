import json
from typing import Any

import pytest

from compaction.files import LAST_LINE, LONGEST_ARGUMENTS, Read, read_of
from compaction.messages import ToolCall


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
