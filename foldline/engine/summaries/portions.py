"""Long inputs in portions: a model summarizes each in a call of its own, and the texts follow each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from foldline.engine.messages import Message
from foldline.engine.planning.chunks import chunked
from foldline.engine.summaries.prompt import SMALLEST_INPUT_TOKENS, SMALLEST_PIECE, SummaryInput
from foldline.engine.tokens.counter import count_message, count_text

# It looks like a heading, so that reading an earlier summary does not take it for a line.
LATER: Final = "\n\n# What came after that\n"
# Joined texts can have a few more tokens than the texts counted one by one.
_SEAM: Final = 4


def portions(request: SummaryInput, input_tokens: int) -> tuple[SummaryInput, ...]:
    """The portions of a request, in order: each has as much as one call reads beside the prompt, or one long message.

    They share its `max_tokens`, with about `SMALLEST_PIECE` each, so there may be fewer that have more to read. The
    first one has the earlier summaries. `request` is one of the pieces from `divided`.
    """
    said = request.said
    sizes = [count_message(message) for message in said]
    most = min(request.max_tokens // SMALLEST_PIECE, len(said))
    before = sum(map(count_text, request.previous))
    if sum(sizes, before) <= input_tokens or most <= 1:
        return (request,)
    sizes[0] += before
    room = max(input_tokens - SMALLEST_INPUT_TOKENS, input_tokens // 2)
    while len(chunks := chunked(sizes, room)) > most:
        room = room * 5 // 4
    max_tokens = request.max_tokens // len(chunks) - count_text(LATER) - _SEAM
    first, *rest = (_portion(request, [said[place] for place in chunk], max_tokens) for chunk in chunks)
    return (replace(first, previous=request.previous), *rest)


def _portion(request: SummaryInput, messages: Sequence[Message], max_tokens: int) -> SummaryInput:
    own = replace(request, previous=(), max_tokens=max_tokens)
    return replace(own, turn_prefix=tuple(messages)) if request.turn_prefix else replace(own, messages=tuple(messages))


def text_of_portions(texts: Sequence[str]) -> str:
    """The text of a request's summary, from the texts of its portions."""
    return LATER.join(texts)
