"""`python -m tools.formats_page > docs/formats.md`: the page on formats, with the table of parts."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from foldline.engine.formats import FORMATS
from tools.format_cases import rows
from tools.markdown import table

TEXT: Final = Path(__file__).with_suffix(".md")


def page() -> str:
    """The page: its text, with the table in its place."""
    head = ("part", "from", *(f"to {name}" for name in FORMATS))
    fates = table(head, ((row.part, row.source, *row.fates) for row in rows()))
    return TEXT.read_text(encoding="utf-8").replace("<!-- fates -->\n", fates)


if __name__ == "__main__":
    sys.stdout.write(page())
