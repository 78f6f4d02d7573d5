"""The interface of summarizers, which the worker's tasks call."""

from __future__ import annotations

from typing import Protocol

from foldline.engine.summaries.prompt import SummaryDraft, SummaryInput
from foldline_worker.cancellation import Cancellation


class SummarizerUnavailable(Exception):
    """No summary could be written; `reason` quotes neither prompt nor key. `retry_after_seconds` may be known."""

    def __init__(self, reason: str, retry_after_seconds: float | None = None) -> None:
        super().__init__(f"the summarizer gave no answer: {reason}")
        self.reason = reason
        self.retry_after_seconds = retry_after_seconds


class ProviderDeclined(Exception):
    """A model's own provider wrote no summary; `reason` quotes neither conversation nor key."""

    def __init__(self, provider: str, reason: str) -> None:
        super().__init__(f"{provider} wrote no summary: {reason}")


class Summarizer(Protocol):
    """Writes one summary."""

    def summarize(self, request: SummaryInput, cancellation: Cancellation) -> SummaryDraft:
        """A draft of a summary that may be published, of at most `request.max_tokens`.

        Raises:
            Cancelled: the summary was cancelled.
            SummarizerUnavailable: no summary can be written now; a later try may succeed.
            ProviderDeclined: the request was for the model's own provider, which wrote none.
        """

    def close(self) -> None:
        """Close connections and threads. Called once, by the owner of the worker."""
