"""Splits what people and models write into sentences that stand for themselves, without code, tables and prompts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from foldline.engine.ledger.reading.lines import clean, lines, sentences
from foldline.engine.ledger.reading.prose import BULLET, is_prose

# What is read of one text: all of a long message, and both ends of a pasted file.
WINDOW_CHARS: Final = 24_000
MOST_SENTENCES: Final = 300
# A sentence that begins like this means nothing without the one before it.
_LEANING: Final = re.compile(
    r"\A(?:(?:make|set|keep|do|put|use|call) (?:it|that|them)\b|(?:it|that|they|he|she|its|their|because|otherwise"
    r"|which|everything (?:else|before|after))\b|no exceptions)",
    re.IGNORECASE,
)
_LEANING_CHARS: Final = 120
# Texts are wrapped at about so many characters, and their full lines differ by about this many.
LEAST_WIDTH, MOST_WIDTH = 50, 120
RAGGED: Final = 15
_ENDS: Final = (".", "!", "?", ":", ";")
_HEADING: Final = re.compile(r"\A#{1,6}\s")
_FENCE: Final = re.compile(r"\A\s{0,8}(?:```|~~~)")
# Numbered lines, numbered lines of diffs, prompts, notices and status lines of environments.
_PRINTED: Final = re.compile(
    r"\A(?:\d{1,7}[:|\t]|[+-]\s{0,4}\d{1,7}\s{1,4}[-+*|]\s|\[(?:Request interrupted|Image|Pasted|Attach)[^\]]{0,80}\]\Z"
    r"|\((?:Current directory|Open file|\d{1,7} more lines)|\[File: |bash-?\S{0,8}[$#]"
    r"|[\w.@~:/-]{0,60}[$#%>]\s?\Z|\d{1,9}\Z)"
)
_TRAILING: Final = re.compile(r"\A[\W_]{0,40}\Z")
# Printed texts repeat lines. A line is short: `lines` splits those that are not.
_KNOWN_LINES: Final = 512


def statements(text: str) -> Iterator[str]:
    """The sentences of a text, each with the next one if that leans on it; at most `MOST_SENTENCES`."""
    waiting = ""
    number = 0
    for line in _prose_lines(text):
        for sentence in sentences(line):
            if waiting and len(waiting) + len(sentence) < 2 * _LEANING_CHARS and _LEANING.match(sentence):
                waiting = f"{waiting} {sentence}"
                continue
            if waiting:
                yield waiting
                number += 1
                if number >= MOST_SENTENCES:
                    return
            waiting = sentence
        if waiting:
            yield waiting
            number += 1
            waiting = ""


def _prose_lines(text: str) -> Iterator[str]:
    """The lines that read as language, each as it was before somebody wrapped it."""
    text = text if len(text) <= 2 * WINDOW_CHARS else f"{text[:WINDOW_CHARS]}\n{text[-WINDOW_CHARS:]}"
    found = list(lines(clean(text)))
    width = max(map(len, found), default=0)
    is_wrapped = LEAST_WIDTH <= width <= MOST_WIDTH and sum(len(line) > width - RAGGED for line in found) > 1
    waiting: list[str] = []
    is_code = False
    for line in found:
        is_fence = _FENCE.match(line) is not None
        is_code ^= is_fence
        prose = "" if is_fence or is_code else _prose(line)
        # The next word had no room any more.
        is_full = bool(waiting) and len(waiting[-1]) + len(line.partition(" ")[0]) >= width
        if is_wrapped and is_full and prose == line and line[0].islower() and not waiting[-1].endswith(_ENDS):
            waiting.append(line)
            continue
        if waiting:
            yield " ".join(waiting)
        waiting = [prose] if prose else []
        if _HEADING.match(line):
            yield from waiting
            waiting = []
    if waiting:
        yield " ".join(waiting)


@lru_cache(_KNOWN_LINES)
def _prose(line: str) -> str:
    """The line without the marks of headings and lists; "" if it does not read as language."""
    if _TRAILING.match(line) or _PRINTED.match(line):
        return ""
    stripped = BULLET.sub("", _HEADING.sub("", line, count=1), count=1)
    return stripped if stripped and is_prose(stripped) else ""
