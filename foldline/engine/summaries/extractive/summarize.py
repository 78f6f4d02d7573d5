"""The extractive summarizer itself: collect candidates, earlier_items earlier summaries, select."""

from __future__ import annotations

from typing import Final

from foldline.engine.summaries.extractive.candidates import candidates_of
from foldline.engine.summaries.extractive.collect import collect
from foldline.engine.summaries.extractive.lines import cut_to_tokens
from foldline.engine.summaries.extractive.other_lines import other_lines
from foldline.engine.summaries.extractive.previous import earlier_items
from foldline.engine.summaries.extractive.section_lines import places
from foldline.engine.summaries.extractive.selection import LINE_CHARS, select
from foldline.engine.summaries.prompt import SummaryInput, divided, joined

NOTHING: Final = "(nothing was said)"
# Characters of candidates to have at hand for each token of the budget.
CHARS_PER_TOKEN: Final = 8


def summarize(request: SummaryInput) -> str:
    """What was asked, demanded, decided, done and left open, in lines of the originals, within `request.max_tokens`."""
    pieces = divided(request)
    return joined(pieces, [extract(piece) for piece in pieces])


def extract(piece: SummaryInput) -> str:
    """The text for one of the pieces into which a request is divided, within its `max_tokens`."""
    collected = collect(piece.said, knows_the_task=bool(piece.previous), goes_on=bool(piece.turn_prefix))
    items = earlier_items(piece.previous, collected.activity, is_continued=bool(collected.turns))
    items += candidates_of(collected, piece.max_tokens)
    missing_chars = piece.max_tokens * CHARS_PER_TOKEN - sum(min(len(item.text), LINE_CHARS[1]) for item in items)
    if missing_chars > 0:
        items += other_lines(piece.said, missing_chars)
    best = max(items, key=lambda item: item.worth, default=None)
    text = select(items, piece.max_tokens, places(piece.headings))
    return text or cut_to_tokens(best.text if best else NOTHING, piece.max_tokens)
