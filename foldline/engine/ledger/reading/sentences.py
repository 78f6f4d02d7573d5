"""Splits what people and models write into sentences that stand for themselves, without code, tables and prompts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
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
# Texts are wrapped at so many characters at most, and their full lines differ by about this many.
WIDEST: Final = 120
RAGGED: Final = 15
_ENDS: Final = (".", "!", "?", ":", ";")
_HEADING: Final = re.compile(r"\A#{1,6}\s")
_FENCE: Final = re.compile(r"\A\s{0,8}(?:```|~~~)")
# Numbered lines, lines of diffs, prompts, notices in brackets and status lines of environments.
_PRINTED: Final = re.compile(
    r"\A(?:\d{1,7}[:|\t]|[+-]\s{0,4}\d{1,7}\s|\[[^\]]{1,80}\]\Z"
    r"|\((?:Current directory|Open file|\d{1,7} more lines)|\[File: |bash-?\S{0,8}[$#]"
    r"|[\w.@~:/-]{0,60}[$#%>]\s?\Z|\d{1,9}\Z)"
)
_TRAILING: Final = re.compile(r"\A[\W_]{0,40}\Z")


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


def _unwrapped(wrapped: Sequence[str]) -> Iterator[str]:
    """The lines, those as one that were one before somebody wrapped them: the next word had no room any more."""
    width = max(map(len, wrapped), default=0)
    is_wrapped = width <= WIDEST and sum(len(line) > width - RAGGED for line in wrapped) > 1
    waiting = ""
    for line in wrapped:
        last = waiting.rpartition("\n")[2]
        is_full = is_wrapped and len(last) + len(line.partition(" ")[0]) >= width
        if is_full and line[0].islower() and not last.endswith(_ENDS):
            waiting = f"{waiting}\n{line}"
            continue
        if waiting:
            yield waiting.replace("\n", " ")
        waiting = line
    if waiting:
        yield waiting.replace("\n", " ")


def _prose_lines(text: str) -> Iterator[str]:
    text = text if len(text) <= 2 * WINDOW_CHARS else f"{text[:WINDOW_CHARS]}\n{text[-WINDOW_CHARS:]}"
    is_code = False
    for line in _unwrapped(list(lines(clean(text)))):
        if _FENCE.match(line):
            is_code = not is_code
        elif not is_code and not _TRAILING.match(line) and not _PRINTED.match(line):
            stripped = BULLET.sub("", _HEADING.sub("", line, count=1), count=1)
            if stripped and is_prose(stripped):
                yield stripped
