"""A line that may stand in a summary, with its section, its worth and its place in the conversation."""

from __future__ import annotations

from dataclasses import dataclass

from foldline.engine.summaries.headings import Section


@dataclass(slots=True)
class Item:
    """One candidate: `worth` is between 0 and 1, `order` its place; earlier summaries have negative places."""

    section: Section
    text: str
    worth: float
    order: int
