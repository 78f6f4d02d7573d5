"""Cuts a text to a token budget by an estimate, and a tool's output to a number of bytes and lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, takewhile
from typing import Final, Literal, NamedTuple, TypeAlias

import regex

from foldline.engine.tokens.estimates import Estimate, utf8_bytes
from foldline.engine.tokens.excerpts import LEVELS, boundary, boundary_after

Side: TypeAlias = Literal["head", "tail"]

ELLIPSIS: Final = "..."
MAX_OUTPUT_BYTES: Final = 50 * 1024
MAX_OUTPUT_LINES: Final = 2_000

# Where a text is cut, the better place first: after a sentence or line, or after a word. A place must be in the second
# half of the room. Else the cut is between graphemes: a script without spaces or one long word would lose too much.
_PLACES: Final = (regex.compile(r"[.!?](?= )|\n"), regex.compile(r"\S(?=\s)"))


class Truncated(NamedTuple):
    """A text within its limits. `kept` is its part of the original, without the notice that the rest is missing."""

    text: str
    kept: str
    is_cut: bool


def fit_text(text: str, budget_tokens: int, estimate: Estimate, provider: str | None = None) -> Truncated:
    """The head of a text and an ellipsis, together within the budget by this estimate.

    It ends after a sentence or a line, else after a word, else after a grapheme. A text that fits is returned as it is.
    The answer is empty if the budget is too small for a grapheme and the ellipsis.
    """
    if estimate.text(text, provider) <= budget_tokens:
        return Truncated(text, text, is_cut=False)
    room = estimate.chars_for(budget_tokens, provider) - estimate.length(ELLIPSIS)
    while room > 0:
        kept = text[: _end(text, room, estimate.length)]
        tokens = estimate.text(kept + ELLIPSIS, provider)
        if kept and tokens <= budget_tokens:
            return Truncated(kept + ELLIPSIS, kept, is_cut=True)
        # An estimate rounds up, and it may rate this text as denser than the prose that `room` is computed for.
        room = min(room - 1, room * budget_tokens // tokens)
    return Truncated("", "", is_cut=True)


def limit_output(
    text: str, max_bytes: int = MAX_OUTPUT_BYTES, max_lines: int = MAX_OUTPUT_LINES, side: Side = "tail"
) -> Truncated:
    """The head or the tail of a tool's output, and a notice of how many bytes and lines are left out.

    It keeps at most `max_bytes` of UTF-8 and `max_lines` lines. The notice is not counted; it stands in place of the
    rest. Only a newline ends a line. No grapheme is cut. An output within both limits is returned as it is.
    """
    size, lines = utf8_bytes(text), text.count("\n") + 1
    if size <= max_bytes and lines <= max_lines:
        return Truncated(text, text, is_cut=False)
    kept = (_head if side == "head" else _tail)(text, max_bytes, max_lines)
    lost = size - utf8_bytes(kept)
    lost_lines = lines - kept.count("\n") - bool(kept)
    notice = f"[… {lost:,} of {size:,} bytes left out, {lost_lines:,} of {lines:,} lines …]"
    shown = (kept, notice) if side == "head" else (notice, kept)
    return Truncated("\n".join(filter(None, shown)), kept, is_cut=True)


def level_within(text: str, excerpts: Sequence[int], max_bytes: int, max_lines: int) -> int | None:
    """The level of the largest excerpt of a tool's output within these limits; 0 is no limit.

    `excerpts` has the tokens of the excerpts, 0 for a level that has none. The answer is None for an output within the
    limits, or without excerpts. If all are too large, it is that of the smallest.
    """
    size, lines = utf8_bytes(text), text.count("\n") + 1
    share = min(max_bytes / max(1, size) if max_bytes else 1, max_lines / lines if max_lines else 1)
    there_are = [level for level, tokens in enumerate(excerpts) if tokens]
    if share >= 1 or not there_are:
        return None
    within = [level for level in there_are if LEVELS[level] <= len(text) * share]
    return max(within, default=there_are[0])


def head_of(text: str, limit: int, length: Callable[[str], int]) -> str:
    """The longest head of a text whose `length` is at most `limit`; no grapheme is cut."""
    return text[: boundary(text, _fitting(text, limit, length))]


def _end(text: str, room: int, length: Callable[[str], int]) -> int:
    half, end = _fitting(text, room // 2, length), _fitting(text, room, length)
    for place in _PLACES:
        ends = [match.end() for match in place.finditer(text, half, end + 1) if match.end() <= end]
        if ends:
            return boundary(text, ends[-1])
    return boundary(text, end)


def _head(text: str, max_bytes: int, max_lines: int) -> str:
    first_lines = "\n".join(text.split("\n")[:max_lines])
    return text[: boundary(text, _fitting(first_lines, max_bytes, utf8_bytes))]


def _tail(text: str, max_bytes: int, max_lines: int) -> str:
    lines = text.split("\n")
    last_lines = "\n".join(lines[max(0, len(lines) - max_lines) :])
    return text[boundary_after(text, len(text) - _fitting(reversed(last_lines), max_bytes, utf8_bytes)) :]


def _fitting(chars: Iterable[str], limit: int, length: Callable[[str], int]) -> int:
    """The number of characters, from the first on, that fit the limit together."""
    return sum(1 for _ in takewhile(lambda total: total <= limit, accumulate(map(length, chars))))
