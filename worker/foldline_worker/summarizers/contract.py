"""What a summarizer is: the port that the worker's tasks call."""

from __future__ import annotations

from typing import Protocol

from foldline.engine.summaries.prompt import SummaryDraft, SummaryInput
from foldline_worker.cancellation import Cancellation


class SummarizerUnavailable(Exception):
    """No summary could be had; `reason` quotes neither prompt nor key; `retry_after_seconds` is when to ask again."""

    def __init__(self, reason: str, retry_after_seconds: float | None = None) -> None:
        super().__init__(f"the summarizer gave no answer: {reason}")
        self.reason = reason
        self.retry_after_seconds = retry_after_seconds


class Summarizer(Protocol):
    """Writes one summary."""

    def summarize(self, request: SummaryInput, cancellation: Cancellation) -> SummaryDraft:
        """A draft that may be published.

        Raises:
            Cancelled: nobody wants it any more.
            SummarizerUnavailable: there is no summary now; trying later may help.
        """

    def close(self) -> None:
        """Ends what it holds open. Called once, by the owner of the worker."""
