"""The lines of a summary that the extractive summarizer takes over into the next one."""

from __future__ import annotations

from foldline.engine.ledger.assemble import assemble
from foldline.engine.ledger.earlier import earlier_items
from foldline.engine.summaries.headings import Section


def taken_over(summary: str) -> set[tuple[Section, str]]:
    """The summary's lines with their sections."""
    return {(line.section, line.text) for line in assemble((0, item) for item in earlier_items(summary))}
