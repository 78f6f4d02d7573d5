"""Long inputs in chunks: each is summarized in a call of its own, and the texts are merged, until one is left.

Messages are cut into chunks between messages, before a turn where that is near. An earlier summary is never cut to
make room: it is merged as one of the texts, or read in chunks of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from foldline.engine.messages import Message
from foldline.engine.planning.chunks import chunked
from foldline.engine.summaries.prompt import (
    SMALLEST_INPUT_TOKENS,
    SMALLEST_PIECE,
    SummaryInput,
    frame_texts,
    frame_tokens,
    message_tokens,
    said_tokens,
)
from foldline.engine.summaries.styles import STYLES
from foldline.engine.summaries.transcript import serialize
from foldline.engine.tokens.counter import count_text
from foldline.engine.tokens.estimates import ESTIMATES, EXACT

# A chunk ends before a turn if it is filled to this share by then.
TURN_SHARE: Final = 0.6
# Each earlier summary stands in a frame of about so many tokens.
FRAME_TOKENS: Final = 24


def call_size(request: SummaryInput, input_tokens: int) -> int:
    """The most tokens of a prompt that the request allows of `input_tokens`, but never too few to say anything.

    A limit by another counter is converted in proportion to what the request says.
    """
    most = request.call_tokens
    if most is None:
        return input_tokens
    if request.call_counter != EXACT:
        most = _in_exact(request, most, ESTIMATES[request.call_counter].text, input_tokens)
    return max(SMALLEST_INPUT_TOKENS, min(input_tokens, most))


def _in_exact(request: SummaryInput, tokens: int, estimated: Callable[[str], int], input_tokens: int) -> int:
    style = STYLES[request.style]
    said = [*request.previous, *(serialize([message], style) for message in request.said)]
    frame = sum(map(estimated, frame_texts(request, input_tokens)))
    exact, seen = sum(map(count_text, said)), sum(map(estimated, said))
    return frame_tokens(request, input_tokens) + max(0, tokens - frame) * exact // max(1, seen)


def fits(request: SummaryInput, input_tokens: int) -> bool:
    """Whether one prompt of at most `input_tokens` has room for all of the request."""
    earlier = sum(count_text(text) + FRAME_TOKENS for text in request.previous)
    return said_tokens(request) + earlier <= _room(request, input_tokens)


def first_chunks(request: SummaryInput, input_tokens: int) -> list[SummaryInput]:
    """What to summarize first for a request that exceeds `input_tokens`: all of it, in order."""
    room = _room(request, input_tokens)
    earlier = [
        _only(request, previous=(piece,)) for text in request.previous for piece in _pieces(text, room - FRAME_TOKENS)
    ]
    said = request.said
    groups = _groups(_sizes(request, said), said, room)
    return [*earlier, *(_of_messages(request, said[group]) for group in groups)]


def merges(request: SummaryInput, texts: Sequence[str], input_tokens: int) -> list[SummaryInput]:
    """What to summarize next: the texts of chunks in groups that one call reads, in order."""
    room = _room(request, input_tokens)
    pieces = [piece for text in texts for piece in _pieces(text, room - FRAME_TOKENS)]
    groups = chunked([count_text(piece) + FRAME_TOKENS for piece in pieces], room)
    return [_only(request, previous=tuple(pieces[place] for place in group)) for group in groups]


def is_one_text(chunk: SummaryInput) -> bool:
    """Whether a chunk is one earlier summary and nothing else."""
    return len(chunk.previous) == 1 and not chunk.said


def halves(chunk: SummaryInput) -> tuple[SummaryInput, SummaryInput] | None:
    """A chunk as two, in order; None if it is one message or text that cannot be divided."""
    said, texts = chunk.said, chunk.previous
    if len(said) > 1 or (said and texts):
        middle = 0 if texts else _before_batch(said, 0, _middle(_sizes(chunk, said)))
        first = _only(chunk, previous=texts) if texts else _of_messages(chunk, said[:middle])
        return first, _of_messages(chunk, said[middle:])
    if is_one_text(chunk) and len(texts[0]) > 1:
        texts = _two(texts[0])
    if len(texts) > 1:
        middle = _middle([count_text(text) for text in texts])
        return _only(chunk, previous=texts[:middle]), _only(chunk, previous=texts[middle:])
    return None


def _room(request: SummaryInput, input_tokens: int) -> int:
    return max(input_tokens - frame_tokens(request, input_tokens), SMALLEST_PIECE)


def _sizes(request: SummaryInput, messages: Sequence[Message]) -> list[int]:
    return [message_tokens(message, request.style) for message in messages]


def _middle(sizes: Sequence[int]) -> int:
    """Where to divide, so that both halves have something and about the same."""
    whole, before = sum(sizes), 0
    for place, size in enumerate(sizes[:-1], 1):
        before += size
        if before * 2 >= whole:
            return place
    return len(sizes) - 1


def _pieces(text: str, room: int) -> Iterator[str]:
    """A text in pieces of at most `room` tokens."""
    if count_text(text) <= room:
        yield text
    else:
        for half in _two(text):
            yield from _pieces(half, room)


def _two(text: str) -> tuple[str, str]:
    """A text in two, cut between lines if it has any."""
    lines = text.splitlines(keepends=True)
    at = sum(map(len, lines[: _middle(list(map(len, lines)))])) if len(lines) > 1 else len(text) // 2
    return text[:at], text[at:]


def _before_batch(said: Sequence[Message], start: int, end: int) -> int:
    """Where to cut at or before `end`: calls stay with their results, unless these do not fit in one chunk."""
    cut = end
    while start < cut < len(said) and said[cut].role == "tool":
        cut -= 1
    return cut if cut > start else end


def _groups(sizes: Sequence[int], said: Sequence[Message], room: int) -> Iterator[slice]:
    """Messages in groups of at most `room` tokens; each ends before a turn if it is filled well by then."""
    start = 0
    while start < len(sizes):
        end, filled, turn = start, 0, None
        while end < len(sizes) and (end == start or filled + sizes[end] <= room):
            if said[end].role == "user" and filled >= TURN_SHARE * room:
                turn = end
            filled += sizes[end]
            end += 1
        end = turn if turn and end < len(sizes) else _before_batch(said, start, end)
        yield slice(start, end)
        start = end


def _of_messages(request: SummaryInput, messages: Sequence[Message]) -> SummaryInput:
    own = _only(request)
    return replace(own, turn_prefix=tuple(messages)) if request.turn_prefix else replace(own, messages=tuple(messages))


def _only(request: SummaryInput, previous: tuple[str, ...] = ()) -> SummaryInput:
    """The request with nothing to summarize but these texts; its items are found anew."""
    return replace(request, previous=previous, stories=(), messages=(), turn_prefix=(), ledger=None, turn_ledger=None)
