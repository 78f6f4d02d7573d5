"""The extractive summarizer itself: gather candidates, recall earlier summaries, select."""

from __future__ import annotations

from typing import Final

from foldline.engine.summaries.extractive.candidates import conclude
from foldline.engine.summaries.extractive.collect import gather
from foldline.engine.summaries.extractive.leftovers import leftovers
from foldline.engine.summaries.extractive.lines import cut_to_tokens
from foldline.engine.summaries.extractive.previous import recall
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
    gathering = gather(piece.said, knows_the_task=bool(piece.previous), goes_on=bool(piece.turn_prefix))
    items = recall(piece.previous, gathering.activity, is_continued=bool(gathering.turns))
    items += conclude(gathering, piece.max_tokens)
    missing_chars = piece.max_tokens * CHARS_PER_TOKEN - sum(min(len(item.text), LINE_CHARS[1]) for item in items)
    if missing_chars > 0:
        items += leftovers(piece.said, missing_chars)
    best = max(items, key=lambda item: item.worth, default=None)
    text = select(items, piece.max_tokens, places(piece.headings))
    return text or cut_to_tokens(best.text if best else NOTHING, piece.max_tokens)
