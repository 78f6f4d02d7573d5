from __future__ import annotations

from itertools import pairwise

from tests.parity.features import differences, features
from tests.support.processes.program import REPOSITORY
from tools.presets_reference import TITLES, page


def test_the_committed_page_is_that_of_the_lists() -> None:
    committed = (REPOSITORY / "docs" / "presets-reference.md").read_text(encoding="utf-8")
    assert committed == page(), "run `make docs` and commit docs/presets-reference.md"


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


def test_a_value_of_a_preset_is_shown_by_its_field_or_its_stage() -> None:
    lines = page().splitlines()
    assert "| threshold 80 % | `trigger` of the preset: 0.8 |" in lines
    assert "| at least four recent messages are kept | `keep_messages` of the stage `summarize`: 4 |" in lines
