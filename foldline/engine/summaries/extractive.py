"""The extractive summarizer: the ledger of a conversation, chosen and written for a budget; no LLM, deterministic."""

from __future__ import annotations

from foldline.engine.ledger.render import summary_of
from foldline.engine.summaries.prompt import SummaryInput, divided, joined


def summarize(request: SummaryInput) -> str:
    """The summary of a request within its `max_tokens`: lines of its ledger, under its headings."""
    pieces = divided(request)
    return joined(pieces, [extract(piece) for piece in pieces])


def extract(piece: SummaryInput) -> str:
    """The text for one of the pieces that `prompt.divided` makes of a request, within the piece's `max_tokens`."""
    return summary_of(piece.items, piece.max_tokens, piece.headings)[0]
