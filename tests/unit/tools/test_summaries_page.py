from pathlib import Path

from tools.summaries_page import page

PAGE = Path(__file__).parents[3] / "docs" / "summaries.md"


def test_the_page_on_summaries_has_the_tables_of_checks_and_endings() -> None:
    assert PAGE.read_text("utf-8") == page(), "run `make docs`"
