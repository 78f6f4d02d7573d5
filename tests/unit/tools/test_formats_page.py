from pathlib import Path

from tools.formats_page import page

PAGE = Path(__file__).parents[3] / "docs" / "formats.md"


def test_the_page_on_formats_is_what_the_renderers_do() -> None:
    assert PAGE.read_text("utf-8") == page(), "run `make docs`"
