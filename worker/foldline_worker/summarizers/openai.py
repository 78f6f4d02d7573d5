"""The summarizer that calls a model at an OpenAI-compatible endpoint. HTTP is in `chat`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from foldline.engine.summaries import extractive
from foldline.engine.summaries.portions import portions, text_of_portions
from foldline.engine.summaries.prompt import (
    SMALLEST_INPUT_TOKENS,
    SummaryDraft,
    SummaryInput,
    answer_text,
    divided,
    joined,
    prompt,
    refusal,
)
from foldline.settings import Settings
from foldline.telemetry.tracing import Tracing
from foldline_worker.cancellation import Cancellation
from foldline_worker.summarizers.chat import ChatAnswer, ChatClient
from foldline_worker.summarizers.contract import SummarizerUnavailable
from foldline_worker.summarizers.endpoint import EndpointUnavailable, InputTooLong
from foldline_worker.summarizers.extractive import EXTRACTIVE
from foldline_worker.summarizers.masking import masked
from foldline_worker.summarizers.retries import Retries

OPENAI: Final = "openai"


class OpenAI:
    """Calls a model with masked input.

    An answer that may not be published is requested once more, and then replaced by an extractive summary.
    """

    def __init__(self, client: ChatClient, *, input_tokens: int, retries: Retries | None = None) -> None:
        self._client = client
        self._input_tokens = input_tokens
        self._retries = retries or Retries()

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def summarize(self, request: SummaryInput, cancellation: Cancellation) -> SummaryDraft:
        """See `Summarizer`."""
        pieces = divided(replace(request, max_tokens=request.story_tokens))
        try:
            drafts = [self._of_piece(piece, cancellation) for piece in pieces]
        except EndpointUnavailable as error:
            raise SummarizerUnavailable(error.reason, error.retry_after_seconds) from error
        return _merged(drafts, joined(pieces, [draft.text for draft in drafts]))

    def _of_piece(self, piece: SummaryInput, cancellation: Cancellation) -> SummaryDraft:
        # One after the other: many local servers refuse concurrent requests.
        drafts = [
            _Call(self._client, self._retries, portion, cancellation).draft(self._input_tokens)
            for portion in portions(piece, self._input_tokens)
        ]
        return _merged(drafts, text_of_portions([draft.text for draft in drafts]))


def _merged(drafts: Sequence[SummaryDraft], text: str) -> SummaryDraft:
    """The drafts as one with this text; degraded if one of them is, with the summarizer of that one."""
    usage: Counter[str] = Counter()
    for draft in drafts:
        usage.update(draft.usage)
    worst = max(drafts, key=lambda draft: draft.degraded)
    return replace(worst, text=text, usage=dict(usage))


class _Call:
    """What is read in one call, with the tokens used so far over all its attempts."""

    def __init__(self, client: ChatClient, retries: Retries, request: SummaryInput, cancellation: Cancellation) -> None:
        self._client = client
        self._retries = retries
        self._request = request
        # Masked before the input is cut to fit, because half a secret would not be found.
        self._sent = masked(request)
        self._cancellation = cancellation
        self._usage: Counter[str] = Counter()
        self._model = client.model

    def draft(self, input_tokens: int) -> SummaryDraft:
        """The draft from at most `input_tokens`, or from half of them if the model's window is too small."""
        halved = max(SMALLEST_INPUT_TOKENS, input_tokens // 2)
        for tokens in (input_tokens, halved):
            try:
                return self._published(tokens) or self._degraded()
            except InputTooLong:
                continue
        return self._degraded()

    def _published(self, input_tokens: int) -> SummaryDraft | None:
        refused: str | None = None
        for _ in range(2):
            answer = self._call(prompt(self._sent, input_tokens, refused))
            text = answer_text(answer.content)
            refused = refusal(
                text,
                answer.finish_reason,
                has_tool_calls=answer.has_tool_calls,
                max_tokens=self._request.max_tokens,
            )
            if refused is None:
                return SummaryDraft(text, degraded=False, summarizer=OPENAI, model=self._model, usage=dict(self._usage))
        return None

    def _degraded(self) -> SummaryDraft:
        text = extractive.extract(self._request)
        return SummaryDraft(text, degraded=True, summarizer=EXTRACTIVE, model=self._model, usage=dict(self._usage))

    def _call(self, messages: list[dict[str, str]]) -> ChatAnswer:
        calls = self._retries.calls(self._cancellation)
        answer = calls(self._client.complete, messages, self._request.max_tokens, self._cancellation)
        self._usage.update(answer.usage)
        self._model = answer.model or self._model
        return answer


def create(settings: Settings, tracing: Tracing | None = None) -> OpenAI:
    """The summarizer for the endpoint in the settings."""
    client = ChatClient(
        base_url=settings.summarizer_base_url or "",
        api_key=settings.summarizer_api_key,
        model=settings.summarizer_model or "",
        timeout_seconds=settings.summarizer_timeout_seconds,
        tracing=tracing,
    )
    return OpenAI(client, input_tokens=settings.summarizer_input_tokens)
