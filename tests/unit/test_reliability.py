"""docs/reliability.md names a test for each guarantee; each of them is there."""

from __future__ import annotations

import re
from pathlib import Path

from tests.support.processes.program import REPOSITORY

NAMED = re.compile(r"`(test_\w+)`")
DEFINED = re.compile(r"^def (test_\w+)\(", re.MULTILINE)


def test_every_test_that_the_page_names_is_there() -> None:
    named = set(NAMED.findall((REPOSITORY / "docs" / "reliability.md").read_text(encoding="utf-8")))
    files: list[Path] = list((REPOSITORY / "tests").rglob("test_*.py"))
    defined = {name for file in files for name in DEFINED.findall(file.read_text(encoding="utf-8"))}
    assert len(named) > 20
    assert named - defined == set()
