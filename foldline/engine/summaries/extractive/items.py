"""The candidate line of a summary; selection chooses among these."""

from __future__ import annotations

from dataclasses import dataclass

from foldline.engine.summaries.headings import Section


@dataclass(slots=True)
class Item:
    """A line that may stand in a summary. `worth` is between 0 and 1.

    `order` is the index of its message; lines of earlier summaries have negative ones.
    """

    section: Section
    text: str
    worth: float
    order: int
