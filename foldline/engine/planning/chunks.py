"""Cutting a history into chunks that are summarized one by one: how much one may take, by the size of its messages."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor
from typing import Final

from foldline.engine.outline import Outline, Unit
from foldline.engine.policies.policy import Stage

# Tokens kept for the summary itself and its prompt, and the least and the usual limit of a chunk.
OVERHEAD: Final = 4_096
USUAL_LIMIT: Final = 12_000
SMALLEST_LIMIT: Final = USUAL_LIMIT - OVERHEAD
# Shares of the window a chunk may take: less where a message takes more than a tenth of it.
SHARE: Final = 0.4
SMALLEST_SHARE: Final = 0.15
LARGE_SHARE: Final = 0.1
UNBOUNDED: Final = 1 << 53
# Estimates miss about a fifth.
SAFETY: Final = 1.2


def adaptive_limit(message_tokens: Sequence[int], window: float) -> int:
    """What the messages' size would make of a chunk's limit, in tokens; below 0 in a window too small for one."""
    if not message_tokens:
        return USUAL_LIMIT
    large = sum(message_tokens) / len(message_tokens) * SAFETY / max(1, window)
    share = max(SMALLEST_SHARE, SHARE - min(large * 2, SHARE - SMALLEST_SHARE)) if large > LARGE_SHARE else SHARE
    return floor(window * share) - OVERHEAD


def chunk_limit(message_tokens: Sequence[int], window: float) -> int:
    """The tokens a chunk may take."""
    return max(adaptive_limit(message_tokens, window), SMALLEST_LIMIT)


def chunked(message_tokens: Sequence[int], limit: int) -> list[list[int]]:
    """The messages' positions in chunks of at most `limit` tokens, in order; one that is larger is a chunk alone."""
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
    """What one summary of the first `due` items may read under a `summarize` stage, in exact tokens.

    The stage says it in those of the outline. Where it says nothing of it, it is more than any window.

    A chunk is of messages. The live summaries they are merged with come on top: a long one would leave them no room.
    """
    chunk = _chunk(outline, own, window, due)
    if chunk is None:
        return UNBOUNDED
    seen, exact = (outline.sums, (outline.exact or outline).sums)
    in_exact = chunk * exact.originals[due] // max(1, seen.originals[due]) if due else chunk
    return in_exact + sum(edit.tokens for edit in outline.live.condensed)


def _chunk(outline: Outline, own: Stage, window: int, due: int) -> int | None:
    if own.number("adapts_chunks"):
        items = (item for item in outline.items[:due] if isinstance(item, Unit))
        return chunk_limit([entry.tokens for unit in items for entry in unit.entries], window)
    bounds = (floor(window * own.share("chunk_share")), own.number("chunk_tokens"))
    return min(filter(None, bounds), default=None)
