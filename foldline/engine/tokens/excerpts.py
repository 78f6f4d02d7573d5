"""Excerpts: the head and tail of a long text or of the strings in JSON arguments, cut between graphemes."""

from __future__ import annotations

from typing import Any, Final

import regex

from foldline.engine.arguments import json_object
from foldline.engine.wire import dumps_text

# The characters that an excerpt keeps, smallest first: roughly 75, 750 and 7,500 tokens of English. An entry's facts
# hold the tokens of its excerpt at every level, so that planning an excerpt reads no text.
LEVELS: Final = (300, 3_000, 30_000)
HEAD_SHARE: Final = 0.6
NOTE: Final = "\n[… {count:,} characters left out …]\n"
# A text below this multiple of a level gets no excerpt: it would lose its middle and save hardly any tokens.
WORTHWHILE_FACTOR: Final = 2
# Longer graphemes exist only in adversarial text; the search for a boundary goes no further.
GRAPHEME_REACH: Final = 128

_GRAPHEME: Final = regex.compile(r"\X")
_ASCII: Final = 128


def boundary(text: str, index: int) -> int:
    """The last position at or before `index` that is not inside a grapheme."""
    if index <= 0 or index >= len(text):
        return max(0, min(index, len(text)))
    before, after = text[index - 1], text[index]
    if ord(before) < _ASCII and ord(after) < _ASCII and not (before == "\r" and after == "\n"):
        return index
    start = max(0, index - GRAPHEME_REACH)
    ends = [start + match.end() for match in _GRAPHEME.finditer(text[start : index + GRAPHEME_REACH])]
    return max((end for end in ends if end <= index), default=start)


def boundary_after(text: str, index: int) -> int:
    """The first position at or after `index` that is not inside a grapheme."""
    reach = range(index, index + GRAPHEME_REACH)
    return next((position for position in reach if boundary(text, position) == position), index)


def excerpt(text: str, chars: int, note: str = NOTE) -> str:
    """The head and tail of `text`, together `chars` characters, with a note between them of how many are left out.

    A text of at most `chars` characters is returned as it is.
    """
    if len(text) <= chars:
        return text
    head_end = boundary(text, int(chars * HEAD_SHARE))
    tail_start = boundary(text, len(text) - (chars - head_end))
    if tail_start <= head_end:
        return text
    return text[:head_end] + note.format(count=tail_start - head_end) + text[tail_start:]


def is_worthwhile(text: str, level: int) -> bool:
    """Whether a text is long enough for an excerpt at this level."""
    return len(text) >= LEVELS[level] * WORTHWHILE_FACTOR


def excerpt_arguments(arguments: str) -> str:
    """JSON arguments with every string cut to the smallest level; text that is no JSON object stays as it is."""
    if not is_worthwhile(arguments, 0):
        return arguments
    value = json_object(arguments)
    if not value:
        return arguments
    shorter = dumps_text(_excerpt_strings(value))
    return shorter if len(shorter) < len(arguments) else arguments


def _excerpt_strings(value: Any) -> Any:
    if isinstance(value, str):
        return excerpt(value, LEVELS[0])
    if isinstance(value, list):
        return [_excerpt_strings(item) for item in value]
    if isinstance(value, dict):
        return {key: _excerpt_strings(item) for key, item in value.items()}
    return value
