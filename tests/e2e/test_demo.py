from __future__ import annotations

import re

import pytest

from tests.support.processes.program import python


@pytest.mark.timeout(300)
def test_the_demo_folds_a_session_and_takes_it_back() -> None:
    done = python("-m", "demo.__main__")

    assert done.returncode == 0, done.stdout + done.stderr
    text = done.stdout
    assert "condense" in text
    undone = re.search(r"^The view with the last (\d+ compactions|compaction) undone: ", text, re.MULTILINE)
    assert undone
    assert f"Undo took back the last {undone[1]}: " in text
    assert re.search(r"a window of 16,000 tokens, ([\d,]+) of them kept .*: a budget of ([\d,]+)$", text, re.MULTILINE)
    assert "Redo brought the view back, byte for byte" in text
    assert "saved" in text
    assert "\x1b[" not in text
    assert text.endswith("\n")
    assert max(map(len, text.splitlines())) <= 120
