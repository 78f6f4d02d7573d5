"""The lines of a summary that the extractive summarizer takes over into the next one."""

from __future__ import annotations

from foldline.engine.summaries.extractive.activity import Activity
from foldline.engine.summaries.extractive.previous import earlier_items
from foldline.engine.summaries.headings import Section


def taken_over(summary: str) -> set[tuple[Section, str]]:
    """The summary's lines with their sections, and the files it names."""
    activity = Activity()
    items = earlier_items((summary,), activity, is_continued=False)
    files = {(Section.FILES, f"{path} {file.is_changed}") for path, file in activity.files.items()}
    return {(item.section, item.text) for item in items} | files
