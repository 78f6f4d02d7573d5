from __future__ import annotations

import pytest

from tests.support.program import python


@pytest.mark.timeout(300)
def test_the_demo_folds_a_session_and_takes_it_back() -> None:
    done = python("-m", "cli.demo")

    assert done.returncode == 0, done.stdout + done.stderr
    text = done.stdout
    assert "condense" in text
    assert "The view with the last compaction undone" in text
    assert "Redo brought the view back, byte for byte" in text
    assert "saved" in text
    assert "\x1b[" not in text
    assert max(map(len, text.splitlines())) <= 120
