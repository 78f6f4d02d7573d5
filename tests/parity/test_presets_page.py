from __future__ import annotations

from itertools import pairwise

from tests.parity.features import differences, features
from tests.parity.presets_page import TITLES, page
from tests.support.program import REPOSITORY


def test_the_committed_page_is_that_of_the_lists_and_the_program() -> None:
    committed = (REPOSITORY / "docs" / "presets.md").read_text(encoding="utf-8")
    assert committed == page(), "run `make docs` and commit docs/presets.md"


def test_every_listed_system_has_a_title() -> None:
    assert {row.system for row in (*features(), *differences())} <= TITLES.keys()


def test_every_row_of_a_table_has_as_many_cells_as_its_head() -> None:
    lines = page().replace(r"\|", "").splitlines()
    tables = [(line, above) for above, line in pairwise(lines) if above.startswith("|")]
    assert len(tables) > len(features()) / 2
    assert [line for line, above in tables if line and line.count("|") != above.count("|")] == []


def test_windows_are_shown_once_for_the_models_that_share_them() -> None:
    row = "| openai: models | `gpt-4o`, `gpt-4o-mini`, `gpt-4-turbo`, `o1-mini`: 128,000; `gpt-4`: 8,192; "
    assert row in page()
