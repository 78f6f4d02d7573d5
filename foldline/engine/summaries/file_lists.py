"""The lists of files below a summary: those that were only read, and those that were changed."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

import regex

from foldline.engine.files import Files
from foldline.engine.tokens.counter import count_text

# The tags are pi's.
READ: Final = "read-files"
MODIFIED: Final = "modified-files"
MORE: Final = "[… {count:,} more]"

# Characters that could open or close a tag or end a line, and lone surrogates.
_UNSAFE: Final = regex.compile(r"[<\p{Cc}\p{Cs}\p{Zl}\p{Zp}]")


def file_lists(files: Files, room_tokens: int) -> str:
    """Both lists as text within `room_tokens`: a block for each, with one path a line. "" if no path fits.

    Changed files stand last but get room first. A block with missing paths says how many there are.
    """
    changed, read = _lines(files.changed), _lines(files.read_only)

    def lists(shown: int) -> str:
        blocks = _block(READ, read, shown - len(changed)), _block(MODIFIED, changed, shown)
        return "\n\n".join(filter(None, blocks))

    # Each line takes at least one token.
    most = max(0, min(len(changed) + len(read), room_tokens))
    text = lists(most)
    if count_text(text) <= room_tokens:
        return text
    return lists(bisect_right(range(1, most), room_tokens, key=lambda shown: count_text(lists(shown))))


def _lines(paths: Sequence[str]) -> list[str]:
    return [_UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", path) for path in paths]


def _block(tag: str, lines: Sequence[str], shown: int) -> str:
    """The block of a list with its first `shown` lines; "" if there are none to show."""
    if shown <= 0 or not lines:
        return ""
    more = [MORE.format(count=len(lines) - shown)] if shown < len(lines) else []
    return "\n".join((f"<{tag}>", *lines[:shown], *more, f"</{tag}>"))
