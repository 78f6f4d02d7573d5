"""The extractive summarizer: no network, no LLM."""

from __future__ import annotations

from foldline.engine.policies.policy import EXTRACTIVE
from foldline.engine.summaries import extractive
from foldline.engine.summaries.prompt import SummaryDraft, SummaryInput
from foldline_worker.cancellation import Cancellation
from foldline_worker.summarizers.contract import NOTHING_KEPT, ChunkTexts


class Extractive:
    """Writes a summary of lines of the conversation; never fails."""

    def summarize(
        self, request: SummaryInput, cancellation: Cancellation, _kept: ChunkTexts = NOTHING_KEPT
    ) -> SummaryDraft:
        """See `Summarizer`."""
        cancellation.check()
        text, provenance = extractive.extracted(request)
        return SummaryDraft(text, degraded=False, summarizer=EXTRACTIVE, provenance=provenance)

    def close(self) -> None:
        """See `Summarizer`; there is nothing to close."""


def create() -> Extractive:
    """The extractive summarizer, which has no settings."""
    return Extractive()
