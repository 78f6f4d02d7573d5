"""The interface of summarizers, which the worker's tasks call."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Protocol

from foldline.engine.summaries.prompt import SummaryDraft, SummaryInput
from foldline_worker.cancellation import Cancellation


class SummarizerUnavailable(Exception):
    """No summary could be written; `reason` quotes neither prompt nor key. `retry_after_seconds` may be known.

    `is_refusal`: it refused this request, and may write the next one.
    """

    def __init__(self, reason: str, retry_after_seconds: float | None = None, *, is_refusal: bool = False) -> None:
        super().__init__(f"the summarizer gave no answer: {reason}")
        self.reason = reason
        self.retry_after_seconds = retry_after_seconds
        self.is_refusal = is_refusal


class SummarizerHeldBack(SummarizerUnavailable):
    """The summarizer `name` failed too often, and is not called for so many `seconds`."""

    def __init__(self, name: str, seconds: float) -> None:
        super().__init__("it failed too often to be called now", seconds)
        self.name = name
        self.seconds = seconds


class ProviderDeclined(Exception):
    """A model's own provider wrote no summary; `reason` quotes neither conversation nor key.

    `usage` is what its call took all the same.
    """

    def __init__(self, provider: str, reason: str, usage: Mapping[str, int] = MappingProxyType({})) -> None:
        super().__init__(f"{provider} wrote no summary: {reason}")
        self.usage = usage


class ChunkTexts(Protocol):
    """Keeps what is written of a long input's chunks, so that another try does not write it again."""

    def find(self, key: str) -> str | None:
        """The text that was kept for a chunk; None if there is none."""

    def keep(self, key: str, text: str) -> None:
        """Keep the text of a chunk."""


class NoChunkTexts:
    """Keeps nothing."""

    def find(self, _key: str) -> None:
        """See `ChunkTexts`."""

    def keep(self, _key: str, _text: str) -> None:
        """See `ChunkTexts`."""


NOTHING_KEPT: Final = NoChunkTexts()


class Summarizer(Protocol):
    """Writes one summary."""

    def summarize(
        self, request: SummaryInput, cancellation: Cancellation, kept: ChunkTexts = NOTHING_KEPT
    ) -> SummaryDraft:
        """A draft of a summary that may be published, of at most `request.max_tokens`.

        Raises:
            Cancelled: the summary was cancelled.
            SummarizerUnavailable: no summary can be written now; a later try may succeed.
            ProviderDeclined: the request was for the model's own provider, which wrote none.
        """

    def close(self) -> None:
        """Close connections and threads. Called once, by the owner of the worker."""
