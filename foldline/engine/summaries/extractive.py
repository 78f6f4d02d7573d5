"""The extractive summarizer: the ledger of a conversation, chosen and written for a budget; no LLM, deterministic."""

from __future__ import annotations

from typing import NamedTuple

from foldline.engine.ledger.provenance import Provenance, together
from foldline.engine.summaries.composed import with_earlier_stories
from foldline.engine.summaries.prompt import SummaryInput, divided, joined


class Extract(NamedTuple):
    """A summary without an LLM: its text, and what it was made of."""

    text: str
    provenance: Provenance


def summarize(request: SummaryInput) -> str:
    """The summary of a request within its `max_tokens`: lines of its ledger, under its headings."""
    return extracted(request).text


def extracted(request: SummaryInput) -> Extract:
    """The summary of a request, as `summarize` writes it, with its provenance."""
    pieces = divided(request)
    written = [with_earlier_stories(piece) for piece in pieces]
    text = joined(pieces, [piece.text for piece in written])
    return Extract(text, together(piece.provenance for piece in written))


def extract(piece: SummaryInput) -> str:
    """The text for one of the pieces that `prompt.divided` makes of a request, within the piece's `max_tokens`."""
    return with_earlier_stories(piece).text
