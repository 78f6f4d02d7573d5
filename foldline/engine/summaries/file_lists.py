"""The files of a conversation as text below its summary: which were only read and which were changed."""

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

# What opens or closes a tag, ends a line for some reader, or is no character by itself.
_UNSAFE: Final = regex.compile(r"[<\p{Cc}\p{Cs}\p{Zl}\p{Zp}]")


def file_lists(files: Files, room_tokens: int) -> str:
    """The paths, one a line in a block for each list, within `room_tokens`; "" if none fits or there are none.

    Changed files go first into the room, though they stand last. A block from which paths are missing says how many.
    """
    changed, read = _lines(files.changed), _lines(files.read_only)

    def lists(shown: int) -> str:
        blocks = _block(READ, read, shown - len(changed)), _block(MODIFIED, changed, shown)
        return "\n\n".join(filter(None, blocks))

    # Each line takes a token at least.
    most = max(0, min(len(changed) + len(read), room_tokens))
    text = lists(most)
    if count_text(text) <= room_tokens:
        return text
    return lists(bisect_right(range(1, most), room_tokens, key=lambda shown: count_text(lists(shown))))


def _lines(paths: Sequence[str]) -> list[str]:
    return [_UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", path) for path in paths]


def _block(tag: str, lines: Sequence[str], shown: int) -> str:
    """The first lines in their block; nothing if there are none to show."""
    if shown <= 0 or not lines:
        return ""
    more = [MORE.format(count=len(lines) - shown)] if shown < len(lines) else []
    return "\n".join((f"<{tag}>", *lines[:shown], *more, f"</{tag}>"))
