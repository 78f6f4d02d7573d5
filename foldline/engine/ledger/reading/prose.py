"""Whether a line reads as language, rather than as code, a log or a table."""

from __future__ import annotations

import re
from typing import Final

from foldline.engine.ledger.reading import cues

# A line of one word may be language if it is shorter than this.
SHORT_CHARS: Final = 24
BULLET: Final = re.compile(r"^(?:[-*•]|\d{1,3}[.)])\s+")


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
