import re
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
README = (REPOSITORY / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_the_readme_shows_code_that_runs(number: int) -> None:
    done = subprocess.run([sys.executable, "-c", BLOCKS[number]], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout


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
