"""Splits a text into lines and sentences, and cuts long ones. Nothing here rates a line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from foldline.engine.tokens.counter import count_text
from foldline.engine.tokens.excerpts import boundary

ELLIPSIS: Final = "…"
# A longer sentence is split into pieces of this many characters.
LONGEST_SENTENCE: Final = 400
LONGEST_LINE: Final = 1_600
# The share of a cut line that may be lost so that it ends after a word.
WORD_REACH: Final = 0.25
LEAST_PIECE: Final = 16

# Terminal colours, and control characters that no reader needs and PostgreSQL refuses.
_CONTROL: Final = re.compile(r"\x1b\[[0-9;?]{0,16}[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f]")
_ANY_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x85\u2028\u2029]")
# All that ends a line for some reader.
_LINE_END: Final = re.compile(r"\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
# A full stop behind one of these ends an abbreviation.
_SHORTENED: Final = "".join(
    rf"(?<!\b{word}\.)" for word in (r"e\.g", r"i\.e", "z\\.B", "etc", "vs", "Mrs", "Mr", "Dr", "cf")
)
# It begins with a set of characters, which the search runs ahead to.
_SENTENCE_END: Final = re.compile(
    rf"[.!?。\uff01\uff1f\uff1b](?:(?<=[。\uff01\uff1f\uff1b])|{_SHORTENED}['\")\]]?(?=\s))"
)
_NOT_WORD: Final = re.compile(r"[\W_]+")
_SPACE: Final = re.compile(r"\s+")


def clean(text: str) -> str:
    """The text without terminal colours and control characters; tabs stay, and all ends of lines become newlines."""
    if _ANY_CONTROL.search(text) is None:
        return text
    return _CONTROL.sub("", _LINE_END.sub("\n", text))


def lines(text: str) -> Iterator[str]:
    """The lines of a text that are not blank, stripped. A line longer than LONGEST_LINE is split into sentences."""
    for line in text.split("\n"):
        if len(line) > LONGEST_LINE:
            yield from sentences(line.strip())
        elif stripped := line.strip():
            yield stripped


def sentences(line: str) -> Iterator[str]:
    """The sentences of one line, in order. A longer one than LONGEST_SENTENCE is split into pieces."""
    start = 0
    while start < len(line):
        end = _sentence_end(line, start)
        if sentence := line[start:end].strip():
            yield sentence
        start = end


def _sentence_end(line: str, start: int) -> int:
    reach = start + LONGEST_SENTENCE
    if match := _SENTENCE_END.search(line, start, reach):
        return match.end()
    return len(line) if reach >= len(line) else _word_boundary(line, start, reach)


def _word_boundary(text: str, start: int, end: int) -> int:
    """The last position up to `end` after a word, else after a grapheme; `end` if there is none after `start`."""
    earliest = start + int((end - start) * (1 - WORD_REACH))
    space = text.rfind(" ", earliest, end + 1)
    if space > start:
        return space
    place = boundary(text, end)
    return place if place > start else end


def cut(text: str, chars: int) -> str:
    """The text, or its beginning and an ellipsis, within `chars` characters; no grapheme is cut."""
    if len(text) <= chars:
        return text
    earliest = int(chars * (1 - WORD_REACH))
    space = text.rfind(" ", earliest, chars)
    place = boundary(text, space if space > 0 else chars - 1)
    return text[:place].rstrip() + ELLIPSIS


def cut_joined(text: str, joint: str, chars: int) -> str:
    """The text within about `chars` characters. Pieces joined by `joint` are cut one by one, so that none is lost."""
    pieces = text.split(joint)
    if len(text) <= chars or len(pieces) == 1:
        return cut(text, chars)
    left = chars
    shown: list[str] = []
    for number, piece in enumerate(sorted(pieces, key=len)):
        shown.append(cut(piece, max(LEAST_PIECE, left // (len(pieces) - number))))
        left -= len(shown[-1])
    shorter = dict(zip(sorted(pieces, key=len), shown, strict=True))
    return joint.join(shorter[piece] for piece in pieces)


def cut_to_tokens(text: str, max_tokens: int) -> str:
    """The text, or its beginning and an ellipsis, within `max_tokens`; at least the ellipsis."""
    if max_tokens < 1:
        return ELLIPSIS
    text = text[: max_tokens * 32]
    chars = len(text)
    shown = text
    while (tokens := count_text(shown)) > max_tokens:
        chars = min(chars - 1, chars * max_tokens // tokens)
        if chars <= 1:
            return ELLIPSIS
        shown = cut(text, chars)
    return shown


def key(text: str) -> str:
    """A key that is equal for lines that say the same: their first letters and digits, without case."""
    return _NOT_WORD.sub("", text[:240]).casefold()


def flat(text: str) -> str:
    """The text on one line, with single spaces."""
    return _SPACE.sub(" ", text).strip() if "\n" in text or "\t" in text or "  " in text else text.strip()
