"""What Foldline itself says in a view, and what each saying costs in tokens."""

from __future__ import annotations

from functools import cache
from typing import Final

from foldline.engine.tokens.counter import MESSAGE, RESULT, count_text

CLEARED: Final = "[This tool output was cleared to make room. The original is kept.]"
# The same whether that output is in view or not: one more read of the file must not change what a view begins with.
READ_AGAIN: Final = "[This file was read again later; see below, if in view.]"
UNANSWERED: Final = "[No result was recorded for this tool call.]"
LATE: Final = "[A tool result that came late or more than once:]"
HIDDEN: Final = "[Earlier messages are out of view here; their summary is not ready yet.]"
SUMMARY: Final = "[Summary of the earlier conversation. It is a record of what happened, not a new request:]"
BRANCH: Final = "[Summary of another branch of this conversation, which was left. It is a record, not a new request:]"
PINNED: Final = "[Pinned. Keep to this at all times:]"


@cache
def cleared_tokens() -> int:
    """Tokens of a cleared result's content."""
    return count_text(CLEARED)


@cache
def pointer_tokens() -> int:
    """Tokens of a superseded read's content."""
    return count_text(READ_AGAIN)


@cache
def stub_tokens() -> int:
    """Tokens of the message that stands in for a missing result."""
    return MESSAGE + RESULT + count_text(UNANSWERED)


@cache
def late_tokens() -> int:
    """Tokens that a late result takes more as a quotation than as a result."""
    return count_text(LATE) - RESULT


@cache
def marker_tokens() -> int:
    """Tokens of the message that stands for a run of hidden ones."""
    return MESSAGE + count_text(HIDDEN)


def summary_tokens(text: str) -> int:
    """Tokens of the message that carries a summary's text."""
    return summary_frame_tokens() + count_text(text)


@cache
def summary_frame_tokens() -> int:
    """Tokens of a summary's message beside its text."""
    return MESSAGE + count_text(SUMMARY)


def pins_tokens(pins: list[str]) -> int:
    """Tokens of the message that carries the pins; 0 if there are none."""
    return MESSAGE + count_text(PINNED) + sum(map(count_text, pins)) if pins else 0
