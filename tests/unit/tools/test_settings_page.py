from pathlib import Path

from foldline.settings import PREFIX, Settings
from tools.settings_page import page


def test_the_committed_page_is_that_of_the_program() -> None:
    committed = Path(__file__).parents[3] / "docs" / "settings.md"
    assert committed.read_text(encoding="utf-8") == page(), "run `make docs` and commit docs/settings.md"


def test_every_setting_has_a_row_with_a_meaning() -> None:
    rows = [line for line in page().splitlines() if line.startswith(f"| `{PREFIX}")]
    assert len(rows) == len(Settings.model_fields)
    assert not [row for row in rows if row.endswith(("None |", "|  |"))]


def test_a_row_says_default_and_unit() -> None:
    assert "| `FOLDLINE_LEASE_SECONDS` | `120` | seconds | " in page()
    assert "| `FOLDLINE_LOG_FORMAT` | `text` | `text`, `json` | " in page()
    assert "| `FOLDLINE_SUMMARIZER_API_KEY` |  |  | " in page()
