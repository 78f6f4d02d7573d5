"""A line that may stand in a summary, with its section, its worth and its place in the conversation."""

from __future__ import annotations

from dataclasses import dataclass

from compaction.extractive import cues
from compaction.sections import Section

SPECIFICS_COUNTED = 6
SPECIFICS_WINDOW = 300


@dataclass(slots=True)
class Item:
    """One candidate: `worth` is between 0 and 1, `order` its place; earlier summaries have negative places."""

    section: Section
    text: str
    worth: float
    order: int


def specifics(text: str) -> float:
    """How many names and numbers the line has, as a share of what counts."""
    found = 0
    for _ in cues.SPECIFIC.finditer(text[:SPECIFICS_WINDOW]):
        found += 1
        if found == SPECIFICS_COUNTED:
            break
    return found / SPECIFICS_COUNTED


def is_prose(line: str) -> bool:
    """Whether a line reads as language rather than as code, a log or a table."""
    head = line[:200]
    if (head[0] == "<" and line[-1] == ">") or head[0] in "➜$%>|":
        return False
    if cues.CJK.search(head):
        return True
    letters = sum(map(str.isalpha, head))
    spaces = head.count(" ")
    return letters + spaces >= 0.8 * len(head) and head[-1] not in "{};=|\\" and (spaces > 0 or len(head) < 24)
