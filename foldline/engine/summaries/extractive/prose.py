"""Finds the lines of a message that read as language, and rates how many names and numbers they have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from foldline.engine.summaries.extractive import cues
from foldline.engine.summaries.extractive.lines import clean, lines, sentences

# The lines read at the beginning and the end of one text, and the characters within which they are at each end.
HEAD_LINES: Final = 80
TAIL_LINES: Final = 40
WINDOW_CHARS: Final = 24_000
SPECIFICS_COUNTED: Final = 6
SPECIFICS_WINDOW: Final = 300
# A line of one word may be language if it is shorter than this.
SHORT_CHARS: Final = 24
BULLET: Final = re.compile(r"^(?:[-*•]|\d{1,3}[.)])\s+")


def windows(text: str) -> Iterator[str]:
    """The lines of a text's beginning and end."""
    text = text if len(text) <= 2 * WINDOW_CHARS else f"{text[:WINDOW_CHARS]}\n{text[-WINDOW_CHARS:]}"
    every = list(lines(clean(text)))
    if len(every) <= HEAD_LINES + TAIL_LINES:
        return iter(every)
    return iter(every[:HEAD_LINES] + every[-TAIL_LINES:])


def scan(text: str) -> Iterator[str]:
    """The sentences of a text that read as language, without their bullets."""
    for line in windows(text):
        stripped = BULLET.sub("", line, count=1)
        if stripped and is_prose(stripped):
            yield from sentences(stripped)


def specifics(text: str) -> float:
    """The number of names and numbers in a line as a share of `SPECIFICS_COUNTED`, at most 1."""
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
    letters = sum(map(str.isalnum, head))
    spaces = head.count(" ")
    return letters + spaces >= 0.8 * len(head) and head[-1] not in "{};=|\\" and (spaces > 0 or len(head) < SHORT_CHARS)
