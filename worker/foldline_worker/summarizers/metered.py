"""A summarizer that is counted: how long summaries take, what they use, and how many cannot be had."""

from __future__ import annotations

from time import perf_counter

from foldline.engine.summaries.prompt import SummaryDraft, SummaryInput
from foldline.telemetry.metrics import Metrics
from foldline_worker.cancellation import Cancellation
from foldline_worker.summarizers.summarizers import Summarizer, SummarizerUnavailable

NO_MODEL = "none"


class Metered:
    """Another summarizer, under the names that figures have it by."""

    def __init__(self, summarizer: Summarizer, metrics: Metrics, *, provider: str, model: str | None) -> None:
        self._summarizer = summarizer
        self._metrics = metrics
        self._names = (provider, model or NO_MODEL)
        metrics.expect_summarizer(*self._names)

    def summarize(self, request: SummaryInput, cancellation: Cancellation) -> SummaryDraft:
        """See `Summarizer`."""
        started = perf_counter()
        try:
            draft = self._summarizer.summarize(request, cancellation)
        except SummarizerUnavailable:
            self._metrics.not_summarized(*self._names)
            raise
        self._metrics.summarized(*self._names, perf_counter() - started, draft.usage)
        return draft

    def close(self) -> None:
        """See `Summarizer`."""
        self._summarizer.close()
