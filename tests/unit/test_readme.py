import re
import subprocess
import sys
from pathlib import Path

import pytest

import foldline

REPOSITORY = Path(__file__).parents[2]
README = (REPOSITORY / "README.md").read_text("utf-8")
LIBRARY = (REPOSITORY / "docs/library.md").read_text("utf-8")
BLOCKS, MORE = (re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE) for page in (README, LIBRARY))


@pytest.mark.parametrize("block", [*BLOCKS, *MORE])
def test_the_pages_on_the_library_show_code_that_runs(block: str) -> None:
    done = subprocess.run([sys.executable, "-c", block], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout


def test_the_page_on_the_library_lists_each_function_and_shows_it() -> None:
    assert re.findall(r"^\| `(\w+)\(", LIBRARY, re.MULTILINE) == [
        *("compact", "InMemorySession", "budget", "count_tokens", "fit_text", "limit_output", "context_count")
    ]
    assert {*re.findall(r"^\| `(\w+)\(", LIBRARY, re.MULTILINE)} == {*foldline.__all__}
    assert all(f"import {name}" in LIBRARY or f", {name}" in LIBRARY or name == "budget" for name in foldline.__all__)


def test_the_library_takes_five_lines() -> None:
    lines = [line for line in BLOCKS[0].splitlines() if line]
    assert lines[0] == "from foldline import compact"
    assert len(lines) <= 5


def test_every_folder_of_the_layout_is_there() -> None:
    _, layout = README.split("## Layout\n")
    folders = [
        name for row in re.findall(r"^\| (`.*?) \|", layout, re.MULTILINE) for name in re.findall(r"`(.*?)`", row)
    ]
    assert len(folders) > 10
    assert [name for name in folders if not (REPOSITORY / name).is_dir()] == []
