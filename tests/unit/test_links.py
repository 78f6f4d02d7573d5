"""Every link between the pages leads to a file, and to a heading in it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
PAGES = [*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/**/*.md")]
LINK = re.compile(r"\]\((?!https?:)([^)\s#]*)(?:#([^)\s]+))?\)")


def prose_of(page: Path) -> str:
    """A page without its fenced blocks, in which `](` and `#` mean other things."""
    return re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)


def anchors_of(page: Path) -> set[str]:
    """The anchors that GitHub gives the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", prose_of(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    links = [(page.parent / path if path else page, anchor) for path, anchor in LINK.findall(prose_of(page))]

    assert [path for path, _ in links if not path.exists()] == []
    assert [(path, anchor) for path, anchor in links if anchor and anchor not in anchors_of(path)] == []


def test_an_anchor_is_a_heading_in_lower_case_with_dashes(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# How full it is\n```console\n# no heading\n```\n## What `fits`\n", "utf-8")

    assert anchors_of(page) == {"how-full-it-is", "what-fits"}


def test_there_are_links_to_follow() -> None:
    followed = [link for page in PAGES for link in LINK.findall(prose_of(page))]
    assert len(followed) > 50
    assert any(anchor for _, anchor in followed)
