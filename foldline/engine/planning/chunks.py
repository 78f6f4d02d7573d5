"""Chunks: parts of a history that are summarized one by one, with limits by the size of their messages."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor
from typing import Final

from foldline.engine.outline import Outline, Unit
from foldline.engine.policies.policy import Stage

# Tokens kept for the summary itself and its prompt; the usual and the smallest limit of a chunk.
OVERHEAD: Final = 4_096
USUAL_LIMIT: Final = 12_000
SMALLEST_LIMIT: Final = USUAL_LIMIT - OVERHEAD
# The share of the window that a chunk may take. It is smaller if the average message takes over a tenth of the window.
SHARE: Final = 0.4
SMALLEST_SHARE: Final = 0.15
LARGE_SHARE: Final = 0.1
UNBOUNDED: Final = 1 << 53
# Estimates are about a fifth too low.
SAFETY: Final = 1.2


def adaptive_limit(message_tokens: Sequence[int], window: float) -> int:
    """The limit of a chunk by the average size of the messages, in tokens; below 0 if the window is too small."""
    if not message_tokens:
        return USUAL_LIMIT
    large = sum(message_tokens) / len(message_tokens) * SAFETY / max(1, window)
    share = max(SMALLEST_SHARE, SHARE - min(large * 2, SHARE - SMALLEST_SHARE)) if large > LARGE_SHARE else SHARE
    return floor(window * share) - OVERHEAD


def chunk_limit(message_tokens: Sequence[int], window: float) -> int:
    """The tokens that a chunk may take: `adaptive_limit`, but at least `SMALLEST_LIMIT`."""
    return max(adaptive_limit(message_tokens, window), SMALLEST_LIMIT)


def chunked(message_tokens: Sequence[int], limit: int) -> list[list[int]]:
    """The indexes of messages in chunks of at most `limit` tokens, in order; a larger message is a chunk alone."""
    chunks: list[list[int]] = []
    room = 0
    for position, tokens in enumerate(message_tokens):
        if not chunks or tokens > room:
            chunks.append([])
            room = limit
        chunks[-1].append(position)
        room -= tokens
    return chunks


def chunk_tokens(outline: Outline, own: Stage, window: int, due: int) -> int:
    """The exact tokens that one summary of the first `due` items may read under a `summarize` stage.

    The stage's own limit is in the outline's measure. Without a limit the answer is larger than any window. The limit
    is for messages; the tokens of live summaries are added, since a long summary would leave no room for messages.
    """
    chunk = stage_limit(outline, own, window, due)
    if chunk is None:
        return UNBOUNDED
    seen, exact = (outline.sums, (outline.exact or outline).sums)
    in_exact = chunk * exact.originals[due] // max(1, seen.originals[due]) if due else chunk
    return in_exact + sum(edit.tokens for edit in outline.live.condensed)


def stage_limit(outline: Outline, own: Stage, window: int, due: int) -> int | None:
    """A `summarize` stage's limit for one call, in the outline's measure; None if it has none."""
    if own.number("adapts_chunks"):
        items = (item for item in outline.items[:due] if isinstance(item, Unit))
        return chunk_limit([entry.tokens for unit in items for entry in unit.entries], window)
    bounds = (floor(window * own.share("chunk_share")), own.number("chunk_tokens"))
    return min(filter(None, bounds), default=None)
