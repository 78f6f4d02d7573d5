"""Long inputs in portions: a model summarizes each in a call of its own, and the texts follow each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, groupby
from typing import Final

from foldline.engine.messages import Message
from foldline.engine.summaries.prompt import SMALLEST_PIECE, SummaryInput
from foldline.engine.tokens.counter import count_message, count_text

# It looks like a heading, so that reading an earlier summary does not take it for a line.
LATER: Final = "\n\n# What came after that\n"
# Joined texts can have a few more tokens than the texts counted one by one.
_SEAM: Final = 4


def portions(request: SummaryInput, input_tokens: int) -> tuple[SummaryInput, ...]:
    """The portions of a request, of about equal length: one for each `input_tokens` that it has.

    They share its `max_tokens`, each with at least `SMALLEST_PIECE`, so there may be fewer. The first one has the
    earlier summaries. `request` is one of the pieces from `divided`.
    """
    before = sum(map(count_text, request.previous))
    ends = list(accumulate(map(count_message, request.said), initial=before))
    number = min(-(-ends[-1] // input_tokens), request.max_tokens // SMALLEST_PIECE, len(request.said))
    if number <= 1:
        return (request,)
    length = -(-ends[-1] // number)
    places = zip(ends, request.said, strict=False)
    groups = [[message for _, message in group] for _, group in groupby(places, lambda place: place[0] // length)]
    room = request.max_tokens // len(groups) - count_text(LATER) - _SEAM
    first, *rest = (_portion(request, group, room) for group in groups)
    return (replace(first, previous=request.previous), *rest)


def _portion(request: SummaryInput, messages: Sequence[Message], max_tokens: int) -> SummaryInput:
    own = replace(request, previous=(), max_tokens=max_tokens)
    return replace(own, turn_prefix=tuple(messages)) if request.turn_prefix else replace(own, messages=tuple(messages))


def text_of_portions(texts: Sequence[str]) -> str:
    """The text of a request's summary, from the texts of its portions."""
    return LATER.join(texts)
