"""The sections into which the content of every summary is sorted, whoever writes it and under whatever headings."""

from __future__ import annotations

from enum import Enum


class Section(Enum):
    """A section; its value marks a line of it that would pass for one of another, as in `rule: stay below 40 lines`."""

    RULES = "rule"
    ASKED = "asked"
    DECIDED = "decided"
    OPEN = "open"
    ENDED = "ended"
    FILES = "file"
    SAID = "said"
